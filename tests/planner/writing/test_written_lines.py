"""The lines that a maintainer reads: names that say what they are, and no more lines than it takes."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from converter.rewrite import helper_module_text
from converter.runtime.catalog import catalog
from tests.scripts import INPUTS, MODEL, SCRIPT, STEP, TRAINING, body, converted, merged, parts, run

BRANCHES = """\
if {test}:
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss)
else:
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
FLAGS = "import argparse\np = argparse.ArgumentParser()\n{}args = p.parse_args()\n"


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("x", "x_batch"),
        ("batch_x", "full_batch_x"),
        ("audio_batch", "full_audio_batch"),
        ("batch", "full_batch"),
        ("inputBatch", "full_inputBatch"),
    ],
)
def test_the_name_of_the_whole_batch(name: str, whole: str) -> None:
    text = converted(SCRIPT.replace("X", name))
    assert f"{whole}, Y_batch = {name}, Y\n" in text


@pytest.mark.parametrize(
    ("line", "count"),
    [("", "num_gpus"), ("num_gpus = 1\n", "tower_count"), ("num_gpus = tower_count = 1\n", "num_gpus_2")],
)
def test_the_name_of_the_number_of_towers(line: str, count: str) -> None:
    assert f"for gpu in range({count}):" in body(line + SCRIPT)


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ("", "--num_gpus"),
        ("p.add_argument('--batch_size', type=int, default=32)\n", "--num_gpus"),
        ("p.add_argument('--batch-size', type=int, default=32)\n", "--num-gpus"),
        ("p.add_argument('-b', '--batch-size', type=int, default=32)\n", "--num-gpus"),
        ("p.add_argument('--batch-size')\np.add_argument('--log_dir')\np.add_argument('--a_b')\n", "--num_gpus"),
    ],
)
def test_an_option_is_written_as_the_scripts_are(options: str, written: str) -> None:
    text = converted(FLAGS.format(options or "p.add_argument('--rate', type=float)\n") + SCRIPT)
    assert f"p.add_argument('{written}', type=int, default=num_gpus" in text


@pytest.mark.parametrize(
    ("step", "names"),
    [
        (BRANCHES.format(test="USE_ADAM"), ["optimizer", "optimizer"]),
        ("a = tf.train.AdamOptimizer(0.1).minimize(loss)\ntrain_op = tf.train.AdamOptimizer(0.2).minimize(loss)\n",
         ["optimizer", "optimizer_2"]),  # one after the other
        (BRANCHES.format(test="USE_ADAM").replace("else:", "if not USE_ADAM:"), ["optimizer", "optimizer_2"]),
    ],
    ids=["branches", "in a row", "two conditions"],
)  # fmt: skip
def test_optimizers_of_branches_have_one_name(step: str, names: list[str]) -> None:
    script = "import sys\n" + INPUTS + "USE_ADAM = len(sys.argv) > 1\n" + MODEL + step + TRAINING
    made = [line.split(" = ")[0].strip() for line in body(script) if " = tf.train." in line and "Optimizer(" in line]
    assert made == names


def inputs(number: int) -> str:
    """A script with so many inputs."""
    names = [f"in_{i}" for i in range(number)]
    made = "".join(f"{name} = tf.placeholder(tf.float32, [None, 1])\n" for name in names)
    total = " + ".join(names)
    return INPUTS + made + MODEL.replace("- Y", f"- Y + {total}") + STEP + TRAINING


@pytest.mark.parametrize(("number", "listed"), [(1, False), (2, True), (5, True)])
def test_many_inputs_are_kept_in_a_list(number: int, listed: bool) -> None:
    before, loop, after = parts(inputs(number))
    names = ", ".join(["X", "Y", *(f"in_{i}" for i in range(number))])
    assert (f"inputs = [{names}]" in before) is listed
    assert (f"({names}), rows, weight = shard(inputs, gpu)" in loop) is listed
    assert (f"{names} = inputs" in after) is listed


@pytest.mark.parametrize(("number", "width"), [(8, 60), (20, 79), (33, 100)])
def test_more_inputs_than_a_line_holds_are_packed_and_unpacked_in_few_lines(number: int, width: int) -> None:
    """No line holds a single name only; each name gets its own part, in the towers and behind them."""
    names = ["X", "Y", *(f"in_{i}" for i in range(number))]
    before, loop, after = parts(inputs(number), line_length=width)
    packed = [line for line in before if line.startswith("inputs ")]
    assert 1 < len(packed) <= number // 3
    held: dict[str, object] = {name: name for name in names}
    exec("\n".join(packed), held)
    assert held["inputs"] == names
    for lines, source in ((loop, "parts"), (after, "inputs")):
        unpacked = [line.strip() for line in lines if re.search(rf" = {source}(\[|$)", line)]
        assert 1 < len(unpacked) <= number // 3 and all(len(line) <= width for line in lines if f"= {source}[" in line)
        given: dict[str, object] = {source: [f"part {name}" for name in names]}
        exec("\n".join(unpacked), given)
        assert [given[name] for name in names] == given[source]


MINIMISED = "out = tf.layers.dense(X, 1)\nerror = tf.square(out - Y)\n"


@pytest.mark.parametrize(
    ("step", "left"),
    [
        ("train_op = tf.train.AdamOptimizer().minimize(tf.reduce_mean(error))\n", []),
        ("o = tf.train.AdamOptimizer()\ngrads = o.compute_gradients(tf.reduce_mean(error))\n"
         "train_op = o.apply_gradients(grads)\n", []),
        ("train_op = tf.train.AdamOptimizer().minimize(tf.reduce_mean(error))\nprint(error)\n", ["error"]),
        ("train_op = tf.contrib.layers.optimize_loss(tf.reduce_mean(error), None, 0.1, 'SGD')\n", ["error"]),
    ],
    ids=["minimize", "compute", "read too", "by a function that keeps its loss"],
)  # fmt: skip
def test_what_only_a_loss_reads_that_gives_way_is_not_merged(step: str, left: list[str]) -> None:
    assert [place for place in merged(INPUTS + MINIMISED + step + TRAINING) if place != "loss"] == left


def test_a_loss_without_a_name_is_computed_once() -> None:
    script = INPUTS.replace("float32", "float64") + MINIMISED
    _, loop, _ = parts(script + "train_op = tf.train.AdamOptimizer().minimize(tf.reduce_mean(error))\n" + TRAINING)
    assert loop[-2:] == [
        "loss = tf.reduce_mean(error)",
        "tower_grads.append(optimizer.compute_gradients(loss * tf.cast(weight, loss.dtype)))",
    ]


@pytest.mark.parametrize(
    ("lines", "moved"),
    [
        ("out = tf.layers.dense(X, 1) \\\n    + 1\n", "        out = tf.layers.dense(X, 1) \\\n            + 1\n"),
        ("out = tf.layers.dense(X, 1) + \\\n1\n", "        out = tf.layers.dense(X, 1) + \\\n        1\n"),
        ("'''The model\n  of one layer\n\n'''\nout = tf.layers.dense(X, 1)\n",
         "        '''The model\n          of one layer\n\n        '''\n        out = tf.layers.dense(X, 1)\n"),
        ("def net(x):\n    '''Of one\n    layer.'''\n    return tf.layers.dense(x, 1)\nout = net(X)\n",
         "def net(x):\n    '''Of one\n    layer.'''\n    return"),  # a docstring, and outside of the towers
        ("out = tf.layers.dense(X, 1, name='''a\nb'''.replace('\\n', ''))\n", "name='''a\nb'''.replace("),  # a value
    ],
    ids=["continued", "continued at the margin", "string", "docstring", "value"],
)  # fmt: skip
def test_further_lines_move_with_their_statement(lines: str, moved: str) -> None:
    script = INPUTS + "first = tf.layers.dense(X, 2)\n" + lines + "loss = tf.reduce_mean(tf.square(out - Y))\n"
    assert moved in converted(script + STEP + TRAINING)


@pytest.mark.parametrize("comment", ["# Each GPU computes its share of the batch.", "# From here on: the whole batch."])
def test_the_loop_says_what_it_does(comment: str) -> None:
    assert body(SCRIPT).count(comment) == 1


def test_a_module_of_helpers_goes_on_serving_what_the_version_before_converted() -> None:
    plan = run(SCRIPT, num_gpus=2).plan
    assert plan is not None
    held = "".join(f"def {name}(*args):\n    pass\n" for name in ("average_gradients", "shard_static", "unknown"))
    module = helper_module_text(replace(plan, helper_module="tower_helpers"), "import tensorflow as", held)
    made = {name for name in catalog() if f"\n{catalog()[name].source.splitlines()[0]}" in module}
    assert made == {name for name, _ in plan.helpers} | {"average_gradients", "shard_static"}
    assert "unknown" not in module and "\n\n\naverage_gradients = sum_gradients" in module
