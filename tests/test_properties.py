"""Generated scripts: whatever the style, the conversion is valid for Python 2.7 too, complete, and final."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes

ACTIVATIONS = ["tf.nn.relu({0})", "tf.tanh({0})", "tf.nn.dropout({0}, keep_prob)", "0.5 * {0}", "{0} + {0}"]
LAYERS = [
    "{0} = tf.layers.dense({0}, {1})",
    "{0} = dense({0}, {1})",
    "{0} = tf.layers.dense({0}, {1}, activation=tf.nn.relu)  # a layer",
    "with tf.variable_scope('layer_{1}', reuse=tf.AUTO_REUSE):\n    {0} = tf.layers.dense({0}, {1})",
    "if {1} > 2:\n    {0} = tf.layers.dense({0}, {1})",
    "for width in [{1}, {1}]:\n    {0} = tf.layers.dense({0}, width)",
]
ASIDE = [
    "",
    "# a note",
    "tf.summary.histogram('hidden', {0})",
    "print({0})",
    "rate = 0.1",
    "saved = {0}",
    "epochs = 3",
    "w = tf.get_variable('w_{1}', [3])",
    "size = int({0}.shape[1])",
]
LOSSES = [
    "loss = tf.reduce_mean(tf.square({0} - {1}))",
    "loss = tf.losses.mean_squared_error({1}, {0})",
    "cost = tf.square({0} - {1})\nloss = tf.reduce_mean(cost)",
    "loss = tf.reduce_sum(tf.square({0} - {1}))",
    "loss = tf.reduce_mean(tf.square({0} - {1})) + 0.01 * tf.nn.l2_loss(scale)",
]
STEPS = [
    "train_op = tf.train.AdamOptimizer(0.01).minimize(loss)",
    "optimizer = tf.train.AdamOptimizer(0.01)\ntrain_op = optimizer.minimize(loss)",
    "optimizer = tf.train.AdamOptimizer(0.01)\ngrads = optimizer.compute_gradients(loss)\n"
    "train_op = optimizer.apply_gradients(grads)",
    "step = tf.train.get_or_create_global_step()\n"
    "train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss, global_step=step)",
]
SESSIONS = [
    "with tf.Session() as sess:\n    {0}",
    "sess = tf.Session()\n{0}",
    "with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess:\n    {0}",
]
FEEDS = [
    "xs, ys = next_batch(batch_size)",
    "xs = data[i:i + batch_size]; ys = labels[i:i + batch_size]",
    "xs, ys = mnist.train.next_batch(batch_size)",
]
WRAPPERS = ["{0}", "def main():\n    {0}\n\n\nmain()", "if __name__ == '__main__':\n    {0}"]
REPLACED = ("batch_size = ", "optimizer = ", "train_op = ", "grads = ", "with tf.Session(", "sess = tf.Session(")


@st.composite
def scripts(draw: st.DrawFn) -> str:
    """A whole training script in one of many styles."""
    x, y, hidden = draw(st.permutations(["X", "Y", "inputs", "targets", "x_in"]))[:2] + ["hidden"]
    lines = ["keep_prob = tf.placeholder(tf.float32)", "scale = tf.get_variable('scale', [])"]
    lines += [f"{x} = tf.placeholder(tf.float32, [None, 4])", f"{y} = tf.placeholder(tf.float32, [None, 1])"]
    lines.append(f"{hidden} = {x}")
    for number in range(draw(st.integers(1, 4))):
        layer = draw(st.sampled_from(LAYERS))
        lines += layer.format(hidden, draw(st.integers(1, 8))).split("\n")
        if draw(st.booleans()):
            lines.append(f"{hidden} = " + draw(st.sampled_from(ACTIVATIONS)).format(hidden))
        lines += [draw(st.sampled_from(ASIDE)).format(hidden, number)]
    lines.append(f"output = tf.layers.dense({hidden}, 1)")
    lines += draw(st.sampled_from(LOSSES)).format("output", y).split("\n")
    lines += draw(st.sampled_from(STEPS)).split("\n")
    feed = f"{{{x}: xs, {y}: ys, keep_prob: 0.5}}"
    run = f"for i in range(10):\n    {draw(st.sampled_from(FEEDS))}\n    sess.run(train_op, {feed})"
    lines += indented(draw(st.sampled_from(SESSIONS)), run).split("\n")
    head = "import tensorflow as tf\n\nbatch_size = 16\n\n\n"
    head += "def dense(x, size):\n    return tf.layers.dense(x, size)\n\n\n"
    text = head + indented(draw(st.sampled_from(WRAPPERS)), "\n".join(lines)) + "\n"
    text = text.replace("    ", draw(st.sampled_from(["    ", "  ", "\t"])))
    return text.replace("\n", draw(st.sampled_from(["\n", "\n", "\r\n"])))


def indented(frame: str, block: str) -> str:
    """A block in the place of {0}, at its indentation."""
    place = frame.index("{0}")
    blanks = place - frame.rfind("\n", 0, place) - 1
    return frame.replace("{0}", block.replace("\n", "\n" + " " * blanks))


OPTIONS = st.builds(
    Options,
    num_gpus=st.sampled_from([None, 1, 2, 4]),
    batch=st.sampled_from(["per-gpu", "total"]),
    variables=st.sampled_from(["cpu", "gpu:0", "balanced", "partitioned"]),
    loss=st.sampled_from(["towers", "global"]),
    scale_lr=st.sampled_from(["none", "linear", "sqrt"]),
    scale_steps=st.sampled_from(["keep", "divide"]),
    eval_batch=st.sampled_from(["grow", "script"]),
    gpu_memory=st.sampled_from(["growth", "all", 0.5]),
)


def made(script: str, options: Options) -> str:
    """The conversion, or the script itself where it is refused for its loss."""
    conversion = convert(from_bytes("train.py", script.encode()), options)
    if conversion.status == "refused":
        assert [d.code for d in conversion.diagnostics] == ["TMG211"], conversion.diagnostics
        return script
    assert conversion.status == "converted", conversion.diagnostics
    assert conversion.text is not None
    return conversion.text


slowly = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@slowly
@given(scripts(), OPTIONS)
def test_the_conversion_is_valid_for_every_python(script: str, options: Options) -> None:
    tree = ast.parse(made(script, options))
    late = (ast.JoinedStr, ast.NamedExpr, ast.AnnAssign, ast.AsyncFunctionDef, ast.Nonlocal)
    assert [node for node in ast.walk(tree) if isinstance(node, late)] == []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            assert node.returns is None
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            assert not node.args.kwonlyargs and not any(argument.annotation for argument in arguments)
    compile(tree, "train.py", "exec")


@slowly
@given(scripts(), OPTIONS)
def test_every_line_is_still_there(script: str, options: Options) -> None:
    options = replace(options, scale_steps="keep", eval_batch="grow")  # they change numbers wherever these stand
    before, after = (
        Counter(line.strip(" \t") for line in text.split("\n")) for text in (script, made(script, options))
    )
    lost = [line for line in before - after if not line.startswith(REPLACED)]
    assert lost == []


@slowly
@given(scripts(), OPTIONS)
def test_converting_the_conversion_changes_nothing(script: str, options: Options) -> None:
    once = made(script, options)
    if once != script:
        again = convert(from_bytes("train.py", once.encode()), options)
        assert (again.status, again.text) == ("unchanged", None)
    assert made(script, options) == once


@slowly
@given(scripts())
def test_newlines_stay_of_one_kind(script: str) -> None:
    text = made(script, Options())
    assert text.count("\r\n") == (text.count("\n") if "\r\n" in script else 0)
