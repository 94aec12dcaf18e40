"""Training steps in loops: of a list of losses, of models that the loop builds, and among the statements of a model."""

from __future__ import annotations

import pytest

from tests.scripts import codes, converted, run

SCRIPT = """\
import tensorflow as tf

batch_size = 32
x = tf.placeholder(tf.float32, [None, 8])
y = tf.placeholder(tf.float32, [None, 3])
opt = tf.train.AdamOptimizer(0.01)
ops, losses = [], []
{model}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        for op in ops:
            sess.run(op, {{x: xs, y: ys}})
"""
HEADS = """\
h = tf.layers.dense(x, 16)
for i in range(3):
    out = tf.layers.dense(h, 1)
    losses.append(tf.reduce_mean(tf.square(out[:, 0] - y[:, i])))
"""
OWN_STEPS = """\
h = tf.layers.dense(x, 16)
for i in range(3):
    out = tf.layers.dense(h, 1)
    loss = tf.reduce_mean(tf.square(out[:, 0] - y[:, i]))
    ops.append(opt.minimize(loss))
"""


def below(model: str) -> str:
    return converted(SCRIPT.format(model=model)).partition("# tf-multigpu: end of helpers\n")[2]


@pytest.mark.parametrize(
    ("steps", "gradient"),
    [
        ("for i in range(3):\n    ops.append(opt.minimize(losses[i]))", "losses[i].tower_losses"),
        ("for loss in losses:\n    ops.append(opt.minimize(loss))", "loss.tower_losses"),
        ("ops = [opt.minimize(one) for one in losses]", "one.tower_losses"),
        (
            "for i in range(3):\n    grads = opt.compute_gradients(losses[i])\n"
            "    ops.append(opt.apply_gradients(grads))",
            "losses[i].tower_losses",
        ),
        (
            "for i in range(3):\n    grads = tf.gradients(losses[i], tf.trainable_variables()[2 * i:])\n"
            "    ops.append(opt.apply_gradients(zip(grads, tf.trainable_variables()[2 * i:])))",
            "gradients_of_towers(losses[i].tower_losses",
        ),
        (
            "def train(loss):\n    return opt.minimize(loss)\n\n\nops = [train(one) for one in losses]",
            "loss.tower_losses",
        ),
    ],
    ids=["numbers", "list", "comprehension", "compute_gradients", "tf.gradients", "function"],
)
def test_each_of_a_list_of_losses_has_its_gradients(steps: str, gradient: str) -> None:
    text = below(HEADS + steps)
    assert gradient in text
    assert [f"losses[{i}] = merge_loss(tower_losses_{i})" in text for i in range(3)] == [True] * 3


def test_losses_that_functions_make() -> None:
    model = HEADS.replace("for i in range(3):\n    out", "def head(i):\n    out").replace("losses.append(", "return (")
    listed = "for i in range(3):\n    losses.append(head(i))\n"
    text = below(model + listed + "for one in losses:\n    ops.append(opt.minimize(one))")
    assert "losses[1] = merge_loss(tower_losses_1)" in text


def test_a_list_of_losses_of_an_object() -> None:
    model = """\
class Model(object):
    def __init__(self):
        self.ops = []
        self.losses = []
        for i in range(2):
            with tf.variable_scope('model', reuse=True if i else None):
                self.losses.append(self.loss_of(i + 1))
        for i in range(2):
            self.ops.append(opt.minimize(self.losses[i]))

    def loss_of(self, n):
        h = tf.layers.dense(x, 8, name='h')
        return tf.reduce_mean(tf.square(h[:, :n] - y[:, :n]))


ops = Model().ops"""
    text = below(model)
    assert "self.losses[1] = merge_loss(tower_losses_1)" in text
    assert "tower_gradients(opt, self.losses[i].tower_losses)" in text


@pytest.mark.parametrize("scale", ["losses[i] * 2.0", "tf.add(losses[i], losses[0])"])
def test_losses_that_the_loop_computes_of_a_list_are_computed_of_merged_ones(scale: str) -> None:
    text = below(HEADS + f"for i in range(3):\n    ops.append(opt.minimize({scale}))")
    assert f"opt.minimize({scale}, colocate_gradients_with_ops=True)" in text


def test_models_that_a_loop_builds_and_trains_have_a_loop_each() -> None:
    text = below(OWN_STEPS.replace("h = tf.layers.dense(x, 16)\n", "").replace("dense(h, 1)", "dense(x, 1)"))
    assert "\n    for gpu in range(num_gpus):\n" in text
    assert "ops.append(opt.apply_gradients(sum_gradients(tower_grads)))" in text


def test_objects_of_a_class_have_a_loop_each() -> None:
    model = """\
class Model(object):
    def __init__(self):
        self.loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 3) - y))

    def train(self):
        return opt.minimize(self.loss)


models = [Model(), Model()]
ops = [model.train() for model in models]"""
    assert "        for gpu in range(num_gpus):\n" in below(model)


def test_heads_that_a_loop_builds_and_trains_have_a_loop_each() -> None:
    """Each turn's towers go on with those of what stands in front, and make layers of their own."""
    text = below(OWN_STEPS)
    assert "    h = part_of_tower(h_batch, gpu)" not in text.partition("for i in range(3):")[0]
    inside = text.partition("for i in range(3):")[2]
    assert "            h = part_of_tower(h_batch, gpu)\n            out = tf.layers.dense(h, 1)\n" in inside
    assert "layer_names_2 = LayerNames()" in inside and "    layer_names_2.resume()" in inside


@pytest.mark.parametrize(
    "turn",
    [
        "h = tf.layers.dense(h, 3)\n    loss = tf.reduce_mean(tf.square(h[:, 0] - y[:, i]))",
        "loss += tf.reduce_mean(tf.square(tf.layers.dense(h, 1)[:, 0] - y[:, i]))",
    ],
    ids=["layers", "losses"],
)
def test_a_step_in_the_loop_of_its_model_is_told_where_to_go(turn: str) -> None:
    """Each turn goes on with what the one before has made."""
    model = f"h = tf.layers.dense(x, 16)\nloss = 0.0\nfor i in range(3):\n    {turn}\n"
    (found,) = run(SCRIPT.format(model=f"{model}    ops.append(opt.minimize(loss))")).diagnostics
    assert found.code == "TMG219"
    assert "in the same loop as a part of the model, in line 10" in found.message
    mended = f"{model}    losses.append(loss)\nfor loss in losses:\n    ops.append(opt.minimize(loss))"
    assert codes(SCRIPT.format(model=mended)) == []


def test_a_step_between_two_losses_is_told_where_the_second_is() -> None:
    one = "{0} = tf.reduce_mean(tf.square(tf.layers.dense(h, 3) - y))\n"
    step = "ops.append(opt.minimize({}))\n"
    names = ("loss", "loss")
    parts = [line.format(name) for name in names for line in (one, step)]
    model = "h = tf.layers.dense(x, 16)\n{}with tf.name_scope('two'):\n    {}{}"
    inside = "with tf.name_scope('one'):\n    " + "    ".join(parts[:2])
    (found,) = run(SCRIPT.format(model=model.format(inside, parts[2], parts[3]))).diagnostics
    assert (found.code, found.message) == (
        "TMG219",
        "the model of the same inputs goes on behind this training step, in line 12",
    )
    second = [line.format("second") for line in (one, step)]
    mended = model.format("with tf.name_scope('one'):\n    " + parts[0], second[0], parts[1] + second[1])
    assert codes(SCRIPT.format(model=mended)) == []


BUCKETS = """\
buckets = [(1, 2), (2, 3)]
words = [tf.placeholder(tf.int32, [None]) for _ in range(4)]
weights = [tf.placeholder(tf.float32, [None]) for _ in range(3)]


def net(encoder, decoder):
    cell = tf.nn.rnn_cell.GRUCell(8)
    return tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(encoder, decoder, cell, 20, 20, 8)


outputs, losses = tf.contrib.legacy_seq2seq.model_with_buckets(
    words[:2], words[:3], words[1:], weights, {buckets}, lambda a, b: net(a, b){more})
for i in range(2):
    ops.append(opt.minimize(losses[i]))"""


@pytest.mark.parametrize(
    "more",
    [
        "",
        ", softmax_loss_function=lambda labels, logits: tf.nn.sparse_softmax_cross_entropy_with_logits(\n"
        "        labels=labels, logits=logits)",
    ],
)
def test_a_step_for_each_bucket(more: str) -> None:
    text = below(BUCKETS.format(buckets="buckets", more=more))
    assert "losses[1] = merge_loss(tower_losses_1)" in text
    assert "tower_gradients(opt, losses[i].tower_losses)" in text


def test_a_loss_of_buckets_that_is_not_known_is_refused_or_warned_of() -> None:
    function = ", softmax_loss_function=lambda labels, logits: read_loss(labels, logits)"
    assert "TMG302" in codes(SCRIPT.format(model=BUCKETS.format(buckets="buckets", more=function)))


FUNCTION = "def take(loss):\n    return tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n\n\n"


def with_function(model: str) -> str:
    text = SCRIPT.format(model=model.replace("opt.minimize(loss)", "take(loss)"))
    return text.replace("import tensorflow as tf\n", f"import tensorflow as tf\n{FUNCTION}", 1)


def test_a_step_that_a_function_takes_is_told_where_the_loop_calls_it() -> None:
    """The line to change is the call in the loop, not the function's, which may serve other losses."""
    text = with_function(OWN_STEPS.replace("out = tf.layers.dense(h, 1)", "h = out = tf.layers.dense(h, 1)"))
    (found,) = run(text).diagnostics
    assert (found.code, text.splitlines()[found.line - 1].strip()) == ("TMG219", "ops.append(take(loss))")


def test_a_step_that_a_function_takes_in_each_turn_has_the_losses_of_that_turn() -> None:
    text = converted(with_function(OWN_STEPS))
    assert "    loss = merge_loss(tower_loss)\n    ops.append(take(loss))" in text
    assert "tower_gradients(optimizer, loss.tower_losses)" in text
