"""The library's names, and what is found of it below rules/calls."""

from __future__ import annotations

import pytest

from converter.analysis.library import attributes, contexts, handlers, member, naming, objects, symbol_of
from converter.analysis.values import Symbol


@pytest.mark.parametrize(
    ("root", "rest", "wanted"),
    [
        ("tensorflow", "", ("tf", "")),
        ("tensorflow", "compat.v1", ("tf", "")),
        ("tensorflow", "python.ops.nn.relu", ("tf", "nn.relu")),
        ("tensorflow", "python.ops.tensor_array_ops.TensorArray", ("tf", "TensorArray")),
        ("tensorflow", "python.ops.losses.losses.log_loss", ("tf", "losses.log_loss")),
        ("tensorflow", "contrib.seq2seq.python.ops.decoder.dynamic_decode", ("tf", "contrib.seq2seq.dynamic_decode")),
        ("tensorflow", "contrib.rnn.python.ops.lstm_ops.LSTMBlockCell", ("tf", "contrib.rnn.LSTMBlockCell")),
        ("tensorflow", "contrib.crf.python.ops.crf.crf_decode", ("tf", "contrib.crf.crf_decode")),
        ("tf_slim", "conv2d", ("tf", "contrib.slim.conv2d")),
        ("absl", "flags", ("tf", "app.flags")),
        ("absl", "logging", ("absl", "logging")),
        ("numpy", "zeros", ("numpy", "zeros")),
    ],
)
def test_what_an_import_stands_for(root: str, rest: str, wanted: tuple[str, str]) -> None:
    symbol = symbol_of(root, rest)
    assert (symbol.library, symbol.name) == wanted


@pytest.mark.parametrize(
    ("symbol", "name", "wanted"),
    [
        (Symbol("tf", "nn"), "relu", "nn.relu"),
        (Symbol("tf", ""), "math", "math"),  # tf.math.add is tf.add, but tf.math has a part of TensorFlow only
        (Symbol("tf", "math"), "add", "add"),
        (Symbol("numpy", "math"), "add", "math.add"),
    ],
)
def test_attributes_of_modules(symbol: Symbol, name: str, wanted: str) -> None:
    assert member(symbol, name).name == wanted


def test_python_is_found_beside_the_library() -> None:
    assert {"nn.relu", "builtins.len", "Sequence.append", "collections.namedtuple"} <= handlers().keys()
    assert contexts().keys() == {"NameScope", "VariableScope", "ArgScope", "ControlDependencies", "Session"}
    assert attributes().keys() >= {"shape", "name", "op"}
    assert objects().keys() >= {"app.flags.FLAGS", "estimator.ModeKeys.TRAIN"}
    assert naming().library == "tf"
