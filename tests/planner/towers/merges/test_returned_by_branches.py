"""Dicts and objects that a function returns: each of its returns may leave other values in them, or none."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, converted

FLAGS = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--wide', type=int, default=0)\n"
FLAGS += "args = parser.parse_args()\n"
PICK = """
class Parts(object):
    def __init__(self, **values):
        self.__dict__.update(values)


def pick(x, y, wide):
    h = tf.layers.dense(x, 3)
    out = tf.layers.dense(h, 1)
    if wide == 1:
        {one}
    elif wide == 2:
        {two}
    {three}


loss, found = pick(X, Y, args.wide)
"""
LOSS = "tf.reduce_mean(tf.square(out - y))"
NORM = "tf.reduce_mean(tf.abs(h))"
DICT = f"return {LOSS}, {{'norm': {NORM}}}"
FILLED = f"found = {{}}\n        found['norm'] = {NORM}\n        return {LOSS}, found"
OBJECT = f"return {LOSS}, Parts(norm={NORM})"
ATTRIBUTE = f"found = Parts()\n        found.norm = {NORM}\n        return {LOSS}, found"
READ = "if args.wide:\n    tf.summary.scalar('norm', {})\n"


def loop(one: str, two: str, three: str, read: str) -> str:
    script = (
        FLAGS
        + INPUTS
        + PICK.format(one=one, two=two, three=three.replace("LOSS", LOSS))
        + STEP
        + READ.format(read)
        + TRAINING
    )
    return converted(script)


@pytest.mark.parametrize(
    ("made", "last", "read", "guard"),
    [
        (DICT, "return LOSS, {}", "found['norm']", "'norm' in found"),
        (DICT, "return LOSS, None", "found['norm']", "'norm' in (found or ())"),
        (DICT, "return LOSS, {'other': tf.reduce_mean(out)}", "found['norm']", "'norm' in found"),
        (FILLED, "return LOSS, {}", "found['norm']", "'norm' in found"),
        (OBJECT, "return LOSS, Parts()", "found.norm", "hasattr(found, 'norm')"),
        (ATTRIBUTE, "return LOSS, Parts()", "found.norm", "hasattr(found, 'norm')"),
    ],
)
def test_what_one_return_leaves_out_is_merged_where_it_is_there(made: str, last: str, read: str, guard: str) -> None:
    text = loop(made, made, last, read)
    assert f"        if {guard}:\n            tower_norm.append({read} * weight)\n" in text
    assert f"\nif tower_norm:\n    {read} = tf.add_n(tower_norm)\n" in text


@pytest.mark.parametrize(
    ("made", "read"), [(DICT, "found['norm']"), (FILLED, "found['norm']"), (OBJECT, "found.norm"),
                       (ATTRIBUTE, "found.norm")]
)  # fmt: skip
def test_what_all_returns_leave_is_merged_as_ever(made: str, read: str) -> None:
    text = loop(made, made, made.replace("\n        ", "\n    "), read)
    assert f"        tower_norm.append({read} * weight)\n" in text and "if tower_norm" not in text
    assert f"\n{read} = tf.add_n(tower_norm)\n" in text


def test_a_dict_that_a_branch_leaves_at_none() -> None:
    model = f"""
h = tf.layers.dense(X, 3)
found = None
if args.wide:
    found = {{'norm': {NORM.replace("h)", "tf.layers.dense(h, 2))")}}}
loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - Y))
"""
    text = converted(FLAGS + INPUTS + model + STEP + READ.format("found['norm']") + TRAINING)
    assert "        if 'norm' in (found or ()):\n            tower_norm.append(found['norm'] * weight)\n" in text


@pytest.mark.parametrize("taken", ["self.__dict__", "vars(self)"])
def test_an_object_that_keeps_all_names_of_a_function(taken: str) -> None:
    """Before, its attributes were not seen, and what was read after the loop was the last tower's."""
    net = f"""
class Net(object):
    def __init__(self, x):
        h = tf.layers.dense(x, 3)
        norm = {NORM}
        out = tf.layers.dense(h, 1)
        {taken}.update(locals())


net = Net(X)
loss = tf.reduce_mean(tf.square(net.out - Y))
"""
    script = INPUTS + net + STEP + "tf.summary.scalar('norm', net.norm)\n" + TRAINING
    assert "\nnet.norm = tf.add_n(tower_norm)\n" in converted(script)
