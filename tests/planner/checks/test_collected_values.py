"""Collections that the towers fill, and that are read after them."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, STEP, TRAINING, codes, converted

LAYER = """\
def layer(x, units):
    y = tf.layers.dense(x, units)
    {}
    return y


prediction = layer(layer(X, 3), 1)
loss = tf.reduce_mean(tf.square(prediction - Y))
"""
READ = "held = tf.get_collection('held')\n"


@pytest.mark.parametrize(
    ("added", "found"),
    [
        ("tf.add_to_collection('held', y)", ["TMG236"]),
        ("tf.add_to_collection('held', tf.reduce_sum(y))", ["TMG236"]),
        ("for v in (y, tf.nn.relu(y)):\n        tf.add_to_collection('held', v)", ["TMG236"]),
        ("tf.add_to_collection('held', tf.reduce_mean(y))", []),
        ("tf.add_to_collection('held', tf.get_variable('w%d' % units, [3]))", []),
        ("tf.add_to_collection('other', y)", []),
        ("pass", []),
    ],
)
def test_what_towers_put_into_a_collection_is_merged_or_refused(added: str, found: list[str]) -> None:
    assert codes(INPUTS + LAYER.format(added) + STEP + READ + TRAINING) == found


@pytest.mark.parametrize(
    "read",
    ["", "names = tf.get_collection('others')\n", "tf.add_to_collection('held', prediction)\n"],
    ids=["not read", "another", "added after the towers"],
)
def test_a_collection_that_is_not_read_may_hold_anything(read: str) -> None:
    script = INPUTS + LAYER.format("tf.add_to_collection('held', y)") + STEP + read + TRAINING
    assert codes(script) == []


def test_a_collection_that_only_the_towers_read_is_each_towers_own() -> None:
    script = INPUTS + LAYER.format("tf.add_to_collection('held', y)")
    script += "loss += tf.add_n([tf.reduce_mean(v) for v in tf.get_collection('held')])\n"
    assert codes(script + STEP + TRAINING) == []


def test_variables_that_a_loop_adds_after_the_model_are_the_graphs_own() -> None:
    added = "for v in tf.global_variables():\n    tf.add_to_collection('held', v)\n"
    assert codes(INPUTS + LAYER.format("pass") + STEP + added + READ + TRAINING) == []


TERMS = """\
import numpy as np
import tensorflow as tf
batch_size = 4
x = tf.placeholder(tf.float32, [None, 8])
y = tf.placeholder(tf.int64, [None])
w = tf.get_variable('w', [8, 3])
decay = tf.contrib.layers.l2_regularizer(0.1)
logits = tf.matmul(x, w) + tf.layers.dense(x, 3, kernel_regularizer=decay)
{add}
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
{loss}
train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(0, 64, batch_size):
        sess.run(train_op, {{x: np.ones([batch_size, 8]), y: np.zeros(batch_size)}})
"""
KEY = "tf.GraphKeys.REGULARIZATION_LOSSES"
SUM = f"loss += tf.add_n(tf.get_collection({KEY}))"
ADDS = [
    f"tf.add_to_collection({KEY}, decay(w))",
    "tf.add_to_collection('regularization_losses', decay(w))",
    "tf.contrib.layers.apply_regularization(decay, tf.trainable_variables())",
]


READS = [f"tf.get_collection({KEY})", "tf.losses.get_regularization_losses()"]
OWN = "tower_collections = TowerPenalties()"
MEAN = f"tf.add_to_collection({KEY}, tf.reduce_mean(tf.square(logits)))"


@pytest.mark.parametrize("add", [*ADDS, MEAN])
@pytest.mark.parametrize(
    "loss", [SUM, "loss += tf.losses.get_regularization_loss()", "loss = tf.losses.get_total_loss()"]
)
def test_a_term_that_each_tower_adds_again_is_its_own(add: str, loss: str) -> None:
    assert OWN in converted(TERMS.format(add=add, loss=loss))


@pytest.mark.parametrize("read", READS)
def test_what_is_read_behind_the_towers(read: str) -> None:
    """The first tower's terms of variables alone are those of the graph; a mean over its examples is not."""
    script = TERMS.replace("with tf.Session", f"print({read})\nwith tf.Session")
    assert OWN in converted(script.format(add=ADDS[0], loss=SUM))
    assert set(codes(script.format(add=MEAN, loss=SUM))) == {"TMG250"}


@pytest.mark.parametrize("add", [ADDS[0], MEAN])
@pytest.mark.parametrize(
    "loss",
    [
        f"loss += tf.get_collection({KEY})[-1]",
        f"for term in tf.get_collection({KEY}):\n    loss += term",
        f"terms = tf.get_collection({KEY})\nloss += tf.add_n(terms) + terms[0]",
        f"first, *terms = tf.get_collection({KEY})\nloss += tf.add_n(terms)",
        f"loss += tf.add_n([term for term in tf.get_collection({KEY}) if 'w' in term.name])",
    ],
)
def test_terms_that_are_told_apart(add: str, loss: str) -> None:
    assert set(codes(TERMS.format(add=add, loss=loss))) & {"TMG250"}


@pytest.mark.parametrize("add", [ADDS[0], MEAN])
@pytest.mark.parametrize("whole", ["tf.add_n([loss] + terms)", "loss + sum(terms)", "tf.add_n(terms + [loss])"])
def test_terms_that_are_added_up(add: str, whole: str) -> None:
    assert OWN in converted(TERMS.format(add=add, loss=f"terms = tf.get_collection({KEY})\nloss = {whole}"))


@pytest.mark.parametrize("key", ["variables", "trainable_variables"])
def test_tensors_among_variables_are_refused(key: str) -> None:
    add = f"tf.add_to_collection('{key}', tf.nn.relu(logits))"
    assert "TMG250" in codes(TERMS.format(add=add, loss=f"loss += tf.reduce_sum(tf.get_collection('{key}')[-1])"))


@pytest.mark.parametrize("read", READS)
def test_a_term_that_the_next_tower_would_read_before_it_adds_its_own(read: str) -> None:
    added = "loss += tf.add_n(terms) + term"
    assert OWN in converted(TERMS.format(add=f"terms = {read}\nterm = {ADDS[2]}", loss=added))
    assert OWN not in converted(TERMS.format(add=f"terms = {read}\nterm = decay(w)", loss=added))
    assert OWN not in converted(TERMS.format(add=f"term = {ADDS[2]}", loss="loss += term"))


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("add", ADDS)
def test_a_term_that_no_tower_needs_is_added_once_behind_them(add: str, read: str) -> None:
    assert codes(TERMS.format(add=f"terms = {read}\n{add}", loss="loss += tf.add_n(terms)")) == []


@pytest.mark.parametrize("after", ADDS)
def test_a_term_that_is_added_behind_the_towers_and_read_by_them_before(after: str) -> None:
    script = TERMS.format(add="", loss=SUM)
    assert codes(script.replace("with tf.Session", f"{after}\nwith tf.Session")) == []


@pytest.mark.parametrize(
    ("add", "loss"),
    [
        ("", SUM),
        ("", "loss = tf.losses.get_total_loss()"),
        (ADDS[0].replace(KEY, "'terms'"), f"{SUM} + tf.add_n(tf.get_collection('terms'))"),
        (f"term = {ADDS[2]}", "loss += term"),
        (ADDS[0], "pass"),  # nobody reads it
    ],
)
def test_terms_that_are_counted_once(add: str, loss: str) -> None:
    assert codes(TERMS.format(add=add, loss=loss)) == []


FETCHED = f"""\
terms = tf.get_collection({KEY})
loss += tf.add_n(terms)"""


def fetching(add: str, use: str) -> str:
    run = "sess.run(train_op,"
    return (
        TERMS.format(add=add, loss=FETCHED).replace(run, "_, parts = sess.run([train_op, terms],") + f"        {use}\n"
    )


@pytest.mark.parametrize("use", ["print(np.sum(parts))", "if parts[0] > 3.0:\n            break"])
def test_terms_of_variables_alone_are_the_same_in_all_towers(use: str) -> None:
    text = converted(fetching(ADDS[0], use))
    assert OWN in text and "tower_terms" not in text


def test_a_list_with_a_mean_among_terms_is_shown_by_its_form() -> None:
    """Where the mean lies among the terms of the variables only the graph tells: all of the list is merged."""
    script = fetching(MEAN, "print(np.sum(parts))")
    assert "terms = merge_shown(tower_terms)" in converted(script) and codes(script) == ["TMG393"]


@pytest.mark.parametrize("use", ["if parts[0] > 3.0:\n            break", "np.save('parts.npy', parts)"])
def test_a_list_with_a_mean_among_terms_that_decides(use: str) -> None:
    assert codes(fetching(MEAN, use)) == ["TMG208"]


EARLY = """\
h = tf.layers.dense(x, 8, kernel_regularizer=decay)
terms = {read}
logits += tf.layers.dense(h, 3{decay})
loss = tf.losses.sparse_softmax_cross_entropy(y, logits) + tf.add_n([terms])"""


@pytest.mark.parametrize("read", [f"tf.add_n(tf.get_collection({KEY}))", "tf.losses.get_regularization_loss()"])
def test_terms_that_are_read_before_the_last_variable_is_made(read: str) -> None:
    """A later tower begins with the terms of all variables, and must not read more of them than the first did."""
    script = TERMS.format(add="", loss=EARLY.format(read=read, decay=", kernel_regularizer=decay"))
    assert OWN in converted(script) and codes(script) == []


def test_terms_that_are_read_behind_all_variables() -> None:
    assert "TowerPenalties" not in converted(TERMS.format(add="", loss=SUM))


@pytest.mark.parametrize("loss", ["print(terms)\nloss += tf.add_n(terms)", "loss += tf.add_n(terms)\nprint(terms)"])
def test_printed_terms_are_read_behind_the_towers(loss: str) -> None:
    assert OWN in converted(TERMS.format(add=ADDS[0], loss=f"terms = tf.get_collection({KEY})\n{loss}"))
