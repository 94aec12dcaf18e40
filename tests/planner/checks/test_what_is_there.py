"""A script without a training step, or whose training step has no batch, is told what it has instead."""

from __future__ import annotations

import pytest

from tests.scripts import STEP, run

TF = "import tensorflow as tf\n"
RUN = "with tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n    sess.run({})\n"
LAYER = "x = tf.placeholder(tf.float32, [None, 4])\nout = tf.layers.dense(x, 1)\n"


def said(text: str) -> tuple[str, int, str]:
    """The code, the line and the message of the one refusal."""
    (found,) = run(text).diagnostics
    return found.code, found.line, found.message


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("# unlike tensorflow\nimport theano\nx = theano.shared(1)\n", 2, "this script computes with Theano, and does"),
        ("# tensorflow\nimport numpy\nimport mxnet as mx\n", 3, "this script computes with MXNet"),
        (TF + "import theano\n" + LAYER, 0, "no training step was found: nothing is minimised here"),
        (
            TF + LAYER + "tf.train.Saver().restore(tf.Session(), 'a.ckpt')\n" + RUN.format("out"),
            4,
            "no training step was found: tf.train.Saver().restore() reads a model that was trained elsewhere",
        ),
        (TF + LAYER + RUN.format("out"), 5, "no training step was found: the operations that are run here are eval"),
        (
            TF + "A = 3\n\n\ndef net(x):\n    return tf.layers.dense(x, A)\n\n\nclass Model(object):\n    pass\n",
            0,
            "no training step was found: this file only defines net, Model, and minimises nothing",
        ),
        (
            TF + "from nets import *\nmodel = Model(3)\nmodel.train(tf.Session())\n",
            4,
            "no training step was found: model.train(), which may train, is not followed",
        ),
        (  # what is put into the parameter is computed from it: no way back leads to an end
            TF + "def fit(params):\n    params['parts'] = params.get('pieces')\n    params.train()\n",
            4,
            "no training step was found: params.train(), which may train, is not followed",
        ),
        (
            TF + "import sys\nnets = __import__(sys.argv[1])\nmodel = nets.Model(3)\nmodel.train()\n",
            3,
            "no training step was found: model.train() is code of the module that is imported here by a name",
        ),
        (
            TF + "import nets\nmodel = getattr(nets, input())(3)\nmodel.train()\n",
            3,
            "no training step was found: model.train() is code of the class that is looked up here by a name",
        ),
        (  # the method's name tells of a saved model, but its class may as well minimise
            TF + "import nets\nmodel = getattr(nets, input())(3)\nmodel.load_model('x')\nmodel.step()\n",
            3,
            "no training step was found: getattr(nets, input())() is code of the class that is looked up here",
        ),
        (
            TF + "import sys\nmodel = __import__(sys.argv[1]).Net()\nread = tf.Summary()\nread.ParseFromString(b'')\n",
            3,
            "no training step was found: __import__(sys.argv[1]).Net() is code of the module that is imported here",
        ),
        (  # a near miss: all of its code is here
            TF + "import nets\ngraph = tf.GraphDef()\ngraph.ParseFromString(open('x.pb').read())\n",
            4,
            "no training step was found: graph.ParseFromString() reads a model that was trained elsewhere",
        ),
        (
            TF + "import tflearn\nnet = tflearn.input_data([None, 4])\nmodel = tflearn.DNN(net)\nmodel.fit(xs, ys)\n",
            5,
            "no training step was found: model.fit() of the package tflearn, which may train, is not followed",
        ),
        (
            TF + "import nets\nrate = nets.LearningRate()\nnets.trainable(tf.zeros([3]))\n",
            0,
            "no training step was found: nothing is minimised here",
        ),
        (
            TF + "from tensorflow.examples.tutorials.mnist import mnist\n" + LAYER + "step = mnist.training(out, 0.1)\n"
            "sess = tf.Session()\nsess.run(step)\n",
            7,
            "no training step was found: what is run here comes from tensorflow.examples.tutorials.mnist.mnist",
        ),
    ],
)
def test_a_script_without_a_training_step(text: str, line: int, message: str) -> None:
    code, at, found = said(text)
    assert (code, at, found[: len(message)]) == ("TMG201", line, message)


def test_where_code_that_may_train_can_come_from() -> None:
    (found,) = run(TF + "from nets import *\nModel(3).train(tf.Session())\n").diagnostics
    assert found.hint.startswith("put the modules that are imported with a star, nets (line 2), beside the script")


WEIGHT = "w = tf.get_variable('w', [4, 1])\n"
LOSS = "loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))\n"


@pytest.mark.parametrize(
    ("x", "fed", "line", "message"),
    [
        ("x = tf.placeholder(tf.float32)", "{x: thing(3)}", 3, "x has no shape, and what is fed to it is not followed"),
        ("x = tf.placeholder(tf.float32)", "feeds()", 3, "x has no shape, and what is fed to it is not seen"),
        ("x = tf.placeholder(tf.float32, [1, 4])", "{x: load(3)}", 3, "x has one row: each step takes one example"),
        (
            "x = tf.data.TFRecordDataset('a').map(decode).make_one_shot_iterator().get_next()",
            "{}",
            3,
            "the dataset is not batched here: nothing tells whether this iterator gives batches or single examples",
        ),
        ("x = tf.get_variable('x', [3, 4])", "{}", 5, "the loss is computed from variables and constants alone"),
        (
            "x = tf.load_op_library('skip.so').skipgram(window=3)",
            "{}",
            3,
            "the loss needs what this operation of a loaded library gives",
        ),
    ],
)
def test_a_training_step_without_a_batch(x: str, fed: str, line: int, message: str) -> None:
    training = f"sess = tf.Session()\nfor i in range(10):\n    sess.run(train_op, {fed})\n"
    code, at, found = said(TF + WEIGHT + x + "\n" + LOSS + STEP + training)
    assert (code, at, found[: len(message)]) == ("TMG202", line, message)


def test_a_placeholder_without_a_shape_that_is_fed_a_number_is_no_batch() -> None:
    """The data in the graph is named in its place."""
    text = (
        TF
        + WEIGHT
        + "x = tf.constant(load(3)) * 2\nrate = tf.placeholder(tf.float32)\n"
        + LOSS
        + (
            STEP.replace("0.1", "rate")
            + "sess = tf.Session()\nfor i in range(9):\n    sess.run(train_op, {rate: 1.})\n"
        )
    )
    code, _, message = said(text)
    assert code == "TMG202" and "rate" not in message


def test_a_method_that_nothing_calls_comes_before_the_data_in_it() -> None:
    data = "tf.constant([1., 2., 3.])"
    text = TF + f"def train(y):\n    loss = tf.reduce_mean(tf.square(tf.get_variable('w', [3]) - {data} - y))\n"
    code, _, message = said(text + "    " + STEP)
    assert code == "TMG202" and message.startswith("nothing here calls train")


def test_an_estimator_for_tpus_trains_by_itself() -> None:
    text = TF + (
        "def model_fn(features, labels, mode, params):\n"
        "    loss = tf.reduce_mean(tf.layers.dense(features['x'], 1))\n"
        "    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())\n"
        "    return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)\n\n\n"
        "estimator = tf.contrib.tpu.TPUEstimator(model_fn=model_fn, use_tpu=False, train_batch_size=8)\n"
        "estimator.train(input_fn, max_steps=10)\n"
    )
    assert [d.code for d in run(text).diagnostics][0] == "TMG282"
    (found,) = run(text, target="towers").diagnostics
    assert found.code == "TMG220" and "trains by tf.contrib.tpu.TPUEstimator" in found.message
    assert "tf.estimator in its place" in found.hint


DICT = "class Net(dict):\n    {}\n\n\n"
GIVEN = "x = tf.placeholder(tf.float32, [None, 4])\nnet = Net({})\n{}sess = tf.Session()\n"
TRAINED = STEP.replace("loss", "net.loss") + "for i in range(9):\n    sess.run(train_op, {x: load(i)})\n"
MADE = "tf.reduce_mean(tf.layers.dense(x, 1))"


def of_dict(methods: str, given: str, more: str = "") -> str:
    return TF + DICT.format(methods) + GIVEN.format(given, more) + TRAINED


ASKED = "def __getattr__(self, name): return self[name]"


@pytest.mark.parametrize(
    ("methods", "given"),
    [(ASKED, f"{{'loss': {MADE}}}"), (ASKED, "load(3)"), ("__getattr__ = dict.get", "load(3)")],
)
def test_entries_of_a_dict_that_are_read_as_attributes(methods: str, given: str) -> None:
    code, at, message = said(of_dict(methods, given))
    assert (code, at) == ("TMG202", 9) and message.startswith("the loss needs loss of a Net, a dict whose entries")


def test_entries_that_are_attributes_are_followed() -> None:
    code, _, message = said(of_dict("__getattr__ = dict.get", f"{{'loss': {MADE}}}"))
    assert code == "TMG209" and "no name" in message  # it stands in the dict alone


@pytest.mark.parametrize("more", [f"net.loss = {MADE}\n"])
def test_attributes_of_a_dict_that_are_set_are_followed(more: str) -> None:
    text = of_dict("def __init__(self, *args, **kwargs): self.__dict__ = self", "", more)
    assert "TMG202" not in {d.code for d in run(text).diagnostics}


BROUGHT = "import importlib, sys\nmodule = {}\nx = tf.placeholder(tf.float32, [None, 4])\n"
IMPORTS = ["importlib.import_module(sys.argv[1])", "__import__('nets.' + sys.argv[1])"]
USE = "sess = tf.Session()\nfor i in range(9):\n    sess.run(train_op, {x: load(i)})\n"


@pytest.mark.parametrize("made", IMPORTS)
@pytest.mark.parametrize("net", ["module.Net()", "getattr(module, 'Net')(3)"])
def test_a_module_whose_name_only_a_run_tells(made: str, net: str) -> None:
    code, at, message = said(TF + BROUGHT.format(made) + f"loss = {net}.loss\n" + STEP + USE)
    assert (code, at) == ("TMG202", 3) and "which one that is, only a run tells" in message
    code, at, message = said(TF + BROUGHT.format(made) + f"loss = {net}.loss(x)\n" + STEP + USE)
    assert (code, at) == ("TMG241", 5) and "the module that line 3 imports, by a name which only a run tells" in message


def test_a_module_that_is_named_and_not_there() -> None:
    made = BROUGHT.format("importlib.import_module('nets')")
    code, _, message = said(TF + made + "loss = module.Net().loss(x)\n" + STEP + USE)
    assert code == "TMG241" and "only a run tells" not in message


@pytest.mark.parametrize("imported", ["from six.moves import cPickle as pickle", "import six.moves.cPickle as pickle"])
def test_what_six_only_names_anew_is_no_package(imported: str) -> None:
    text = TF + f"{imported}\nx = tf.placeholder(tf.float32, [None, 4])\nloss = pickle.load(f).loss\n" + STEP + USE
    assert all("six" not in d.message + d.hint for d in run(text).diagnostics)
    other = text.replace(imported, "import nets as pickle")
    assert "call into nets" in said(other)[2]


CLASSES = "import sys\n\n\nclass Net(object):\n    def loss(self, x):\n        return " + MADE + "\n"
PICK = "\n\nx = tf.placeholder(tf.float32, [None, 4])\nnet = {}()\nloss = net.loss(x)\n" + STEP + USE


@pytest.mark.parametrize("found", ["globals()[sys.argv[1]]", "eval(sys.argv[1])", "getattr(other, sys.argv[1])"])
def test_a_class_that_is_looked_up_by_a_name(found: str) -> None:
    first, second = run(TF + CLASSES + PICK.replace("{}", found, 1)).diagnostics
    assert [(d.code, d.line) for d in (first, second)] == [("TMG241", 11), ("TMG241", 12)]
    assert first.message.startswith("the loss needs what is looked up here by a name which only a run tells")
    assert "into what line 11 looks up" in second.message and "{'NAME': Class}[name](…)" in second.hint


@pytest.mark.parametrize("found", ["{'a': Net}[sys.argv[1]]", "Net", "globals()['Net']"])
def test_a_class_that_is_named_is_followed(found: str) -> None:
    assert "TMG241" not in {d.code for d in run(TF + CLASSES + PICK.replace("{}", found, 1)).diagnostics}


def test_a_class_of_a_package_is_not_looked_up() -> None:
    found, *_ = run(TF + "import nets, sys\n" + PICK.replace("{}", "nets.Net", 1)).diagnostics
    assert found.code == "TMG241" and "into the package nets" in found.message


@pytest.mark.parametrize(
    ("imports", "made", "hint"),
    [
        ("", "nets.Net", "import nets, which nothing binds in this file; or convert with --trace"),
        ("import nets\n", "nets.Net", "if nets is a part of this project, put it beside the script, or its folder"),
        ("from nets import *\n", "Net", "convert with --trace"),
        ("", "(lambda: elsewhere)().Net", "import elsewhere, which nothing binds in this file; or convert with"),
    ],
)
def test_what_to_do_about_a_class_that_is_not_there(imports: str, made: str, hint: str) -> None:
    found, *_ = run(TF + imports + PICK.replace("{}", made, 1)).diagnostics
    assert found.code == "TMG241" and found.hint.startswith(hint)
