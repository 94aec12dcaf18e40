"""Whatever a script calls TensorFlow, its functions are known by one name."""

from __future__ import annotations

import ast

import pytest

from converter.analysis import read_facts
from converter.analysis.values import Host, Input, Symbol, Tensor, Typed, Value
from converter.options import Options
from rules.calls.names import canonical


def result(script: str) -> Value:
    tree = ast.parse(script.replace("; ", "\n"))
    return read_facts("script.py", tree, Options()).module.locals["result"]


@pytest.mark.parametrize(
    "script",
    [
        "import tensorflow as tf; result = tf.placeholder('float', [None])",
        "import tensorflow; result = tensorflow.placeholder('float', [None])",
        "import tensorflow as T; result = T.placeholder('float', [None])",
        "import os, tensorflow as tf; result = tf.placeholder('float', [None])",
        "import tensorflow.compat.v1 as tf; result = tf.placeholder('float', [None])",
        "import tensorflow as tf; result = tf.compat.v1.placeholder('float', [None])",
        "import tensorflow as tf; tf1 = tf.compat.v1; result = tf1.placeholder('float', [None])",
        "from tensorflow.compat import v1 as tf; result = tf.placeholder('float', [None])",
        "from tensorflow import compat; result = compat.v1.placeholder('float', [None])",
        "from tensorflow import placeholder; result = placeholder('float', [None])",
        "from tensorflow import placeholder as ph; result = ph('float', [None])",
        "from tensorflow import (float32, placeholder); result = placeholder(float32, [None])",
        "from tensorflow.compat.v1 import placeholder; result = placeholder('float', [None])",
        "from tensorflow.python.ops.array_ops import placeholder; result = placeholder('float', [None])",
        "from tensorflow.python.ops import array_ops; result = array_ops.placeholder('float', [None])",
        "import tensorflow as tf; make = tf.placeholder; result = make('float', [None])",
        "import tensorflow.python; import tensorflow as tf; result = tf.placeholder('float', [None])",
        "def f():\n import tensorflow as tf\n return tf.placeholder('float', [None])\nresult = f()",
        "try:\n import tensorflow.compat.v1 as tf\nexcept ImportError:\n import tensorflow as tf\n"
        "result = tf.placeholder('float', [None])",
    ],
)
def test_placeholder_is_known_as(script: str) -> None:
    value = result(script)
    assert isinstance(value, Input)
    assert (value.batch.kind, value.batch.axis) == ("example", 0)


@pytest.mark.parametrize(
    "script",
    [
        "import numpy as tf; result = tf.placeholder('float', [None])",
        "import tensorflow_probability as tf; result = tf.placeholder('float', [None])",
        "import tensorflowjs as tf; result = tf.placeholder('float', [None])",
        "import mylib.tensorflow as tf; result = tf.placeholder('float', [None])",
        "from mylib import tensorflow as tf; result = tf.placeholder('float', [None])",
        "from .tensorflow import placeholder; result = placeholder('float', [None])",
        "from . import tensorflow as tf; result = tf.placeholder('float', [None])",
        "import tensorflow as tf; tf = object(); result = tf.placeholder('float', [None])",
        "import tensorflow as tf\ndef f(tf):\n return tf.placeholder('float', [None])\nresult = f(3)",
        "from tensorflow import *; result = unknown('float', [None])",
        "placeholder = print; result = placeholder",
    ],
)
def test_placeholder_is_not_known_as(script: str) -> None:
    assert not isinstance(result(script), Input)


HEAD = "import tensorflow as tf; x = tf.placeholder('float', [None, 8]); "


@pytest.mark.parametrize(
    "script",
    [
        "slim = tf.contrib.slim; result = slim.fully_connected(x, 4)",
        "import tensorflow.contrib.slim as slim; result = slim.fully_connected(x, 4)",
        "from tensorflow.contrib import slim; result = slim.fully_connected(x, 4)",
        "from tensorflow.contrib import layers; result = layers.fully_connected(x, 4)",
        "from tensorflow.contrib.layers import fully_connected as dense; result = dense(x, 4)",
        "import tf_slim as slim; result = slim.fully_connected(x, 4)",
        "from tf_slim import fully_connected; result = fully_connected(x, 4)",
        "layers = tf.layers; result = layers.dense(x, 4)",
        "from tensorflow import layers; result = layers.dense(x, 4)",
        "from tensorflow.python.ops import nn; result = nn.relu(x)",
        "from tensorflow.python.ops import math_ops; result = math_ops.add(x, x)",
        "from tensorflow import nn; result = nn.relu(x)",
        "nn = tf.nn; result = nn.relu(x)",
        "result = tf.math.add(x, x)",
        "from tensorflow.python.framework import ops; result = ops.convert_to_tensor(x) + x",
        "from functools import partial; dense = partial(tf.layers.dense, units=4); result = dense(x)",
    ],
)
def test_layers_are_known_as(script: str) -> None:
    value = result(HEAD + script)
    assert isinstance(value, Tensor)
    assert (value.batch.kind, value.batch.axis) == ("example", 0)


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ("result = tf.train.AdamOptimizer(0.1)", "Optimizer"),
        ("result = tf.compat.v1.train.AdamOptimizer(0.1)", "Optimizer"),
        pytest.param(
            "from tensorflow.python.training.adam import AdamOptimizer as Adam; result = Adam(0.1)",
            "Optimizer",
        ),
        ("result = tf.Session()", "Session"),
        ("from tensorflow import Session; result = Session()", "Session"),
        ("from tensorflow.contrib import rnn; result = rnn.BasicLSTMCell(4)", "Cell"),
        ("from tensorflow.python.ops import rnn_cell; result = rnn_cell.BasicLSTMCell(4)", "Cell"),
        ("result = tf.contrib.rnn.BasicLSTMCell(4)", "Cell"),
        ("result = tf.nn.rnn_cell.BasicLSTMCell(4)", "Cell"),
        ("from absl import flags; result = flags.FLAGS", "Flags"),
        ("result = tf.app.flags.FLAGS", "Flags"),
        ("flags = tf.flags; result = flags.FLAGS", "Flags"),
        ("from tensorflow.python.platform import flags; result = flags.FLAGS", "Flags"),
        ("import argparse; result = argparse.ArgumentParser()", "ArgumentParser"),
        ("from argparse import ArgumentParser; result = ArgumentParser()", "ArgumentParser"),
    ],
)
def test_objects_are_known_as(script: str, kind: str) -> None:
    value = result(HEAD + script)
    assert isinstance(value, Typed) and value.kind == kind


@pytest.mark.parametrize(
    "script",
    ["import sys; result = sys.Session()", "result = Session()", "import tf_flags; result = tf_flags.FLAGS"],
)
def test_objects_are_not_known_as(script: str) -> None:
    assert isinstance(result(script), (Host, Symbol)) and not isinstance(result(script), Typed)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("nn.relu", "nn.relu"),
        ("compat.v1.nn.relu", "nn.relu"),
        ("compat.v1.compat.v1.add", "add"),
        ("compat.v1", ""),
        ("math.add", "add"),
        ("compat.v1.math.add", "add"),
        ("math", "math"),  # a part of TensorFlow only
        ("python.ops.rnn_cell.LSTMCell", "nn.rnn_cell.LSTMCell"),
        ("contrib.layers.python.layers.batch_norm", "contrib.layers.batch_norm"),
        ("contrib.layers.python.layers.layers.batch_norm", "contrib.layers.batch_norm"),
        ("contrib.layers.python.layers.layers", "contrib.layers"),
        ("contrib.slim.layers.fully_connected", "contrib.slim.fully_connected"),
        ("contrib.slim.layers", "contrib.slim"),
        ("contrib.slim.learning.train", "contrib.slim.learning.train"),
        ("contrib.rnn.python.ops.core_rnn.static_rnn", "contrib.rnn.static_rnn"),
        ("contrib.learn.python.learn.datasets.mnist.read_data_sets", "contrib.learn.datasets.mnist.read_data_sets"),
        ("flags.DEFINE_string", "app.flags.DEFINE_string"),
        ("app.flags.DEFINE_string", "app.flags.DEFINE_string"),
        ("random.normal", "random_normal"),
        ("random_normal", "random_normal"),
        ("mathematics.add", "mathematics.add"),
        ("", ""),
    ],
)
def test_canonical_names(name: str, known: str) -> None:
    assert canonical(name) == known


@pytest.mark.parametrize(
    ("script", "imports"),
    [
        ("import tensorflow as tf", {"tf": ""}),
        ("import tensorflow.compat.v1 as tf", {"tf": ""}),
        ("from tensorflow.contrib import slim", {"slim": "contrib.slim"}),
        ("from tensorflow import placeholder as ph", {"ph": "placeholder"}),
        ("import numpy as np", {}),
        ("def f():\n import tensorflow as tf", {}),
    ],
)
def test_names_of_tensorflow(script: str, imports: dict[str, str]) -> None:
    assert read_facts("script.py", ast.parse(script), Options()).imports.get("", {}) == imports
