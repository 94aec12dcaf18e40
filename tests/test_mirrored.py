"""Conversions for a distribution strategy: their goldens, their proofs, and that a wrong one is not proven."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import encode, read
from converter.verify import Report
from tests.bare import BareRuns
from tests.proofs import proof_of
from tests.scripts import as_written_by

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "mirrored"
NAMES = sorted(path.parent.name for path in FIXTURES.glob("*/single.py"))
WARNED = {"keras_arrays": ["TMG382"]}
# Estimators went with TensorFlow 2.16.
PROVEN = [
    pytest.param(
        name, gpus, id=f"{name}-{gpus}-{version}", marks=mark if gpus == 2 else [mark, pytest.mark.matrix]
    )
    for name in NAMES
    for version, mark in {"1.15": pytest.mark.tf1, "2": pytest.mark.tf2}.items()
    for gpus in (2, 3)
    if version == "1.15" or name.startswith("keras")
]


def proof(
    name: str,
    python: str,
    folder: Path,
    gpus: int = 2,
    change: tuple[str, str] = ("", ""),
    batch: str = "per-gpu",
) -> Report:
    """The verification of a fixture's conversion, in which a text may be changed."""
    options = Options(num_gpus=gpus, batch=batch)
    return proof_of(FIXTURES / name / "single.py", python, folder, options, change)


@pytest.mark.parametrize("name", NAMES)
def test_the_golden_is_the_conversion(name: str) -> None:
    source = read(str(FIXTURES / name / "single.py"))
    conversion = convert(source, Options())
    assert conversion.text is not None
    assert [finding.code for finding in conversion.diagnostics] == WARNED.get(name, [])
    golden = as_written_by("single.py", FIXTURES / name / "multi.py")
    assert encode(source, conversion.text) == golden, "run `make goldens`"


def test_a_golden_is_converted_no_more() -> None:
    again = convert(read(str(FIXTURES / NAMES[0] / "multi.py")), Options())
    assert (again.status, [finding.code for finding in again.diagnostics]) == ("unchanged", ["TMG009"])


@pytest.mark.parametrize(("name", "gpus"), PROVEN)
def test_proof(name: str, gpus: int, tensorflow_python: str, tmp_path: Path) -> None:
    for attempt in range(3):  # a batch drawn at random may leave Adam a gradient of rounding alone to divide by
        (folder := tmp_path / str(attempt)).mkdir()
        report = proof(name, tensorflow_python, folder, gpus)
        if report.verdict == "passed":
            break
    assert (report.verdict, report.gpus, report.steps) == ("passed", gpus, 3), report
    skipped = ["data"] if name == "estimator_arrays" else []  # it shuffles
    assert [check.name for check in report.checks if check.status == "skipped"] == skipped


@pytest.mark.tf1
@pytest.mark.parametrize("name", ["estimator_dataset", "keras_dataset"])
def test_proof_of_the_total_batch(name: str, tensorflow_python: str, tmp_path: Path) -> None:
    report = proof(name, tensorflow_python, tmp_path, batch="total")
    assert (report.verdict, report.batch) == ("passed", "total"), report


@pytest.mark.parametrize(
    "version", [pytest.param("1.15", marks=pytest.mark.tf1), pytest.param("2", marks=pytest.mark.tf2)]
)
def test_fewer_rows_than_a_batch_of_all_gpus(version: str, tensorflow_python: str, tmp_path: Path) -> None:
    script = (
        "import numpy as np\nimport tensorflow as tf\n\n"
        "x = np.arange(10, dtype='float32').reshape(5, 2)\ny = x[:, :1]\n"
        "model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])\n"
        "model.compile('sgd', 'mse')\nmodel.fit(x, y, epochs=2)\n"
    )
    (tmp_path / "single.py").write_text(script)
    report = proof_of(tmp_path / "single.py", tensorflow_python, tmp_path, Options(num_gpus=2))
    assert (report.verdict, report.steps) == ("passed", 1), report


WRONG = [
    ("estimator_dataset", ".repeat(epochs).batch", ".repeat(epochs).skip(1).batch", "data"),
    ("estimator_dataset", "dataset.map(lambda", "dataset.unbatch().batch(16).map(lambda", "batch"),
    ("estimator_dataset", "0.001 *", "0.01 *", "weights"),
    ("estimator_dataset", "['/gpu:0', '/gpu:1']", "['/gpu:0']", ""),
    ("estimator_dataset", ",\n    train_distribute=strategy", "", ""),
    ("estimator_dataset", "    logits =", "    with tf.device('/cpu:0'):\n        logits =", "placement"),
    ("estimator_arrays", "return input_fn\n", "return lambda: (tf.zeros([50, 64]), tf.zeros([50], tf.int32))\n", ""),
    ("keras_arrays", "batch_size=global_batch", "batch_size=batch_size", "batch"),
    ("keras_arrays", "y_train[:rows]", "y_train[::-1][:rows]", "data"),
    ("keras_arrays", "x_train[:rows], y_train", "x_train[1:rows + 1], y_train", "data"),
    ("keras_dataset", "SGD(0.1)", "SGD(0.2)", "weights"),
    ("keras_dataset", "with strategy.scope():", "if strategy:", "replicas"),
]


@pytest.mark.tf1
@pytest.mark.parametrize(("name", "right", "wrong", "check"), WRONG)
def test_a_wrong_conversion_fails(
    name: str, right: str, wrong: str, check: str, tensorflow_python: str, tmp_path: Path
) -> None:
    report = proof(name, tensorflow_python, tmp_path, change=(right, wrong))
    assert report.verdict == "failed", report
    assert not check or check in [one.name for one in report.checks if one.status == "failed"]


@pytest.mark.tf1
def test_an_estimator_runs_by_itself(tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns) -> None:
    """To its end on a machine without GPUs, where both replicas are on the processor."""
    done = convert(read(str(FIXTURES / "estimator_dataset/single.py")), Options(num_gpus=2, fewer_gpus="allow"))
    assert done.text is not None
    (tmp_path / "multi.py").write_text(done.text)
    environment = {**os.environ, "TMPDIR": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""}
    ran = bare_runs.run(tensorflow_python, ["multi.py"], tmp_path, environment)
    assert ran.returncode == 0, ran.stderr[-2000:]
    figures = ast.literal_eval(ran.stdout.strip().splitlines()[-1])
    assert figures["global_step"] == 69 and figures["accuracy"] > 0.7
