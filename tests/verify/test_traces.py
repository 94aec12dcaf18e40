"""What is kept of a run for the page and the ledger, measured on both kinds of TensorFlow."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import encode, read
from converter.verify import Report, VerifySettings, verify
from converter.verify.data import StepTrace
from tests.goldens import FIXTURES
from tests.verify.test_compare import record
from tests.verify.test_conversions import DATA, VERSIONS, with_multi

pytestmark = pytest.mark.one_test_in(2)

ROOT = Path(__file__).resolve().parent.parent.parent


def devices(trace: StepTrace | None, part: str) -> set[str]:
    assert trace is not None
    return {box.device for box in trace.boxes if box.part == part}


def figures(report: Report, fate: str) -> dict[str, float | None]:
    return {entry.what: entry.figure for entry in report.ledger if entry.fate == fate}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_step_is_told_by_device_and_part(tensorflow_python: str, version: str) -> None:
    settings = VerifySettings(gpus=2, python=tensorflow_python)
    report = verify(DATA / "towers/single.py", DATA / "towers/multi.py", settings)
    converted, original = report.converted, report.original
    # something of the embedding runs where the embedding is
    assert {"cpu:1", "cpu:2"} <= devices(converted, "forward") <= {"cpu:0", "cpu:1", "cpu:2"}
    assert {"cpu:1", "cpu:2"} <= devices(converted, "gradient") <= {"cpu:0", "cpu:1", "cpu:2"}
    assert devices(original, "forward") == devices(original, "gradient") == {"cpu:0"}
    assert converted is not None and original is not None
    to_average = {(e.device, e.part) for e in converted.edges if e.to_part == "average" and e.part != "average"}
    assert to_average >= {("cpu:1", "gradient"), ("cpu:2", "gradient")}
    assert any(e.part == "average" and e.to_part == "update" for e in converted.edges)
    assert any(e.part == "average" and e.to_part == "update" for e in original.edges), "it clips its gradients"
    assert sum(count for _, count in converted.variables) == len(report.variables)
    for trace in (original, converted):
        assert all(0 <= span.begin <= span.end for span in trace.spans)
        assert min(span.begin for span in trace.spans) == 0
        last = {part: max(s.end for s in trace.spans if s.part == part) for part in ("forward", "update")}
        assert last["forward"] <= last["update"]
    assert len(report.losses) == 3
    assert all(row.original == pytest.approx(row.converted, rel=1e-3) for row in report.losses)

    differs = figures(report, "differs")
    assert differs["one step"] == 2.0
    assert differs["RandomUniform"] == 2.0
    assert (differs["moving averages"] or 0) > 0.01
    assert (differs["loss"] or 0) > 0.01
    assert figures(report, "wrong") == {}


@pytest.mark.tf2
def test_towers_on_one_device_are_seen_there(tmp_path: Path) -> None:
    scripts = with_multi(tmp_path, "plain", ("tf.device('/gpu:%d' % gpu)", "tf.device('/gpu:0')"))
    report = verify(*scripts, VerifySettings(gpus=2))
    assert report.verdict == "failed"
    assert devices(report.converted, "gradient") == {"cpu:1"}
    assert list(figures(report, "wrong")) == ["placement"]


@pytest.mark.tf2
def test_a_plain_loss_differs_in_nothing_but_the_step() -> None:
    report = verify(DATA / "plain/single.py", DATA / "plain/multi.py", VerifySettings(gpus=2))
    assert list(figures(report, "differs")) == ["one step"]


def converted(name: str, folder: Path, **options: object) -> tuple[Path, Path]:
    source = read(str(FIXTURES / name / "single.py"))
    done = convert(source, Options(num_gpus=2, **options))
    assert done.text is not None
    multi = folder / "multi.py"
    multi.write_bytes(encode(source, done.text))
    return FIXTURES / name / "single.py", multi


@pytest.mark.one_in(2)
@pytest.mark.tf2
@pytest.mark.parametrize(("scale", "pace"), [("linear", 2.0), ("sqrt", 2.0**0.5)])
def test_a_scaled_learning_rate_is_measured(tmp_path: Path, scale: str, pace: float) -> None:
    report = verify(*converted("logistic_regression", tmp_path, scale_lr=scale))
    assert report.origin.rewritten
    assert figures(report, "differs")["learning rate"] == pytest.approx(pace, rel=1e-3)


@pytest.mark.tf2
def test_the_whole_batch_shared_out_takes_the_same_steps(tmp_path: Path) -> None:
    report = verify(*converted("logistic_regression", tmp_path, batch="total"))
    assert report.verdict == "passed"
    assert figures(report, "differs") == {}


DECAY = """
import numpy as np
import tensorflow as tf
batch_size = 8
x = tf.placeholder(tf.float32, [None, 3])
w = tf.get_variable('w', [3, 1])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
step = tf.train.get_or_create_global_step()
rate = {rate}
train = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=step)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
for _ in range(9):
    sess.run(train, {{x: np.random.rand(batch_size, 3)}})
"""


@pytest.mark.tf2
@pytest.mark.parametrize(
    ("rate", "named"), [("tf.train.exponential_decay(0.1, step, 10, 0.9)", True), ("tf.constant(0.1)", False)]
)
def test_a_schedule_is_seen_in_the_graph(tmp_path: Path, rate: str, named: bool) -> None:
    single = tmp_path / "single.py"
    single.write_text(DECAY.format(rate=rate))
    done = convert(read(str(single)), Options(num_gpus=2))
    assert done.text is not None, done.diagnostics
    (tmp_path / "multi.py").write_text(done.text)
    report = verify(single, tmp_path / "multi.py")
    assert report.verdict == "passed", report
    assert ("schedule" in figures(report, "differs")) is named


# -- the bars of a timeline --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spans", "most", "joined"),
    [
        ([], 3, []),
        ([(0, 2), (1, 3)], 3, [[0, 3]]),
        ([(4, 5), (0, 1)], 3, [[0, 1], [4, 5]]),
        ([(0, 9), (2, 3), (9, 10)], 3, [[0, 10]]),
        ([(0, 1), (2, 3), (9, 10)], 2, [[0, 3], [9, 10]]),
        ([(0, 1), (2, 3), (4, 5), (20, 21)], 2, [[0, 5], [20, 21]]),
    ],
)
def test_bars_are_joined_until_they_are_few(spans: list[tuple[int, int]], most: int, joined: list[list[int]]) -> None:
    assert record.timeline.joined(spans, most) == joined
