"""Notebooks for tests: their JSON from the texts of their cells."""

from __future__ import annotations

import json
from collections.abc import Sequence

PYTHON = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
SCRIPT = """\
import numpy as np
import tensorflow as tf
batch_size = 32
---
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.int64, [None])
---
logits = tf.layers.dense(x, 3)
---
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
---
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
---
images, labels = np.ones([640, 4]), np.zeros([640])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 640, batch_size):
        sess.run(train_op, {x: images[begin:begin + batch_size], y: labels[begin:begin + batch_size]})"""
TRAINING = SCRIPT.split("\n---\n")


def book(cells: Sequence[str | tuple[str, str]], metadata: object = None, **style: object) -> str:
    """A notebook of code cells, and of others as (kind, text), as Jupyter writes it."""
    made: list[dict[str, object]] = []
    for number, given in enumerate(cells, 1):
        kind, source = ("code", given) if isinstance(given, str) else given
        cell: dict[str, object] = {"cell_type": kind, "id": f"id-{number}", "metadata": {"tags": [str(number)]}}
        if kind == "code":
            output = {"name": "stdout", "output_type": "stream", "text": [f"cell {number}: ü\n"]}
            cell |= {"execution_count": number, "outputs": [output]}
        made.append(cell | {"source": source.splitlines(keepends=True)})
    whole = {"cells": made, "metadata": PYTHON if metadata is None else metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, **{"indent": 1, "ensure_ascii": False} | style) + "\n"  # type: ignore[arg-type]


def sources(text: str) -> list[str]:
    """The text of each cell of a notebook."""
    return ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
