"""Batches for the examples of the rules' pages, which leave to the reader where these come from."""

import numpy as np
import tensorflow as tf


def _rows(tensor, first, count):
    shape = [5 if size is None else size for size in tensor.get_shape().as_list()[1:]]
    drawn = np.random.RandomState(len(tensor.name))
    rows = drawn.rand(512, *shape) if tensor.dtype.is_floating else drawn.randint(2, size=[512] + shape)
    return rows[np.arange(first, first + count) % 512].astype(tensor.dtype.as_numpy_dtype)


class Given(object):
    """Rows for each placeholder that takes a batch, one batch behind the other."""

    first = 0

    def next_batch(self, count):
        made = [one.outputs[0] for one in tf.get_default_graph().get_operations() if one.type == 'Placeholder']
        found = [_rows(one, self.first, count) for one in made if one.get_shape().ndims]
        self.first += count
        return found[0] if len(found) == 1 else found


next_batch = Given().next_batch
