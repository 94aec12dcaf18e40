"""Collections of which the script reads what a scope holds: the towers' names begin with theirs."""

from __future__ import annotations

import pytest

from tests.scripts import converted

SCRIPT = """\
import tensorflow as tf

batch_size = 16
x = tf.placeholder(tf.float32, [None, 4])
with {kind}('model') as scope:
    hidden = tf.layers.dense(x, 4, kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1))
    out = tf.layers.batch_normalization(hidden, training=True)
loss = tf.reduce_mean(tf.square(out - x)){inside}
{behind}
with tf.control_dependencies(updates):
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    while True:
        sess.run(train_op, {{x: next_batch(batch_size)}})
"""
UPDATES = "updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS{})"
HELPER = "scopes_without_towers(gpu)"


def script(kind: str = "tf.variable_scope", inside: str = "", behind: str = UPDATES.format("")) -> str:
    return converted(SCRIPT.format(kind=kind, inside=inside, behind=behind))


@pytest.mark.parametrize("kind", ["tf.variable_scope", "tf.name_scope"])
@pytest.mark.parametrize("given", [", scope='model'", ", 'model'", ", scope"])
def test_updates_of_a_scope_are_found_behind_the_towers(kind: str, given: str) -> None:
    assert HELPER in script(kind, behind=UPDATES.format(given))


@pytest.mark.parametrize(
    "inside",
    [
        " + tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES, 'model'))",
        " + tf.add_n(tf.losses.get_regularization_losses(scope='model'))",
    ],
)
def test_losses_of_a_scope_are_found_in_each_tower(inside: str) -> None:
    assert HELPER in script(inside=inside)


@pytest.mark.parametrize(
    "read", ["tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope)", "tf.trainable_variables(scope)"]
)
def test_the_name_scope_of_a_tower_holds_variables_too(read: str) -> None:
    decay = f" + tf.add_n([tf.nn.l2_loss(v) for v in {read}])"
    assert HELPER in script("tf.name_scope", inside=decay)


@pytest.mark.parametrize(
    "read",
    [
        "tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, 'model')",
        "tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES, scope='model')",
        "tf.trainable_variables('model')",
        "tf.get_collection(tf.GraphKeys.SUMMARIES, scope=None)",
    ],
)
def test_others_are_read_as_they_are(read: str) -> None:
    assert HELPER not in script(behind=f"{UPDATES.format('')}\nread = {read}")


@pytest.mark.parametrize(
    "read",
    [
        "updates = [op for op in updates if op.name.startswith('model')]",
        "updates = [op for op in updates if 'model' == op.name.split('/')[0]]",
        "for op in updates:\n    print(op.name)",
        "updates = choose(updates, 'model')",
        "updates = list(filter(lambda op: op.name.startswith('model'), updates))",
    ],
)
def test_names_of_what_layers_collected_are_those_of_one_gpu(read: str) -> None:
    chosen = "def choose(ops, scope):\n    return [op for op in ops if op.name.startswith(scope)]\n\n\n"
    behind = f"{UPDATES.format('')}\n{read}"
    text = converted(chosen + SCRIPT.format(kind="tf.variable_scope", inside="", behind=behind))
    assert "without_tower(op.name)" in text


@pytest.mark.parametrize(
    "read",
    [
        "read = [v for v in tf.trainable_variables() if v.name.startswith('model')]",
        "read = [v for v in tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES) if v.name.startswith('model')]",
        "read = loss.name",
        "read = train_dir.name",
    ],
)
def test_other_names_stay(read: str) -> None:
    assert "without_tower" not in script(behind=f"{UPDATES.format('')}\n{read}")


def test_names_that_are_read_in_front_of_the_model_stay() -> None:
    text = SCRIPT.format(kind="tf.variable_scope", inside="", behind=UPDATES.format(""))
    early = "names = [op.name for op in tf.get_collection('mine')]\nx = tf.placeholder"
    assert "without_tower" not in converted(text.replace("x = tf.placeholder", early))
