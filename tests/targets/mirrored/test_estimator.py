"""Scripts that an Estimator trains: what of them changes, and what is refused."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from converter.conversion import Conversion, convert
from converter.source import from_bytes
from converter.source.header import from_flags

MODEL = """\
import numpy as np
import tensorflow as tf

batch_size = 8


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 3)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

"""
INPUT = """\

def input_fn():
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(8)


"""
CHECK = """\
if len(tf.config.experimental.list_physical_devices('GPU')) < 2:  # replicas would share a GPU without a word
    raise RuntimeError('this script trains on 2 GPUs')
"""
MADE = CHECK + "strategy = tf.distribute.MirroredStrategy(['/gpu:0', '/gpu:1'])\n"


def conversion(script: str, *flags: str) -> Conversion:
    return convert(from_bytes("train.py", script.encode()), from_flags(flags))


def changed(script: str, *flags: str) -> str:
    """The converted script without its header."""
    made = conversion(script, *flags)
    assert made.text is not None, made.diagnostics
    return "".join(line for line in made.text.splitlines(True) if not line.startswith("# tf-multigpu"))


def findings(script: str, *flags: str) -> list[tuple[str, int]]:
    return [(finding.code, finding.line) for finding in conversion(script, *flags).diagnostics]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("e = tf.estimator.Estimator(model_fn)", "e = tf.estimator.Estimator(model_fn, config={0})"),
        ("e = tf.estimator.Estimator(model_fn, 'm', None)", "e = tf.estimator.Estimator(model_fn, 'm', {0})"),
        (
            "e = tf.estimator.Estimator(model_fn=model_fn,)",
            "e = tf.estimator.Estimator(model_fn=model_fn, config={0})",
        ),
        (
            "e = tf.estimator.Estimator(\n    model_fn,\n    'm')",
            "e = tf.estimator.Estimator(\n    model_fn,\n    'm',\n    config={0})",
        ),
        (
            "e = tf.estimator.Estimator(\n    model_fn,  # mine\n    'm',  # folder\n)",
            "e = tf.estimator.Estimator(\n    model_fn,  # mine\n    'm',\n    config={0},  # folder\n)",
        ),
        (
            "e = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig())",
            "e = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(train_distribute=strategy))",
        ),
        (
            "c = tf.estimator.RunConfig('m').replace(tf_random_seed=1)\ne = tf.estimator.Estimator(model_fn, None, c)",
            "c = tf.estimator.RunConfig('m', train_distribute=strategy).replace(tf_random_seed=1)\n"
            "e = tf.estimator.Estimator(model_fn, None, c)",
        ),
    ],
)
def test_the_configuration_gets_the_strategy(before: str, after: str) -> None:
    train = "\ne.train(input_fn)\n"
    made = after.format("tf.estimator.RunConfig(train_distribute=strategy)")
    assert changed(MODEL + INPUT + before + train) == MODEL + INPUT + MADE + made + train


@pytest.mark.parametrize(
    ("table", "order", "refused"),
    [
        (", partitioner=tf.fixed_size_partitioner(2)", "", True),
        (", partitioner=tf.fixed_size_partitioner(2)", ", partition_strategy='mod'", True),
        (", partitioner=tf.fixed_size_partitioner(2)", ", partition_strategy='div'", False),
        (", partitioner=tf.fixed_size_partitioner(2)", ", 'div'", False),
        (", partitioner=None", "", False),
        ("", "", False),
    ],
)
def test_lookups_in_tables_that_are_cut(table: str, order: str, refused: bool) -> None:
    lookup = f"tf.nn.embedding_lookup(tf.get_variable('table', [9, 3]{table}), features{order})"
    model = MODEL.replace("tf.layers.dense(features, 3)", f"tf.layers.dense({lookup}, 3)")
    script = model + INPUT + "e = tf.estimator.Estimator(model_fn)\ne.train(input_fn)\n"
    assert findings(script) == ([("TMG278", 8)] if refused else [])
    dense = script.replace(lookup, f"tf.get_variable('w', [9, 3]{table}) * features")
    assert findings(dense) == []


@pytest.mark.parametrize(
    ("hook", "refused"),
    [
        ("tf.train.FeedFnHook(lambda: {'rate:0': 0.1})", True),
        ("tf.estimator.FeedFnHook(feed_fn=feed)", True),
        ("Hook(tf.train.SessionRunArgs(None, feed_dict={'rate:0': 0.1}))", True),
        ("Hook(tf.train.SessionRunArgs('loss:0', {'rate:0': 0.1}))", True),
        ("Hook(tf.train.SessionRunArgs('loss:0'))", False),
        ("Hook(tf.train.SessionRunArgs('loss:0', feed_dict=None))", False),
        ("tf.train.LoggingTensorHook(['loss:0'], 10)", False),
    ],
)
def test_hooks_that_feed_reach_one_replica(hook: str, refused: bool) -> None:
    """TensorFlow 1.15.5: the placeholder of the second replica is `replica_1/rate`, and keeps its default."""
    script = MODEL + INPUT + f"e = tf.estimator.Estimator(model_fn)\ne.train(input_fn, hooks=[{hook}])\n"
    assert [code for code, _ in findings(script)] == (["TMG291"] if refused else [])


def test_a_hook_in_a_file_beside_the_script(tmp_path: Path) -> None:
    (tmp_path / "feeding.py").write_text("import tensorflow as tf\n\nhook = tf.train.FeedFnHook(feed)\n")
    script = "from feeding import hook\n" + MODEL + INPUT
    script += "e = tf.estimator.Estimator(model_fn)\ne.train(input_fn, hooks=[hook])\n"
    (tmp_path / "train.py").write_text(script)
    made = convert(from_bytes(str(tmp_path / "train.py"), script.encode()), from_flags(()))
    assert [(f.code, f.path) for f in made.diagnostics] == [("TMG291", str(tmp_path / "feeding.py"))]


PACKAGE_STEP = "e = tf.estimator.Estimator({})\ne.train(input_fn)\n"


@pytest.mark.parametrize(
    ("imported", "name", "codes"),
    [
        ("from pkg.nets import model_fn", "model_fn", []),
        ("import pkg.nets as nets", "nets.model_fn", []),
        ("from .nets import model_fn", "model_fn", []),
        ("from . import nets", "nets.model_fn", []),
        ("from ..pkg.nets import model_fn as fn", "fn", []),
        ("from pkg.other import model_fn", "model_fn", ["TMG282"]),
        ("from .other import model_fn", "model_fn", ["TMG282"]),
        ("from ..nets import model_fn", "model_fn", ["TMG282"]),
        ("from .nets import nothing", "nothing", ["TMG282"]),
    ],
)
def test_a_model_function_in_the_package_of_a_script(
    tmp_path: Path, imported: str, name: str, codes: list[str]
) -> None:
    """`python -m pkg.train` finds it: from the folder above, or as a neighbour in the package."""
    folder = tmp_path / "pkg"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    script = f"import tensorflow as tf\n{imported}\n" + INPUT + PACKAGE_STEP.format(name)
    (folder / "nets.py").write_text(MODEL)
    made = convert(from_bytes(str(folder / "train.py"), script.encode()), from_flags(()))
    assert [f.code for f in made.diagnostics] == codes
    losses = MODEL.replace("    return", "    loss += tf.losses.get_total_loss()\n    return")
    assert losses != MODEL
    (folder / "nets.py").write_text(losses)
    made = convert(from_bytes(str(folder / "train.py"), script.encode()), from_flags(()))
    assert [(f.code, Path(f.path).name) for f in made.diagnostics] == (
        [("TMG282", "train.py")] if codes else [("TMG283", "nets.py")]
    )


OTHER_FILE = {
    "data/__init__.py": "",
    "data/digits.py": """\
import tensorflow as tf


def of_folder(folder):
    return tf.data.TFRecordDataset(folder + '/digits').map(tf.parse_tensor)
""",
    "data/inputs.py": """\
import tensorflow as tf
import data.digits as digits
from data.digits import *


def of_files(*names):
    return names


def whole(folder):
    return prepared(digits.of_folder(folder))


def by_star(folder):
    both = of_folder(folder).repeat()
    return both.batch(8)


def prepared(given):
    return given.shuffle(100).batch(8)


def taken(folder):
    return whole(folder).make_one_shot_iterator().get_next()


def make(folder):
    def input_fn():
        return whole(folder)
    return input_fn


def nothing(folder):
    whole(folder)


def counted(batch_size):
    return whole('a').take(60000 // batch_size)
""",
}
NO_DATASET = "this input function does not return a dataset"
UNSEEN = "the code of this input function is not seen"


@pytest.mark.parametrize(
    ("imported", "given", "said"),
    [
        ("import data.inputs", "lambda: data.inputs.whole('a')", []),
        ("from data import inputs", "lambda: inputs.whole('a')", []),
        ("from data.inputs import whole", "lambda: whole('a')", []),
        ("from data.inputs import *", "lambda: whole('a')", []),
        ("from data.inputs import whole as fn", "functools.partial(fn, 'a')", []),
        ("from data.inputs import by_star", "lambda: by_star('a')", []),
        ("from data.inputs import make", "make('a')", []),
        ("from data.inputs import prepared", "lambda: prepared(tf.data.TextLineDataset('a'))", []),
        ("from data.inputs import prepared", "lambda: prepared(['a'])", [NO_DATASET]),
        (
            "from data.inputs import taken",
            "lambda: taken('a')",
            ["this input function returns the tensors of an iterator, and stands in another file"],
        ),
        ("from data.inputs import nothing", "lambda: nothing('a')", ["this input function returns nothing"]),
        (
            "from data.inputs import counted",
            "lambda: counted(8)",
            ["this number may count batches, of which a step takes one for each GPU"],
        ),
        ("from data import inputs", "inputs.of_files", [NO_DATASET]),
        ("from data import inputs", "lambda: inputs.of_files('x')", [NO_DATASET]),
        ("from data import inputs", "lambda: inputs.absent('x')", [UNSEEN]),
        ("from data.inputs import *", "lambda: absent('x')", [NO_DATASET]),
        ("import absent", "lambda: absent.of_files('x')", [UNSEEN]),
        ("import absent", "absent.of_files", [UNSEEN]),
        ("import absent", "lambda: tf.train.batch([x], 8)", [NO_DATASET]),
        ("import absent", "lambda: (x, y)", [NO_DATASET]),
    ],
)
def test_an_input_function_of_another_file(tmp_path: Path, imported: str, given: str, said: list[str]) -> None:
    (tmp_path / "data").mkdir()
    for name, text in OTHER_FILE.items():
        (tmp_path / name).write_text(text)
    script = f"import functools\n{imported}\nimport tensorflow as tf\n" + MODEL
    script += f"e = tf.estimator.Estimator(model_fn)\ne.train({given})\n"
    made = convert(from_bytes(str(tmp_path / "train.py"), script.encode()), from_flags(()))
    assert [f.message for f in made.diagnostics] == said
    assert {f.code for f in made.diagnostics} <= {"TMG281", "TMG384"}
    if not said:
        total = convert(from_bytes(str(tmp_path / "train.py"), script.encode()), from_flags(("--batch", "total")))
        assert [f.code for f in total.diagnostics] == ["TMG288"]


def test_several_gpus_and_all() -> None:
    script = MODEL + INPUT + "e = tf.estimator.Estimator(model_fn)\ne.train(input_fn)\n"
    assert "\nstrategy = tf.distribute.MirroredStrategy()\n" in changed(script, "--num-gpus", "auto")
    assert "MirroredStrategy(['/gpu:%d' % gpu for gpu in range(8)])\n" in changed(script, "--num-gpus", "8")
    made = changed(script, "--fewer-gpus", "allow")
    assert made == changed(script).replace(CHECK, "")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("data.batch(8).make_one_shot_iterator().get_next()", "data.batch(8)"),
        ("tf.data.make_one_shot_iterator(data).get_next()", "data"),
    ],
)
def test_an_iterator_goes(before: str, after: str) -> None:
    script = (
        MODEL + "\ndef input_fn():\n    data = tf.data.Dataset.from_tensor_slices((x, y))\n    return {0}\n\n\n{1}"
        "e = tf.estimator.Estimator(model_fn{2})\ne.train(input_fn)\n"
    )
    config = ", config=tf.estimator.RunConfig(train_distribute=strategy)"
    assert changed(script.format(before, "", "")) == script.format(after, MADE, config)


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("a, b = it.get_next()\nreturn a, b", "return data"),
        ("a, b = it.get_next()\nreturn (a, b)", "return data"),
        ("both = it.get_next()\nreturn both", "return data"),
        ("a, b = it.get_next()\nreturn {'x': a}, b", "return data.map(lambda a, b: ({'x': a}, b))"),
        ("r = it.get_next()\nreturn r['a'], r['b']", "return data.map(lambda r: (r['a'], r['b']))"),
        ("r = it.get_next()\nreturn r[1], r[0]", "return data.map(lambda *r: (r[1], r[0]))"),
    ],
)
def test_what_an_iterator_gives_is_mapped(body: str, after: str) -> None:
    head = MODEL + "\ndef input_fn():\n    data = tf.data.TFRecordDataset('f').batch(8)\n"
    tail = "\n\ne = tf.estimator.Estimator(model_fn)\ne.train(input_fn)\n"
    script = f"{head}    it = data.make_one_shot_iterator()\n{textwrap.indent(body, '    ')}\n{tail}"
    assert changed(script).startswith(f"{head}    {after}\n\n\nif len(")


@pytest.mark.parametrize(
    "body",
    [
        "a, b = it.get_next()\na = a / 255\nreturn a, b",  # work on the tensors
        "a, b = it.get_next()\ndata = data.skip(1)\nreturn a, b",  # another dataset of the name
        "a, b = it.get_next()\ntf.add_to_collection('i', it.initializer)\nreturn a, b",
        "return tf.train.batch([x, y], 8)",  # a queue
        "if fast:\n    return data\nreturn it.get_next()",
        "r = it.get_next()\nreturn r",
    ],
)
def test_tensors_that_cannot_become_a_dataset_are_refused(body: str) -> None:
    head = MODEL + "\ndef input_fn():\n    data = tf.data.TFRecordDataset('f').batch(8)\n"
    tail = "\n\ne = tf.estimator.Estimator(model_fn)\ne.train(input_fn)\n"
    script = f"{head}    it = data.make_one_shot_iterator()\n{textwrap.indent(body, '    ')}\n{tail}"
    if body.endswith("return r"):  # the near miss
        assert findings(script) == []
    else:
        assert {code for code, _ in findings(script)} == {"TMG281"}


def test_input_functions_are_found() -> None:
    made = "e = tf.estimator.Estimator(model_fn)\n"
    for given in ("lambda: input_fn()", "functools.partial(input_fn)", "input_fn=input_fn", "make()"):
        script = MODEL + INPUT + f"def make():\n    return lambda: input_fn()\n\n\n{made}e.train({given})\n"
        script = script.replace("import numpy", "import functools\nimport numpy", 1)
        assert findings(script) == [], given
    for given in ("other.input_fn", "inputs[0]"):
        assert [code for code, _ in findings(MODEL + INPUT + made + f"e.train({given})\n")] == ["TMG281"]


def test_train_and_evaluate() -> None:
    script = (
        MODEL + INPUT + "{0}e = tf.estimator.Estimator(model_fn{1})\n"
        "tf.estimator.train_and_evaluate(e, tf.estimator.TrainSpec(input_fn, max_steps=80 // {2}),\n"
        "                                tf.estimator.EvalSpec(lambda: other_input_fn(), 80 // batch_size))\n"
    )
    config = ", config=tf.estimator.RunConfig(train_distribute=strategy)"
    assert changed(script.format("", "", "batch_size")) == script.format(MADE, config, "(batch_size * 2)")


def test_numbers_of_steps() -> None:
    made = "e = tf.estimator.Estimator(model_fn)\ne.train(input_fn, steps={0})\n"
    assert findings(MODEL + INPUT + made.format("100")) == []
    assert findings(MODEL + INPUT + made.format("epochs * 80 // batch_size")) == []
    assert findings(MODEL + INPUT + made.format("80 // 8")) == [("TMG384", 19)]
    assert findings(MODEL + INPUT + made.format("80 // batch_size"), "--num-gpus", "auto") == [("TMG384", 19)]
    evaluated = "e.evaluate(input_fn, steps=80 // batch_size)\nn = 80 // batch_size\n"
    evaluated += "last = n\ne.evaluate(input_fn, last)\n"
    text = changed(MODEL + INPUT + made.format("80 // batch_size") + evaluated)
    assert text.endswith(f"steps=80 // (batch_size * 2))\n{evaluated}")
    both = "n = 80 // batch_size\ne.evaluate(input_fn, steps=n)\n"
    assert findings(MODEL + INPUT + both + made.format("n")) == [("TMG384", 18)]
    inside = MODEL.replace("features, 3)", "features, 3) / batch_size")
    text = changed(inside + INPUT + made.format("80 // batch_size"))
    assert text.count("/ batch_size\n") == 1 and text.count("// (batch_size * 2))\n") == 1


def test_the_total_batch() -> None:
    script = MODEL + INPUT + "e = tf.estimator.Estimator(model_fn)\ne.train(input_fn, steps=80 // batch_size)\n"
    made = changed(script, "--batch", "total")
    assert ".batch(8 // 2)\n" in made and "steps=80 // batch_size)" in made
    assert findings(script, "--batch", "total", "--num-gpus", "3") == [("TMG288", 15)]
    assert [code for code, _ in findings(script, "--batch", "total", "--num-gpus", "auto")] == ["TMG288"]
    summed = script.replace(
        "loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)", "loss = tf.reduce_sum(logits)"
    )
    assert findings(summed, "--batch", "total") == [("TMG288", 9)]
    assert findings(summed) == [("TMG374", 9)]  # the mean of the sums
    library = script.replace("(labels, logits)", "(labels, logits, reduction=tf.losses.Reduction.SUM)")
    assert findings(library) == [("TMG288", 9)]  # the sum of the sums
    assert findings(library, "--batch", "total") == []
    beside = script.replace("(labels, logits)", "(labels, logits)\n    loss += tf.nn.l2_loss(logits)", 1)
    mixed = beside.replace("(labels, logits)", "(labels, logits, reduction=tf.losses.Reduction.SUM)")
    assert findings(mixed) == [("TMG288", 9)]
    assert [code for code, _ in findings(mixed, "--batch", "total")] == ["TMG288"]
    assert findings(script) == []


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("loss += tf.losses.get_regularization_loss()", "TMG283"),
        ("loss += tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))", "TMG283"),
        ("loss = tf.losses.get_total_loss()", "TMG283"),
        ("loss = tf.add_n(tf.get_collection('losses'))", "TMG283"),
        ("loss += tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])", ""),
        ("updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)", ""),
        ("g, _ = tf.clip_by_global_norm(tf.gradients(loss, v), 5.)", "TMG284"),
        ("g = [tf.clip_by_value(g, -1., 1.) for g in tf.gradients(loss, v)]", "TMG284"),
        ("op = optimizer.apply_gradients(zip(tf.gradients(loss, v), v))", "TMG284"),
        ("op = optimizer.apply_gradients([(2. * g, v) for g, v in zip(tf.gradients(loss, v), v)])", "TMG284"),
        ("g = tf.gradients(loss, v); op = optimizer.apply_gradients(list(zip(g, v)))", "TMG284"),
        ("op = optimizer.apply_gradients(optimizer.compute_gradients(loss + tf.gradients(loss, v)[0]))", ""),
        ("loss += tf.reduce_mean(tf.gradients(logits, features)[0])", ""),
        ("probability = tf.clip_by_value(tf.nn.softmax(logits), 1e-8, 1.)", ""),
        ("op = tf.contrib.layers.optimize_loss(loss, s, 0.1, 'SGD', clip_gradients=5.)", "TMG284"),
        ("op = tf.contrib.layers.optimize_loss(loss, s, 0.1, 'SGD', clip_gradients=None)", ""),
        ("count = tf.assign_add(seen, 1)", "TMG285"),
        ("count = seen.assign_add(1)", "TMG285"),
        ("count = tf.train.get_or_create_global_step().assign_add(1)", ""),
        ("step = tf.train.get_global_step(); count = step.assign(step + 1)", ""),
        ("ema = tf.train.ExponentialMovingAverage(0.9).apply()", "TMG285"),
        ("logits = features.apply(tf.nn.relu)", ""),
        ("with tf.device('/gpu:0'): pass", "TMG286"),
        ("with tf.device('/cpu:0'): pass", ""),
    ],
)
def test_what_a_model_function_may_not_do(line: str, code: str) -> None:
    model = MODEL.replace("    train_op", f"    {line}\n    train_op", 1)
    script = model + INPUT + "e = tf.estimator.Estimator(model_fn)\ne.train(input_fn)\n"
    assert findings(script) == ([(code, 10)] if code else [])


OPTIMIZING = """\
import tensorflow as tf


def clipped(gradients):
    return tf.clip_by_global_norm(gradients, 1.0)[0]


def train(loss, own):
    variables = tf.trainable_variables()
    optimizer = Own() if own else tf.train.AdamOptimizer()
    return optimizer.apply_gradients(optimizer.compute_gradients(loss))


class Own(tf.train.Optimizer):
    def __init__(self):
        super(Own, self).__init__(False, 'own')

    def apply_gradients(self, pairs, global_step=None, name=None):
        return tf.group(*[v.assign(v - 0.1 * g) for g, v in pairs])

    def unused(self, v):
        return tf.losses.get_total_loss()
"""


LATER = ("def apply_gradients", "def apply_later")  # no method of that name runs


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([], [("TMG285", 18)]),
        ([("optimizer.compute_gradients(loss)", "zip(tf.gradients(loss, variables), variables)")], [("TMG285", 18)]),
        ([("tf.group(*[v.assign(v - 0.1 * g) for g, v in pairs])", "super(Own, self).apply_gradients(pairs)")], []),
        ([LATER], []),
        ([LATER, ("optimizer.compute_gradients(loss)", "clipped(optimizer.compute_gradients(loss))")], [("TMG284", 5)]),
        (
            [LATER, ("optimizer.compute_gradients(loss)", "zip(tf.gradients(loss, variables), variables)")],
            [("TMG284", 11)],
        ),
    ],
)
def test_the_training_step_of_another_file_is_read(
    tmp_path: Path, changes: list[tuple[str, str]], said: list[tuple[str, int]]
) -> None:
    text = OPTIMIZING
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "optimizing.py").write_text(text)
    step = "tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())"
    script = "import optimizing\n" + MODEL.replace(step, "optimizing.train(loss, True)") + INPUT + TRAIN
    source = from_bytes(str(tmp_path / "train.py"), script.encode())
    made = convert(source, from_flags(())).diagnostics
    assert [(d.code, d.path, d.line) for d in made] == [(c, str(tmp_path / "optimizing.py"), n) for c, n in said]
    assert convert(source, from_flags(("--target", "cluster"))).status == "converted"


def test_gradients_of_a_penalty_are_others_than_those_applied() -> None:
    penalty = "def penalty(x, y):\n    gradients = tf.gradients(y, x)[0]\n    return tf.reduce_mean(gradients)\n\n\n"
    step = "tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())"
    taken = "optimizer.compute_gradients(loss + penalty(features, logits))"
    applied = (
        f"None\n    gradients, names = zip(*{taken})\n    train_op = optimizer.apply_gradients(zip(gradients, names))"
    )
    script = MODEL.replace(step, applied) + penalty + INPUT + TRAIN
    assert findings(script) == []
    assert findings(script.replace(f"zip(*{taken})", "tf.gradients(loss, v), v")) == [("TMG284", 12)]


def test_functions_that_the_model_does_not_call_may_do_it() -> None:
    other = "def other(loss):\n    return tf.losses.get_total_loss()\n\n\n"
    script = MODEL + INPUT + other + "e = tf.estimator.Estimator(model_fn)\ne.train(input_fn)\n"
    assert findings(script) == []
    called = script.replace("loss = tf.losses.sparse", "loss = other(0) + tf.losses.sparse")
    assert findings(called) == [("TMG283", 19)]


def test_the_model_function_of_another_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        MODEL.replace("    train_op", "    loss += tf.losses.get_total_loss()\n    train_op")
    )
    script = "import tensorflow as tf\nfrom net import model_fn\n" + INPUT
    script += "e = tf.estimator.Estimator(model_fn)\ne.train(input_fn)\n"
    source = from_bytes(str(tmp_path / "train.py"), script.encode())
    (finding,) = convert(source, from_flags(())).diagnostics
    assert (finding.code, finding.path, finding.line) == ("TMG283", str(tmp_path / "net.py"), 10)
    (tmp_path / "net.py").write_text(MODEL)
    assert convert(source, from_flags(())).status == "converted"
    (tmp_path / "net.py").unlink()
    assert [d.code for d in convert(source, from_flags(())).diagnostics] == ["TMG282"]


@pytest.mark.parametrize(
    ("made", "code"),
    [
        ("tf.estimator.LinearClassifier(columns)", "TMG282"),
        ("tf.contrib.learn.Estimator(model_fn)", "TMG282"),
        ("tf.estimator.Estimator(**arguments)", "TMG282"),
        ("tf.estimator.Estimator(model_fn, config=config_of(1))", "TMG282"),
        ("tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(train_distribute=s))", "TMG216"),
        ("tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(session_config=session))", "TMG286"),
        (
            "tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig().replace(session_config=session))",
            "TMG286",
        ),
        ("tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig().replace(**more))", "TMG282"),
        ("tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig().replace(train_distribute=s))", "TMG216"),
    ],
)
def test_estimators_that_take_no_strategy(made: str, code: str) -> None:
    session = "session = tf.ConfigProto(device_count={'GPU': 1})\n" if "=session" in made else ""
    script = MODEL + INPUT + session + f"e = {made}\ne.train(input_fn)\n"
    assert [found for found, _ in findings(script)] == [code]


def test_machines_that_the_script_names() -> None:
    train = "e = tf.estimator.Estimator(model_fn)\ne.train(input_fn)\n"
    for line, found in (
        ("os.environ['TF_CONFIG'] = '{}'\n", [("TMG217", 14)]),
        ("print(os.environ.get('TF_CONFIG'))\n", []),
        ("os.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'\n", []),
    ):
        assert findings("import os\n" + MODEL + line + INPUT + train) == found


def test_several_faults_are_told_in_the_order_of_their_lines() -> None:
    model = MODEL.replace(
        "    train_op", "    loss += tf.losses.get_total_loss()\n    n = tf.assign(a, b)\n    train_op", 1
    )
    script = model + "e = tf.estimator.Estimator(model_fn)\ne.train(tensors)\n"
    assert findings(script) == [("TMG283", 10), ("TMG285", 11), ("TMG281", 16)]


def test_scripts_that_train_in_sessions_are_for_towers() -> None:
    script = (
        MODEL
        + INPUT
        + "e = tf.estimator.Estimator(model_fn)\ne.train(input_fn)\nwith tf.Session() as sess:\n    pass\n"
    )
    assert [code for code, _ in findings(script)] == ["TMG220"]


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_line_ends_and_tabs_stay(end: str) -> None:
    script = (MODEL + INPUT + "def main():\n    e = tf.estimator.Estimator(model_fn)\n    e.train(input_fn)\n").replace(
        "    ", "\t"
    )
    text = changed(script.replace("\n", end))
    assert text.count(end) == text.count("\n")
    assert f"{end}\tif len(tf.config" in text and f"{end}\t\traise RuntimeError(" in text
    assert f"{end}\te = tf.estimator.Estimator(model_fn, config=" in text


LOSS = "loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)"
RATE = "    rate = tf.train.exponential_decay(0.1, tf.train.get_global_step(), {0}, 0.9)\n"
TRAIN = "e = tf.estimator.Estimator(model_fn)\ne.train(input_fn)\n"


@pytest.mark.parametrize(
    ("loss", "codes"),
    [
        (LOSS, []),
        ("loss = tf.reduce_mean(tf.square(logits - labels))", []),
        ("loss = 0.5 * tf.reduce_mean(tf.square(logits)) + params['l2'] * tf.reduce_mean(logits)", []),
        (LOSS + "\n    loss = loss + tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])", []),
        (LOSS + "\n    loss += 0.1 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])", []),
        ("loss = tf.add_n([tf.reduce_mean(logits), tf.reduce_mean(labels)])", []),
        ("loss = tf.reduce_mean(tf.reduce_sum(tf.square(logits), 1))", []),
        ("loss = mean_of(logits)", []),
        ("loss = tf.nn.l2_loss(logits)", ["TMG288"]),
        ("loss = tf.reduce_sum(tf.square(logits)) / 8.", ["TMG288"]),
        ("loss = tf.reduce_mean(logits) + tf.nn.l2_loss(logits)", ["TMG288"]),
        ("loss = tf.sqrt(tf.reduce_mean(tf.square(logits)))", ["TMG288"]),
        ("loss = tf.reduce_sum(logits * labels) / tf.reduce_sum(labels)", ["TMG288"]),
        ("loss = tf.reduce_mean(tf.boolean_mask(logits, labels > 0))", ["TMG288"]),
        ("loss = tf.losses.mean_squared_error(labels, logits, weights=mask)", ["TMG288"]),
        ("loss = tf.losses.mean_squared_error(labels, logits, reduction=tf.losses.Reduction.MEAN)", []),
        ("loss = unknown(logits)", ["TMG288"]),
        ("logits = tf.reshape(logits, [batch_size, 3])\n    " + LOSS, ["TMG288"]),
        ("size = tf.shape(logits)[0]\n    logits = tf.reshape(logits, [size, 3])\n    " + LOSS, []),
        ("logits = tf.layers.batch_normalization(logits)\n    " + LOSS, ["TMG381"]),
    ],
)
def test_losses_of_a_part_of_the_batch(loss: str, codes: list[str]) -> None:
    function = "\n\ndef mean_of(x):\n    return tf.reduce_mean(x)\n"
    script = MODEL.replace(LOSS, loss) + function + INPUT + TRAIN
    assert [code for code, _ in findings(script, "--batch", "total")] == codes
    assert "TMG288" not in [code for code, _ in findings(script)]  # the mean of the GPUs' losses, each of a whole batch


PAIRS = "loss = tf.reduce_mean(tf.matmul({0}))"


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (PAIRS.format("logits, tf.transpose(logits)"), True),
        ("turned = tf.transpose(logits)\n    " + PAIRS.format("logits, turned"), True),
        ("loss = tf.contrib.losses.metric_learning.triplet_semihard_loss(labels, logits)", True),
        (PAIRS.format("logits, tf.transpose(other)"), False),
        (PAIRS.format("logits, tf.transpose(logits, [0, 2, 1])"), False),  # of each example
        (PAIRS.format("tf.transpose(logits), logits"), False),  # sums over the examples
        (PAIRS.format("logits, weights"), False),
    ],
)
def test_losses_over_pairs_of_the_batch(loss: str, said: bool) -> None:
    script = MODEL.replace(LOSS, loss) + INPUT + TRAIN
    assert ("TMG302" in [code for code, _ in findings(script)]) is said
    refused = [f.message for f in conversion(script, "--batch", "total").diagnostics if f.code == "TMG288"]
    assert any("compared with each other" in message for message in refused) is said


def test_losses_over_pairs_in_another_file(tmp_path: Path) -> None:
    pairs = (
        "import tensorflow as tf\n\n\ndef distances(x):\n    return {0}\n\n\ndef pairs(x):\n    return distances(x)\n"
    )
    script = "from losses import pairs\n" + MODEL.replace(LOSS, "loss = tf.reduce_mean(pairs(logits))") + INPUT + TRAIN
    (tmp_path / "train.py").write_text(script)
    for made, codes in (("tf.matmul(x, tf.transpose(x))", ["TMG302"]), ("tf.square(x)", [])):
        (tmp_path / "losses.py").write_text(pairs.format(made))
        done = convert(from_bytes(str(tmp_path / "train.py"), script.encode()), from_flags(()))
        place = str(tmp_path / "losses.py")
        assert [(d.code, d.path, d.line) for d in done.diagnostics] == [(code, place, 5) for code in codes]


def test_sums_of_canned_estimators_and_batches_that_are_counted() -> None:
    canned = "e = tf.estimator.DNNClassifier([8], columns{0})\ne.train(input_fn)\n"
    mean = ", loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE"
    assert [code for code, _ in findings(MODEL + INPUT + canned.format(""), "--batch", "total")] == ["TMG383"]
    assert [code for code, _ in findings(MODEL + INPUT + canned.format(mean), "--batch", "total")] == ["TMG383"]
    assert [code for code, _ in findings(MODEL + INPUT + canned.format(""))] == ["TMG288"]
    assert [code for code, _ in findings(MODEL + INPUT + canned.format(mean))] == ["TMG383"]
    other = MODEL + INPUT + canned.format(", loss_reduction=reduction")
    assert [code for code, _ in findings(other, "--batch", "total")] == ["TMG288"]
    taken = MODEL + INPUT.replace(".batch(8)", ".batch(8).take(5)") + TRAIN
    assert [code for code, _ in findings(taken, "--batch", "total")] == ["TMG288"]
    assert findings(taken) == []
    before = MODEL + INPUT.replace(".batch(8)", ".take(5).batch(8)") + TRAIN
    assert findings(before, "--batch", "total") == []


@pytest.mark.parametrize(
    ("head", "steps", "after"),
    [
        ("", "80 // batch_size", "80 // (batch_size * 2)"),
        ("", "int(len(x) / batch_size)", "int(len(x) / (batch_size * 2))"),
        ("", "1000", "1000"),
        ("steps = len(x) / batch_size\n", "steps", "steps"),
    ],
)
def test_a_schedule_inside_the_model_counts_batches(head: str, steps: str, after: str) -> None:
    script = MODEL.replace("    train_op", RATE.format(steps) + "    train_op")
    script = script.replace("batch_size = 8\n", "batch_size = 8\n" + head)
    made = changed(script + INPUT + TRAIN)
    assert RATE.format(after) in made
    assert head.replace("batch_size", "(batch_size * 2)") in made
    assert RATE.format(steps) in changed(script + INPUT + TRAIN, "--batch", "total")


@pytest.mark.parametrize(
    ("head", "loss"),
    [
        ("", "tf.reduce_sum(tf.square(logits)) / batch_size"),
        ("", "1. / batch_size * tf.reduce_sum(tf.square(logits))"),
        ("scale = 1.0 / batch_size\n", "scale * tf.reduce_sum(tf.square(logits))"),
    ],
)
def test_a_mean_that_the_model_takes_stays(head: str, loss: str) -> None:
    script = MODEL.replace(LOSS, "loss = " + loss).replace("batch_size = 8\n", "batch_size = 8\n" + head)
    made = changed(script + INPUT + TRAIN)
    assert loss in made and head in made


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("os.environ['CUDA_VISIBLE_DEVICES'] = '0'", ["TMG286"]),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = '2,3'", []),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = args.gpu", []),  # counted when it runs
        ("os.environ.setdefault('CUDA_VISIBLE_DEVICES', '1')", ["TMG286"]),
        ("os.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'", []),
        ("session.gpu_options.visible_device_list = '0'", ["TMG286"]),
        ("session.gpu_options.visible_device_list = '0,1'", []),
        ("session.gpu_options.visible_device_list = chosen", ["TMG286"]),
        ("options = tf.GPUOptions(visible_device_list='0', allow_growth=True)", ["TMG286"]),
        ("options = tf.GPUOptions(allow_growth=True)", []),
        ("session = tf.ConfigProto(device_count={'GPU': 1})", ["TMG286"]),
        ("session = tf.ConfigProto(device_count={'CPU': 1, 'GPU': 4})", []),
        ("tf.config.experimental.set_visible_devices(gpus[0], 'GPU')", ["TMG286"]),
    ],
)
def test_gpus_that_are_hidden(line: str, codes: list[str]) -> None:
    assert [code for code, _ in findings("import os\n" + MODEL + line + "\n" + INPUT + TRAIN)] == codes
    assert findings("import os\n" + MODEL + line + "\n" + INPUT + TRAIN, "--num-gpus", "1") == []


def test_an_input_function_whose_name_is_bound_again() -> None:
    arrays = "fn = tf.estimator.inputs.numpy_input_fn(x, y, {0}, shuffle=True)\n"
    made, trained = "e = tf.estimator.Estimator(model_fn)\n", "e.train(fn, steps=9)\n"
    script = MODEL + made + arrays.format(8) + trained + arrays.format(100) + "e.evaluate(fn)\n"
    text = changed(script)
    assert "fn = numpy_dataset_fn(x, y, 8, shuffle=True)\n" in text
    assert arrays.format(100) + "e.evaluate(fn)\n" in text
    chosen = arrays.format(8) + "if small:\n    " + arrays.format(2) + trained
    assert [code for code, _ in findings(MODEL + made + chosen)] == ["TMG281"]
    inside = "for fn in (one, two):\n    " + trained
    assert [code for code, _ in findings(MODEL + made + arrays.format(8) + inside)] == ["TMG281"]


# --- Sessions beside the Estimator -------------------------------------------------------------------

SLIM = """\

def slim(path):
    sess = tf.Session()
    saver = tf.train.import_meta_graph(path + '.meta')
    saver.restore(sess, path)
    {more}

"""
TRAINED = "tf.estimator.Estimator(model_fn).train(input_fn, steps=20)\n"


@pytest.mark.parametrize("more", ["tf.train.Saver().save(sess, 'slim.ckpt')", "sess.close()"])
def test_a_session_that_only_rewrites_checkpoints_is_no_training(more: str) -> None:
    text = changed(MODEL + SLIM.format(more=more) + INPUT + TRAINED)
    assert MADE in text and "    sess = tf.Session()\n" in text


@pytest.mark.parametrize(
    "more",
    ["sess.run(tf.get_default_graph().get_operation_by_name('train'))", "return sess", "train(sess)", "x = sess.graph"],
)
def test_a_session_that_may_train_is_asked_about(more: str) -> None:
    done = conversion(MODEL + SLIM.format(more=more) + INPUT + TRAINED)
    assert done.status == "refused" and "mirrored" not in (done.text or "")


def test_a_session_of_the_module_may_be_used_anywhere() -> None:
    at_top = "sess = tf.Session()\ntf.train.Saver().restore(sess, 'slim.ckpt')\n"
    assert conversion(MODEL + INPUT + at_top + TRAINED).status == "refused"
