"""Lists, dicts and collections that are filled between logits and loss: what fills them comes before its readers."""

from __future__ import annotations

import pytest

from converter.analysis.values import Constant, Mapping, Sequence
from converter.planner.region.containers import wholes_in
from tests.scripts import INPUTS, STEP, TRAINING, codes, parts

MODEL = "out = tf.layers.dense(X, 1)\n"
LOSS = "loss = tf.reduce_mean(tf.square(out - Y)) + 0.1 * decay\n"
EACH = "for v in tf.trainable_variables():\n    "


def inside(fill: str, read: str, before: str = "") -> list[str]:
    """The lines of the loop that begin with one of the names below, for a model with weight decay."""
    _, lines, _ = parts(before + INPUTS + MODEL + fill + "\n" + "decay = " + read + "\n" + LOSS + STEP + TRAINING)
    names = ("terms", "for", "decay", "store", "loss =", "collect", "tf.add")
    return [line for line in lines if line.startswith(names)]


@pytest.mark.parametrize(
    ("fill", "read"),
    [
        ("terms = []\n" + EACH + "terms.append(tf.nn.l2_loss(v))", "sum(terms)"),
        ("terms = []\n" + EACH + "terms.append(tf.nn.l2_loss(v))", "tf.add_n(terms)"),
        ("terms = []\n" + EACH + "terms += [tf.nn.l2_loss(v)]", "sum(terms)"),
        ("terms = []\n" + EACH + "terms.extend([tf.nn.l2_loss(v)])", "sum(terms)"),
        ("terms = {}\n" + EACH + "terms[v.name] = tf.nn.l2_loss(v)", "sum(terms.values())"),
        ("terms = {}\n" + EACH + "terms.update({v.name: tf.nn.l2_loss(v)})", "sum(terms.values())"),
        ("terms = {}\n" + EACH + "terms.setdefault('l2', []).append(tf.nn.l2_loss(v))", "sum(terms['l2'])"),
        ("terms = set()\n" + EACH + "terms.add(tf.nn.l2_loss(v))", "sum(terms)"),
    ],
)
def test_what_fills_a_container_stays_before_what_reads_it(fill: str, read: str) -> None:
    first, loop = fill.splitlines()[:2]
    assert inside(fill, read)[:4] == [first, loop, fill.splitlines()[2].strip(), f"decay = {read}"]


@pytest.mark.parametrize("made", ["collections.deque()", "collections.defaultdict(list)"])
def test_containers_that_the_walk_does_not_follow(made: str) -> None:
    place = "terms['l2']" if "dict" in made else "terms"
    fill = f"terms = {made}\n" + EACH + place + ".append(tf.nn.l2_loss(v))"
    assert inside(fill, f"sum({place})", "import collections\n")[0] == f"terms = {made}"
    early = f"import collections\nterms = {made}\n" + INPUTS + MODEL + fill.partition("\n")[2]
    assert codes(early + f"\ndecay = sum({place})\n" + LOSS + STEP + TRAINING) == ["TMG231"]


def test_a_list_under_another_name() -> None:
    fill = "terms = []\nstore = {'decay': terms}\n" + EACH + "store['decay'].append(tf.nn.l2_loss(v))"
    assert inside(fill, "sum(terms)")[-2:] == ["decay = sum(terms)", LOSS.strip()]


def test_a_function_that_fills_a_list_around_it() -> None:
    function = "\n\ndef collect():\n    " + EACH.replace("    ", "        ") + "terms.append(tf.nn.l2_loss(v))\n\n\n"
    assert inside("terms = []" + function + "collect()", "sum(terms)")[-3:-1] == ["collect()", "decay = sum(terms)"]


def test_a_collection_of_the_graph() -> None:
    fill = EACH + "tf.add_to_collection('decay', tf.nn.l2_loss(v))"
    assert inside(fill, "tf.add_n(tf.get_collection('decay'))")[1].startswith("tf.add_to_collection('decay'")


def test_a_list_that_is_there_before_the_model_is_set_back() -> None:
    """Each tower fills it anew."""
    fill = EACH + "terms.append(tf.nn.l2_loss(v))\ndecay = sum(terms)\n"
    _, lines, _ = parts("terms = []\n" + INPUTS + MODEL + fill + LOSS + STEP + TRAINING)
    assert lines.index("terms[:] = first_terms") < lines.index("terms.append(tf.nn.l2_loss(v))")


@pytest.mark.parametrize(
    "between",
    [
        "names = []\nfor v in tf.trainable_variables():\n    names.append(v.name)\n",
        "made = {}\nmade['out'] = out\n",
        "shown = []\nshown.append(tf.summary.histogram('out', out))\n",
    ],
)
def test_containers_that_the_loss_does_not_read_stay_out_of_the_towers(between: str) -> None:
    script = INPUTS + MODEL + between + "loss = tf.reduce_mean(tf.square(out - Y))\n" + STEP + TRAINING
    _, inside, after = parts(script)
    merged = ["tower_out.append(out[:rows])"] if "out" in between.splitlines()[-1] else []
    assert inside[2:] == [
        "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)",
        "out = tf.layers.dense(X, 1)",
        "loss = tf.reduce_mean(tf.square(out - Y))",
        *merged,
        "tower_grads.append(optimizer.compute_gradients(loss * weight))",
        "tower_loss.append(loss * weight)",
    ]
    assert between.splitlines()[-1].strip() in after


def test_another_item_of_a_dict_stays_out_of_the_towers() -> None:
    between = "made = {}\nmade['out'] = out\nmade['top'] = tf.reduce_max(X, 1)\nlast = made['out'] - Y\n"
    _, lines, after = parts(INPUTS + MODEL + between + "loss = tf.reduce_mean(last)\n" + STEP + TRAINING)
    assert "made['out'] = out" in lines and "made['top'] = tf.reduce_max(X, 1)" in after


FED = """\
import tensorflow as tf

batch_size = 8
cell = tf.contrib.rnn.BasicLSTMCell(8)
inputs = []
for i in range(3):
    inputs.append(tf.placeholder(tf.int32, [None]))
outputs, _ = tf.contrib.legacy_seq2seq.embedding_rnn_seq2seq(inputs, inputs, cell, 9, 9, 6)
loss = tf.reduce_mean(tf.square(outputs[0]))
"""


def test_what_fills_a_list_in_front_of_all_its_readers_stays_in_front_of_the_towers() -> None:
    """The towers begin with the cell, which each of them makes, and nothing of theirs reads the list above the loop."""
    training = TRAINING.replace("{X: xs, Y: ys}", "dict(zip(inputs, xs))").replace(", loss", "")
    before, inside, _ = parts(FED + STEP + training)
    assert "inputs.append(tf.placeholder(tf.int32, [None]))" in before
    assert "cell = tf.contrib.rnn.BasicLSTMCell(8)" in inside


def test_what_changes_a_list_that_the_towers_read_above_it_stays_among_them() -> None:
    early = "terms = [0.5]\n" + INPUTS + MODEL + "out = out * terms[0]\nterms.append(2.0)\n"
    _, lines, _ = parts(early + LOSS.replace("decay", "terms[-1]") + STEP + TRAINING)
    assert lines.index("out = out * terms[0]") < lines.index("terms.append(2.0)")


def test_a_list_that_holds_itself_is_given_once() -> None:
    inner = Mapping([(Constant("w"), Constant(1))])
    whole = Sequence([inner, Sequence([Constant(2)], mutable=False), inner], mutable=True)
    whole.elements.append(whole)
    found = list(wholes_in(whole))
    assert found[0] is whole and len(found) == 3 and inner in found
    assert not list(wholes_in(Constant(1)))
