"""The helper that gives what numpy_input_fn gives, as a dataset."""

from __future__ import annotations

from converter.syntax.script import Script

HELPER = "numpy_dataset_fn"

# Batches are gathered when they are asked for: arrays do not become a part of the graph. They reach over the end of an
# epoch as those of numpy_input_fn do (tensorflow_estimator/python/estimator/inputs/numpy_io.py, 1.15).
_TEXT = '''\
def numpy_dataset_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1):
    """numpy_input_fn as a dataset, from which a distribution strategy gives each GPU batches of its own."""
    columns = [x[name] for name in sorted(x)] if isinstance(x, dict) else [x]
    columns += [] if y is None else [y[name] for name in sorted(y)] if isinstance(y, dict) else [y]
    rows = len(columns[0])

    def gathered(indices):
        tensors = tf.py_func(lambda i: [column[i] for column in columns], [indices], [c.dtype for c in columns])
        for tensor, column in zip(tensors, columns):
            tensor.set_shape((None,) + column.shape[1:])
        features = dict(zip(sorted(x), tensors)) if isinstance(x, dict) else tensors[0]
        labels = tensors[len(x) if isinstance(x, dict) else 1:]
        if y is None:
            return features
        return features, dict(zip(sorted(y), labels)) if isinstance(y, dict) else labels[0]

    def input_fn():
        indices = tf.data.Dataset.range(rows)
        if shuffle:
            indices = indices.shuffle(rows)
        return indices.repeat(num_epochs).batch(batch_size).map(gathered).prefetch(1)

    return input_fn
'''


def helper_lines(script: Script) -> list[str]:
    """The helper's lines, with the blank lines around a function at top level."""
    text = _TEXT.replace("tf.", (script.names.tensorflow() or "tf") + ".").replace("    ", script.unit)
    return [*text.splitlines(), "", ""]
