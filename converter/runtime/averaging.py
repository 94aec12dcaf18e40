"""Moving averages of what the towers compute."""

import contextlib

import tensorflow as tf


class TowerAverages(object):
    """Lets only tower 0 make and update moving averages (tf.train.ExponentialMovingAverage); the others read them.

    An average is named after its tensor, so tower 0's tensors get the names that they have on one GPU.
    """

    def __init__(self):
        self.graph = tf.get_default_graph()
        self.prefix = self.scope()
        self.inner = ''  # the name scope in which tower 0 is built
        self.named = []  # tower 0's tensors, each with the same one under its plain name
        self.applied = []  # in order: values, their averages, the operation that updates these

    def scope(self):
        name = self.graph.get_name_scope()
        return name + '/' if name else ''

    def plain(self, value):
        for tensor, named in self.named:
            if tensor is value:
                return named
        if not isinstance(value, tf.Tensor) or not value.op.name.startswith(self.inner):
            return value
        with tf.name_scope(None):
            plain = self.prefix + value.op.name[len(self.inner) :]
            self.named.append((value, tf.identity(value, name=plain)))
        return self.named[-1][1]

    @contextlib.contextmanager
    def tower(self, gpu):
        kind = tf.train.ExponentialMovingAverage
        apply, average = kind.apply, kind.average
        applied, known = list(self.applied), []
        self.inner = self.inner or self.scope()

        def first_apply(averages, var_list=None):
            values = [self.plain(value) for value in (tf.trainable_variables() if var_list is None else var_list)]
            update = apply(averages, values)
            self.applied.append((values, [average(averages, value) for value in values], update))
            return update

        def first_average(averages, var):
            return average(averages, next((named for tensor, named in self.named if tensor is var), var))

        def later_apply(averages, var_list=None):
            values, found, update = applied.pop(0)
            known.extend((averages, value, made) for value, made in zip(var_list or values, found))
            return update if update.graph is tf.get_default_graph() else tf.no_op()

        def later_average(averages, var):
            return next((made for owner, value, made in known if owner is averages and value is var), None)

        kind.apply, kind.average = (later_apply, later_average) if gpu else (first_apply, first_average)
        try:
            yield
        finally:
            kind.apply, kind.average = apply, average
