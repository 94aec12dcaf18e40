"""What a script that the package `keras` trains gets: copies of its model on several GPUs that train its weights."""


def train_on_copies(model, gpus):
    """Lets a model of the package keras train on several GPUs, by copies of it that use its weights.

    The model is compiled as well as its copies: it predicts, is evaluated and saved as before, also by callbacks.
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

    def compile_both(optimizer, *args, **settings):
        type(model).compile(model, optimizer, *args, **settings)
        copies.compile(model.optimizer, *args, **settings)

    def fit_by(method):
        def fit(*args, **settings):
            model.history = method(*args, **settings)
            return model.history

        return fit

    model.compile = compile_both
    model.fit = fit_by(copies.fit)
    model.fit_generator = fit_by(copies.fit_generator)
    model.train_on_batch = copies.train_on_batch
