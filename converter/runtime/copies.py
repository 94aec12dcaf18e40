"""What a script that the package `keras` trains gets: copies of its model on several GPUs that train its weights."""


def copies_of(model, gpus):
    """Returns a model of the package keras that computes a part of each batch on each GPU, with the weights of `model`.

    It is compiled as `model` is, and shares its optimizer.
    """
    import tensorflow as tf
    from keras import backend, layers, models
    from keras.utils import generic_utils, multi_gpu_model

    def at_least_one(rows):
        shape = tf.shape(rows)
        return tf.concat([rows, tf.zeros(tf.concat([tf.maximum(1 - shape[:1], 0), shape[1:]], 0), rows.dtype)], 0)

    def only_rows(given):
        return given[0][: tf.shape(given[1])[0]]

    def mask_of_rows(given, masks):
        return None if masks[0] is None else masks[0][: tf.shape(given[1])[0]]

    # A copy whose part of a batch is empty gets a row all the same: batch normalisation has no statistics of none.
    parts = [layers.Input(batch_shape=backend.int_shape(x), dtype=backend.dtype(x)) for x in model.inputs]
    outputs = generic_utils.to_list(model([layers.Lambda(at_least_one)(part) for part in parts]))
    outputs = [
        layers.Lambda(only_rows, mask=mask_of_rows, name=name)([output, parts[0]])
        for name, output in zip(model.output_names, outputs)
    ]
    template = models.Model(parts, outputs)
    copies = multi_gpu_model(template, gpus=gpus)
    # Averages of batch normalisation follow the last copy, whose part of a batch is never empty.
    for node in template._inbound_nodes[-gpus:-1]:
        template._per_input_updates.pop(generic_utils.object_list_uid(node.input_tensors), None)
    copies.callback_model = model
    new = hasattr(model, '_compile_metrics')  # keras 2.3
    copies.compile(
        model.optimizer,
        model.loss,
        metrics=model._compile_metrics if new else model.metrics,
        loss_weights=model.loss_weights,
        sample_weight_mode=model.sample_weight_mode,
        weighted_metrics=model._compile_weighted_metrics if new else model.weighted_metrics,
        **model._function_kwargs
    )
    copies._collected_trainable_weights = model._collected_trainable_weights  # those of compile()
    if len(set(copies.updates)) != len(set(model.updates)):
        raise ValueError('the copies of %s would not update what it updates' % model.name)
    if model.train_function is not None:  # it was trained before, or read from a file with its optimizer
        state = model.optimizer.get_weights()
        copies._make_train_function()
        model.optimizer.set_weights(state)
    return copies


def train_on_copies(model, gpus):
    """Lets a model of the package keras train on several GPUs, by copies of it that use its weights.

    The copies are made where training begins, after each compile() anew. They are trained by fit(), fit_generator() and
    train_on_batch(); the model itself predicts, is evaluated and saved as before, also by callbacks.
    """
    last = {'compiled': None}

    def by_copies(method):
        def train(*args, **settings):
            if last['compiled'] is not model.total_loss:
                last['copies'], last['compiled'] = copies_of(model, gpus), model.total_loss
            result = getattr(last['copies'], method)(*args, **settings)
            model.history = getattr(last['copies'], 'history', None)
            return result

        return train

    if getattr(model, 'copied_to', None) != gpus:
        model.copied_to = gpus
        model.fit, model.fit_generator = by_copies('fit'), by_copies('fit_generator')
        model.train_on_batch = by_copies('train_on_batch')
