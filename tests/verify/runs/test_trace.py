"""`convert --trace`: what calls into other packages gave in a run, and that conversions by it are right."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.cli.app import main
from converter.conversion import convert, unfollowed_calls
from converter.options import Options
from converter.source import from_bytes, read
from converter.verify import VerifySettings, verify
from converter.verify.runs.trace import marked, trace_calls

VERSIONS = [pytest.param("2", marks=pytest.mark.tf2), pytest.param("1.15", marks=pytest.mark.tf1)]

LIBRARY = """\
import tensorflow as tf

def network(images, units):
    w = tf.Variable(tf.random_normal([3, units], stddev=0.3, seed=1), name='raw')
    hidden = tf.tanh(tf.matmul(images, w))
    with tf.variable_scope('out'):
        kernel = tf.get_variable('kernel', [units, 1])
    tf.summary.histogram('hidden', hidden)
    return tf.matmul(hidden, kernel), {'hidden': hidden}

class Net(object):
    def __init__(self, images):
        self.images = images

    def build(self):
        return tf.layers.dense(self.images, 1)

def mse(a, b):
    return tf.reduce_mean(tf.square(a - b))

def total(a, b):
    return tf.reduce_sum(tf.square(a - b))

def root(a, b):
    return tf.sqrt(mse(a, b))

def centred(a):
    return a - tf.reduce_mean(a, 0)

def similar(a):
    return tf.matmul(a, a, transpose_b=True)

def zeros(a):
    return a * 0

def rate():
    return tf.constant([0.1])
"""
SCRIPT = """\
import numpy as np
import tensorflow as tf
import toy_networks

batch_size = {batch}
x = tf.placeholder(tf.float32, [{static}, 3])
y = tf.placeholder(tf.float32, [{static}, 1])
{model}
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(4):
        sess.run(train_op, {{x: np.random.rand(batch_size, 3), y: np.random.rand(batch_size, 1)}})
"""
RIGHT = {
    "raw and gotten variables, a tuple, a summary": (
        "out, ends = toy_networks.network(x, 4)\nloss = tf.reduce_mean(tf.square(out - y))",
        {"8:38": "(example:0/-x1,host)+collections+variables"},
    ),
    "an object": (
        "net = toy_networks.Net(x)\nout = net.build()\nloss = toy_networks.mse(out, y)",
        None,  # net is no tensor, so that what went into it is not known
    ),
    "a function whose name is made as the script runs": (
        "name = ''.join(['sig', 'moid'])\nout = getattr(tf.nn, name)(tf.layers.dense(x, 1))\n"
        "loss = tf.reduce_mean(tf.square(out - y))",
        {"9:49": "example:0/-x1+variables"},  # those of the layer among its arguments
    ),
    "a loss": ("out = tf.layers.dense(x, 1)\nloss = toy_networks.mse(out, y)", {"9:31": "mean/"}),
    "a sum": ("out = tf.layers.dense(x, 1)\nloss = toy_networks.total(out, y)", {"9:33": "sum/"}),
}


@pytest.fixture(autouse=True)
def library(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is found at one place by all tests, so that one import of TensorFlow serves all of them."""
    folder = tmp_path_factory.getbasetemp() / "library"
    folder.mkdir(exist_ok=True)
    (folder / "toy_networks.py").write_text(LIBRARY)
    monkeypatch.setenv("PYTHONPATH", str(folder))


def write(folder: Path, model: str, batch: int = 8, static: str = "None") -> Path:
    (folder / "script").mkdir()
    single = folder / "script" / "single.py"
    single.write_text(SCRIPT.format(model=model, batch=batch, static=static))
    return single


@pytest.mark.one_in(20)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("model", "facts"), RIGHT.values(), ids=RIGHT)
def test_what_a_run_tells_converts(
    tensorflow_python: str,
    version: str,
    tmp_path: Path,
    model: str,
    facts: dict[str, str] | None,
) -> None:
    single = write(tmp_path, model)
    source = read(str(single))
    assert convert(source, Options()).status == "refused"
    found, why = trace_calls(source, unfollowed_calls(source, Options()), tensorflow_python)
    again = convert(source, Options(traced=found))
    if facts is None:
        assert again.status == "refused"
        return
    assert (dict(found), why) == (facts, "")
    assert again.text is not None, again.diagnostics
    assert "TMG309" in {finding.code for finding in again.diagnostics}
    multi = single.with_name("multi.py")
    multi.write_text(again.text)
    report = verify(single, multi, VerifySettings(python=tensorflow_python, steps=2))
    assert report.verdict == "passed", report
    assert {check.status for check in report.checks if check.name == "traced lines"} == {"passed"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("function", ["centred(x)", "similar(x)", "zeros(x)", "root(x, x + 1)", "rate()"])
def test_what_is_no_row_nor_mean_nor_sum_is_not_told(
    tensorflow_python: str, version: str, tmp_path: Path, function: str
) -> None:
    model = f"odd = toy_networks.{function}\nloss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))"
    source = read(str(write(tmp_path, model)))
    found, why = trace_calls(source, unfollowed_calls(source, Options()), tensorflow_python)
    wanted = [("8:25", "free/1")] if function == "rate()" else []
    assert [fact for fact in found if fact[0].startswith("8:")] == wanted
    assert why == ""


@pytest.mark.tf2
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"static": "8"}, "the batch size is fixed when the graph is built"),
        ({"batch": 3}, "the first batch has fewer than 4 examples"),
    ],
)
def test_runs_that_cannot_tell_say_why(
    tensorflow_python: str, tmp_path: Path, options: dict[str, object], words: str
) -> None:
    model = "loss = toy_networks.mse(tf.layers.dense(x, 1), y)"
    source = read(str(write(tmp_path, model, **options)))
    assert trace_calls(source, unfollowed_calls(source, Options()), tensorflow_python) == ((), words)


def calls(text: str) -> str:
    source = from_bytes("s.py", text.encode())
    return marked(source, unfollowed_calls(source, Options()))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import a\nb = a.f(1)\n", "import a\nb = __tmg_end__(__tmg_begin__('2:10'), a.f(1))\n"),
        (
            "import a\nb = a.f(1)(2)\n",
            "import a\nb = __tmg_end__(__tmg_begin__('2:13'), __tmg_end__(__tmg_begin__('2:10'), a.f(1))(2))\n",
        ),
        (
            "import a\nb = a.f(\n  a.g(),\n)\n",
            "import a\nb = __tmg_end__(__tmg_begin__('4:1'), a.f(\n  __tmg_end__(__tmg_begin__('3:7'), a.g()),\n))\n",
        ),
        ("import a\n'µ'; a.f()\n", "import a\n'µ'; __tmg_end__(__tmg_begin__('2:11'), a.f())\n"),
        ("import a\nb = f'{a.f()}'\n", "import a\nb = f'{a.f()}'\n"),
        ("import a\r\nb = a.f()\r\n", "import a\r\nb = __tmg_end__(__tmg_begin__('2:9'), a.f())\r\n"),
    ],
)
def test_calls_are_marked_where_they_stand(before: str, after: str) -> None:
    assert calls(before) == after


def test_a_batch_along_another_axis_cannot_be_told_from_a_run() -> None:
    model = "odd = toy_networks.centred(x)\nloss = tf.reduce_mean(tf.layers.dense(x, 1))"
    source = from_bytes("s.py", SCRIPT.format(model=model, batch=8, static="None").encode())
    assert unfollowed_calls(source, Options())
    assert unfollowed_calls(source, Options(batch_axes=(("x", 1),))) == ()


NETWORK = "out = toy_networks.network(x)\nloss = toy_networks.mse(out, y)"


@pytest.mark.parametrize(
    ("facts", "status"),
    [
        ({"8:29": "example:0/-x1+variables", "9:31": "mean/"}, "converted"),
        ({"9:31": "mean/"}, "refused"),  # a call in between that nothing is known of
        ({"8:29": "example:0/-x1+variables"}, "refused"),
        ({"8:29": "free/-x1", "9:31": "free/"}, "refused"),
        ({"8:28": "example:0/-x1", "9:31": "mean/"}, "refused"),  # another place
        ({}, "refused"),
    ],
)
def test_facts_are_taken_where_they_stand(facts: dict[str, str], status: str) -> None:
    source = from_bytes("s.py", SCRIPT.format(model=NETWORK, batch=8, static="None").encode())
    assert convert(source, Options(traced=tuple(facts.items()))).status == status


def test_what_a_call_made_is_shared() -> None:
    source = from_bytes("s.py", SCRIPT.format(model=NETWORK, batch=8, static="None").encode())
    for made, helper in (("variables", "SharedVariables"), ("collections", "TowerCollections"), ("", "")):
        fact = "example:0/-x1" + (f"+{made}" if made else "")
        text = convert(source, Options(traced=(("8:29", fact), ("9:31", "mean/")))).text
        assert text is not None
        helpers = [name for name in ("SharedVariables", "TowerCollections") if name in text]
        assert helpers == ([helper] if helper else [])


@pytest.mark.tf2
def test_the_command_converts_by_a_run_and_repeats_it_without(
    tensorflow_python: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    single = write(tmp_path, "loss = toy_networks.mse(tf.layers.dense(x, 1), y)")
    multi = single.with_name("multi.py")
    assert main(["convert", str(single), "-o", str(multi)]) == 2
    assert "TMG241" in capfd.readouterr().err
    assert main(["convert", str(single), "-o", str(multi), "--trace", "--python", tensorflow_python]) == 0
    assert "TMG309" in capfd.readouterr().err
    assert "--traced 8:49=mean/" in multi.read_text()
    assert main(["convert", str(single), "-o", str(multi), "--check", "--traced", "8:49=mean/"]) == 2  # no option
    assert main(["convert", "--check", str(multi)]) == 0


@pytest.mark.tf2
def test_the_command_says_what_a_run_did_not_tell(
    tensorflow_python: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    single = write(tmp_path, "loss = toy_networks.mse(tf.layers.dense(x, 1), y)", static="8")
    assert main(["convert", str(single), "-o", str(single.with_name("multi.py")), "--trace"]) == 2
    said = capfd.readouterr().err
    assert "a run gave no facts: the batch size is fixed when the graph is built" in said


@pytest.mark.parametrize(
    "arguments", [("--trace", "--check", "a.py"), ("--trace", "-"), ("--python", "p", "a.py", "-o", "b.py")]
)
def test_options_that_do_not_go_together(arguments: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", *arguments]) == 2
    assert "--trace" in capfd.readouterr().err
