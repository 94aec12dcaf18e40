"""A return between statements of the towers: what stands above it must be there for whoever takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import Conversion, convert
from converter.options import Options
from converter.source import read

MODEL = """\
import tensorflow as tf


class Model(object):
    def __init__(self, training):
        self.x = tf.placeholder(tf.float32, [None, 8])
        self.y = tf.placeholder(tf.int64, [None])
        self.logits = tf.layers.dense(self.x, 3)
        self.predictions = tf.argmax(self.logits, 1)
        if not training:
            return
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.y, self.logits)
        self.train_op = tf.train.AdamOptimizer().minimize(self.loss)
"""
RETURN = "        if not training:\n            return\n"
LOSS = "        self.loss = tf.losses.sparse_softmax_cross_entropy(self.y, self.logits)\n"
BEHIND = MODEL.replace(RETURN, "").replace(LOSS, LOSS + RETURN)
ABOVE = MODEL.replace(RETURN, "").replace("        self.x =", RETURN + "        self.x =")
TRAIN = """\
import tensorflow as tf
from model import Model

tf.app.flags.DEFINE_boolean('train', True, '')
FLAGS = tf.app.flags.FLAGS
batch_size = 16
model = Model({training})
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        x, y = next_batch(batch_size)
        sess.run(model.train_op, {{model.x: x, model.y: y}})
"""
PREDICT = "from model import Model\n\nmodel = Model(False)\nif __name__ == '__main__':\n    print(model.predictions)\n"


def converted(folder: Path, model: str, training: str, **others: str) -> Conversion:
    for name, text in {"model": model, "train": TRAIN.format(training=training), **others}.items():
        (folder / f"{name}.py").write_text(text)
    return convert(read(str(folder / "train.py")), Options(line_length=100), several=True)


def codes(done: Conversion) -> list[str]:
    return [finding.code for finding in done.diagnostics if finding.severity == "error"]


CENTERS = "        centers = tf.get_variable('centers', [8])\n"
MORE = MODEL.replace(LOSS, CENTERS + LOSS.replace("self.logits)", "self.logits + centers)"))
GIVEN = MODEL.replace("training):", "training, y):").replace("tf.placeholder(tf.int64, [None])", "y")
STEP = MODEL.replace(LOSS, "        self.step = tf.Variable(0, trainable=False)\n" + LOSS)
Y = "tf.placeholder(tf.int64, [None])"
INLINE = ["if not training:", "return"]


def lines(done: Conversion) -> list[str]:
    """The lines of the converted model's class."""
    text = next(part.text or "" for part in done.parts if "class Model" in (part.text or ""))
    return [line.strip() for line in text.partition("class Model")[2].splitlines()]


@pytest.mark.parametrize("training", ["FLAGS.train", "input() == 'train'"])
def test_a_flag_may_take_it(training: str, tmp_path: Path) -> None:
    made = lines(converted(tmp_path, MODEL, training))
    assert made.index("if not training:") > made.index("self.predictions = tf.argmax(self.logits, 1)")


def test_another_model_of_the_script_takes_it(tmp_path: Path) -> None:
    """The towers of one call of the function would miss the loss."""
    both = "True)\nwith tf.variable_scope(tf.get_variable_scope(), reuse=True):\n    test = Model(False"
    assert codes(converted(tmp_path, MODEL, both)) == ["TMG210"]


def test_another_script_takes_it(tmp_path: Path) -> None:
    """On one GPU it stays where it was: in front of the loss, behind the predictions."""
    made = lines(converted(tmp_path, MODEL, "True", predict=PREDICT))
    first = made.index("if tower_helpers.towers() == 1:")
    assert made[first + 1 : first + 4] == ["self.predictions = tf.argmax(self.logits, 1)", *INLINE]
    assert made[first + 4].startswith("self.loss = ") and made.count("if not training:") == 2


@pytest.mark.parametrize(
    ("model", "asked"),
    [(MORE, "FLAGS.train"), (STEP, "FLAGS.train"), (GIVEN, f"FLAGS.train, {Y} if FLAGS.train else None")],
    ids=["variables of the loss", "a variable that goes in front of the loop", "labels that may be missing"],
)
def test_what_only_the_training_may_build(model: str, asked: str, tmp_path: Path) -> None:
    assert codes(converted(tmp_path, model, asked)) == ["TMG203"]


DECAYED = """\
        self.loss = self.cost({given})

    def cost(self, labels):
        error = tf.losses.sparse_softmax_cross_entropy(labels, self.logits)
        return error + tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if 'bias' not in v.name])
"""


@pytest.mark.parametrize(
    ("given", "found"), [("self.y", []), ("y", ["TMG203"])], ids=["made by the model", "maybe missing"]
)
def test_a_method_computes_the_loss_of_its_own_names(given: str, found: list[str], tmp_path: Path) -> None:
    """What a method calls `v` or `labels` it was given: only what it was given may be missing."""
    cost, method = DECAYED.format(given=given).split("\n\n")
    model = MODEL.replace("training):", "training, y=None):").replace(LOSS, cost + "\n")
    done = converted(tmp_path, model + "\n" + method, f"FLAGS.train, {Y} if FLAGS.train else None")
    assert codes(done) == found


@pytest.mark.parametrize("model", [MORE, STEP])
def test_another_script_would_get_more_variables(model: str, tmp_path: Path) -> None:
    assert converted(tmp_path, model, "True").status == "converted"
    done = converted(tmp_path, model, "True", predict=PREDICT)
    assert codes(done) == ["TMG263"]
    assert "model.py:10" in done.diagnostics[0].message


@pytest.mark.parametrize("model", [BEHIND, MODEL.replace(RETURN, "")], ids=["behind the loss", "nowhere"])
@pytest.mark.parametrize("training", ["True", "FLAGS.train"])
def test_what_is_built_for_whoever_takes_it(model: str, training: str, tmp_path: Path) -> None:
    done = converted(tmp_path, model, training, predict=PREDICT)
    assert (done.status, codes(done)) == ("converted", [])


def test_nobody_takes_it(tmp_path: Path) -> None:
    assert converted(tmp_path, MODEL, "True").status == "converted"


def test_it_stands_in_front_of_the_model(tmp_path: Path) -> None:
    assert converted(tmp_path, ABOVE, "True", predict=PREDICT).status == "converted"


def test_a_return_of_a_function_inside(tmp_path: Path) -> None:
    inner = MODEL.replace(RETURN, "        def scale(v):\n            return 2 * v\n        self.scale = scale\n")
    assert converted(tmp_path, inner, "FLAGS.train", predict=PREDICT).status == "converted"


TWO_WAYS = """\
import tensorflow as tf

batch_size = 8
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])


def build(inputs, labels=None, size=1):
    w = tf.get_variable('w', [4, 1])
    noise = tf.random_normal([size, 4])
    if labels is not None:
        loss = tf.reduce_mean(tf.square(tf.matmul(inputs + noise, w) - labels))
        return loss
    else:
        return tf.matmul(inputs + noise, w)


loss = build(x, y, batch_size)
train_op = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as sess:
    for step in range(10):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {x: images, y: labels})
"""
PREDICTS = "tf.get_variable_scope().reuse_variables()\nprediction = build(x)\n"
NOISE = "    noise = tf.random_normal([size, 4])\n"
RETURNS = "        return loss\n    else:\n        return tf.matmul(inputs + noise, w)\n"
JOINED = "    else:\n        loss = tf.reduce_sum(w)\n    return loss\n"
COST = "tf.reduce_mean(tf.square(tf.matmul(inputs + noise, w) - labels))"
CALLED = f"        def cost():\n            return {COST}\n        loss = cost()\n"


def towers(folder: Path, text: str) -> list[str]:
    """The script's lines in the towers."""
    (folder / "train.py").write_text(text)
    made = convert(read(str(folder / "train.py")), Options(line_length=100)).text or ""
    loop = made.partition("for gpu in range(")[2].partition(".append(")[0]
    return [line.strip() for line in loop.splitlines() if line in text or line.strip() in text]


@pytest.mark.parametrize("behind", ["", PREDICTS])
def test_a_branch_of_the_towers_returns_the_loss(behind: str, tmp_path: Path) -> None:
    """The loop goes around the call: in the function it would end with the first tower."""
    text = TWO_WAYS.replace("train_op =", behind + "train_op =")
    assert towers(tmp_path, text) == ["loss = build(x, y, batch_size)"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TWO_WAYS.replace(NOISE, "").replace(" + noise", ""), id="all of the towers in the branch"),
        pytest.param(TWO_WAYS.replace(RETURNS, JOINED), id="one return behind the branches"),
        pytest.param(
            TWO_WAYS.replace(RETURNS, JOINED).replace(f"        loss = {COST}\n", CALLED),
            id="a function inside returns",
        ),
    ],
)
def test_no_return_ends_the_towers(text: str, tmp_path: Path) -> None:
    """The loop goes into the function."""
    assert any("labels" in line and "build" not in line for line in towers(tmp_path, text))
