"""A loss with one value for each example: the gradient takes the sum, what is read is the whole batch's."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, parts

MODEL = "loss = tf.square(tf.layers.dense(X, 1) - Y)\n"


def test_the_towers_values_are_put_side_by_side() -> None:
    _, inside, after = parts(INPUTS + MODEL + STEP + "mean = tf.reduce_mean(loss)\n" + TRAINING)
    assert inside[-2:] == [
        "tower_grads.append(optimizer.compute_gradients(loss * weight))",
        "tower_loss.append(loss[:rows])",
    ]
    assert "loss = tf.concat(tower_loss, 0)" in after


def test_two_steps_over_one_loss() -> None:
    script = INPUTS + MODEL + STEP + STEP.replace("train_op", "other_op") + TRAINING
    _, inside, after = parts(script)
    assert inside[-2:] == ["tower_losses.append(loss * weight)", "tower_loss.append(loss[:rows])"]
    assert "loss = tf.concat(tower_loss, 0)" in after


def test_a_loss_of_rows_in_another_order_is_not_read() -> None:
    """Nothing asks for its value, so nothing needs to put it together."""
    both = MODEL + "loss = tf.concat([loss, loss], 0)\n"
    _, inside, after = parts(INPUTS + both + STEP + TRAINING)
    assert "tower_grads.append(optimizer.compute_gradients(loss * weight))" in inside
    assert not any(line.startswith("loss =") for line in after)
    assert codes(INPUTS + both + STEP + "mean = tf.reduce_mean(loss)\n" + TRAINING) == ["TMG210"]


ROWS = "loss = tf.square(tf.layers.dense(X, 1) - Y)"
TAKEN_APART = "loss = tf.concat([tf.reshape(x, [-1]) for x in tf.unstack(tf.layers.dense(X, 1) - Y)], 0)"
IN_BRANCHES = "import sys\nif len(sys.argv) > 1:\n    {}\nelse:\n    {}\n"
READ = "mean = tf.reduce_mean(loss)\n"


@pytest.mark.parametrize(
    "model",
    [TAKEN_APART + "\n", IN_BRANCHES.format(ROWS, TAKEN_APART), IN_BRANCHES.format(TAKEN_APART, ROWS)],
    ids=["alone", "second", "first"],
)
def test_a_loss_with_rows_that_are_not_the_examples(model: str) -> None:
    """The sum of the towers' losses would be no loss of the whole batch; their gradients are right."""
    fixed = INPUTS.replace("[None,", "[batch_size,")
    assert codes(fixed + model + STEP + READ + TRAINING) == ["TMG210"]
    _, inside, after = parts(fixed + model + STEP + TRAINING)
    assert any("loss * weight" in line for line in inside)
    assert not any(line.startswith("loss =") for line in after)


@pytest.mark.parametrize("one", ["loss = tf.sqrt(tf.reduce_mean(tf.square(X)))", "loss = tf.nn.l2_loss(X)"])
def test_branches_of_single_numbers_are_added_up(one: str) -> None:
    made = one.replace("(X)", "(tf.layers.dense(X, 1) - Y)")
    both = IN_BRANCHES.format(made, ROWS.replace("loss = ", "loss = tf.reduce_mean(") + ")")
    _, _, after = parts(INPUTS + both + STEP + READ + TRAINING)
    assert "loss = tf.add_n(tower_loss)" in after


def test_a_step_in_another_function() -> None:
    train = "def train(loss):\n    return tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n\n\n"
    script = train + INPUTS.partition("\n")[2] + "{}train_op = train(loss)\n" + TRAINING
    script = "import tensorflow as tf\n\n\n" + script
    assert codes(script.replace("{}train_op", MODEL + "train_op")) == ["TMG301"]
    assert codes(script.replace("{}train_op", MODEL + "loss = tf.reduce_mean(loss)\ntrain_op")) == []


@pytest.mark.parametrize(
    ("hidden", "warned"),
    [
        ("X - tf.reduce_mean(X, 0)", True),
        ("tf.layers.batch_normalization(X, training=True)", True),
        ("tf.nn.batch_normalization(X, *tf.nn.moments(X, [0]), None, None, 1e-3)", True),
        ("X / tf.cast(tf.shape(X)[0], tf.float32)", True),
        ("X - tf.reduce_mean(X, 1, keep_dims=True)", False),
    ],
)
@pytest.mark.parametrize("batch", ["per-gpu", "total"])
def test_statistics_of_a_batch_differ_where_a_tower_has_a_part_of_it(hidden: str, warned: bool, batch: str) -> None:
    script = INPUTS + "loss = tf.reduce_mean(tf.square(tf.layers.dense(" + hidden + ", 1) - Y))\n" + STEP + TRAINING
    assert codes(script, batch=batch) == (["TMG302"] if warned and batch == "total" else [])


@pytest.mark.parametrize(
    ("loss", "warned"),
    [
        ("tf.reduce_sum(tf.square(rows - Y) / count)", False),
        ("tf.reduce_sum(tf.square(rows - Y)) / count", False),
        ("tf.reduce_sum(tf.square(rows / count - Y) / count)", True),
        ("tf.reduce_mean(tf.square(rows - Y) * count)", True),
    ],
)
def test_examples_scaled_by_their_number(loss: str, warned: bool) -> None:
    made = f"count = tf.cast(tf.shape(X)[0], tf.float32)\nrows = tf.layers.dense(X, 1)\nloss = {loss}\n"
    assert codes(INPUTS + made + STEP + TRAINING, batch="total") == (["TMG302"] if warned else [])
    assert codes(INPUTS + made + STEP + TRAINING) == []


@pytest.mark.parametrize(
    ("hidden", "warned"),
    [
        ("X / tf.norm(X)", True),
        ("X / tf.reduce_max(X)", True),
        ("X / (tf.reduce_sum(X, 0) + 1e-6)", True),
        ("X / tf.reduce_mean(X)", False),
        ("X / tf.reduce_sum(X, 1, keep_dims=True)", False),
        ("(X - tf.reduce_mean(X, 0)) / tf.sqrt(tf.reduce_mean(tf.square(X - tf.reduce_mean(X, 0)), 0))", False),
        ("X / tf.sqrt(tf.nn.moments(X, [0])[1])", False),
    ],
)
def test_examples_that_are_set_against_their_batch(hidden: str, warned: bool) -> None:
    script = INPUTS + "loss = tf.reduce_mean(tf.square(tf.layers.dense(" + hidden + ", 1) - Y))\n" + STEP + TRAINING
    assert codes(script) == (["TMG302"] if warned else [])


@pytest.mark.parametrize(
    ("loss", "warned"),
    [
        ("tf.reduce_mean(tf.reduce_mean(M) * error)", True),
        ("tf.reduce_mean(M) * tf.reduce_mean(error)", True),
        ("tf.reduce_mean(error / tf.reduce_mean(M))", True),
        ("tf.reduce_mean(tf.stack([tf.reduce_mean(M) * error, error]))", True),
        ("tf.losses.mean_squared_error(Y, prediction, weights=tf.reduce_mean(M))", True),
        ("tf.losses.compute_weighted_loss(error, tf.reduce_mean(M))", True),
        ("tf.reduce_mean(tf.square(error - tf.reduce_mean(error)))", False),
        ("tf.reduce_mean(error) * 3.0", False),
        ("tf.reduce_mean(M * error)", False),
        ("tf.reduce_mean(error - tf.reduce_mean(M))", False),
        ("tf.reduce_mean(error - tf.reduce_mean(M)) / 2.0", False),
        ("tf.reduce_mean(tf.square(tf.layers.dense(error - tf.reduce_mean(error), 1)))", False),
        ("tf.reduce_mean(error * tf.reduce_mean(M, 1, keep_dims=True))", False),
        ("tf.reduce_mean(tf.reduce_mean(tf.get_variable('scale', [4])) * error)", False),
    ],
)
def test_a_product_of_two_means_is_none(loss: str, warned: bool) -> None:
    model = "M = tf.placeholder(tf.float32, [None, 1])\nprediction = tf.layers.dense(X, 1)\nerror = prediction - Y\n"
    script = f"{INPUTS}{model}loss = {loss}\n{STEP}{TRAINING.replace('Y: ys', 'Y: ys, M: ms')}"
    assert ("TMG302" in codes(script)) == warned
    assert not warned or "TMG302" not in codes(script, batch="total")  # it is computed once, of the whole batch


@pytest.mark.parametrize(("batch", "found"), [("total", []), ("per-gpu", ["TMG302"])])
def test_a_sum_in_one_branch_and_a_mean_in_another(batch: str, found: list[str]) -> None:
    loss = """\
import sys
error = tf.layers.dense(X, 1) - Y
if sys.argv[1] == 'squares':
    loss = tf.nn.l2_loss(error)
else:
    loss = tf.reduce_mean(tf.abs(error))
"""
    assert codes(INPUTS + loss + STEP + TRAINING, batch=batch) == found


def test_a_masked_mean_in_one_branch_only() -> None:
    loss = """\
import sys
error = tf.square(tf.layers.dense(X, 1) - Y)
loss = tf.reduce_mean(error)
if sys.argv[1] == 'masked':
    loss = tf.reduce_sum(error * M) / tf.reduce_sum(M)
"""
    inputs = INPUTS + "M = tf.placeholder(tf.float32, [None, 1])\n"
    assert codes(inputs + loss + STEP + TRAINING.replace("Y: ys", "Y: ys, M: ms")) == ["TMG302"]


PURE = "def cost(p, y):\n    return tf.reduce_mean(tf.square(p - y))\n\n\n"
COLLECTED = PURE.replace("    return", "    tf.add_to_collection('seen', p)\n    return")
MINIMISED = "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(cost(prediction, Y))\n"


def test_a_loss_that_a_function_computes_where_it_is_minimised_is_computed_in_the_towers() -> None:
    _, loop, after = parts(PURE + INPUTS + "prediction = tf.layers.dense(X, 1)\n" + MINIMISED + TRAINING)
    assert loop[-2:] == ["loss = cost(prediction, Y)", "tower_grads.append(optimizer.compute_gradients(loss * weight))"]
    assert "train_op = optimizer.apply_gradients(sum_gradients(tower_grads))" in after


def test_a_function_that_leaves_things_in_the_graph_is_a_part_of_the_model() -> None:
    script = COLLECTED + INPUTS + "prediction = tf.layers.dense(X, 1)\n" + MINIMISED + TRAINING
    assert codes(script) == ["TMG209"]


def test_a_loss_of_two_names_is_differentiated_once() -> None:
    model = "loss = cost = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))\n"
    step = "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(cost)\n"
    _, loop, after = parts(INPUTS + model + step + "tf.summary.scalar('loss', loss)\n" + TRAINING)
    assert sum("tower_grads.append" in line for line in loop) == 1
    assert after.index("loss = cost") > after.index("cost = tf.add_n(tower_cost)")


def test_a_function_that_minimises_several_losses_finds_the_towers_of_each() -> None:
    script = """\
import tensorflow as tf

def minimized(loss, scope):
    optimizer = tf.train.AdamOptimizer(0.01)
    return optimizer.minimize(loss, var_list=[v for v in tf.trainable_variables() if v.name.startswith(scope)])

batch_size = 32
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
with tf.variable_scope('a'):
    a = tf.layers.dense(X, 1)
with tf.variable_scope('b'):
    b = tf.layers.dense(a, 1)
a_loss = tf.reduce_mean(tf.square(a - Y))
b_loss = tf.reduce_mean(tf.square(b - Y))
train_op = [minimized(a_loss, 'a'), minimized(b_loss, 'b')]
"""
    _, loop, after = parts(script + TRAINING)
    assert any("tower_a_loss.append" in line for line in loop) and any("tower_b_loss.append" in line for line in loop)
    assert "a_loss = merge_loss(tower_a_loss)" in after and "b_loss = merge_loss(tower_b_loss)" in after


def test_logits_of_an_object_that_is_not_seen_are_refused() -> None:
    loss = "loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits={}, labels=Y))\n"
    unseen = "import nets\n" + INPUTS + "net = nets.Net()\n" + loss.format("net.logits")
    assert codes(unseen + STEP + TRAINING) == ["TMG241"]
    assert codes(INPUTS + loss.format("tf.layers.dense(X, 1)") + STEP + TRAINING) == []


def test_a_sum_that_is_written_out_where_it_is_minimised() -> None:
    """Where the model is built the towers take the sum; in another function it is computed from merged losses."""
    model = "out = tf.layers.dense({x}, 1)\n{own}a = tf.reduce_mean(tf.abs(out))\n{own}b = tf.reduce_mean(out)\n"
    near = INPUTS + model.format(x="X", own="") + STEP.replace("(loss)", "(a + b)") + TRAINING
    assert codes(near) == []
    built = "class Net(object):\n    def __init__(self):\n        self.X = tf.placeholder(tf.float32, [None, 4])\n"
    body = "".join("        " + line + "\n" for line in model.format(x="self.X", own="self.").splitlines())
    head = "import tensorflow as tf\n\nbatch_size = 32\n\n\n"
    far = head + built + body + "\n\nm = Net()\n" + STEP.replace("(loss)", "(m.a + m.b)")
    assert codes(far + TRAINING.replace("X: xs, Y: ys", "m.X: xs")) == []
