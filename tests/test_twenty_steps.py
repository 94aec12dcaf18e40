"""Each way to train, converted and run by itself for twenty steps, and where its graph puts the work."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes
from tests.bare import BareRuns

ROOT = Path(__file__).resolve().parent.parent
# Runs a script, and notes of the largest graph that it builds which device each product and convolution is put on.
WATCH = """\
import atexit, collections, json, runpy, sys
import tensorflow as tf

graphs, real = [], tf.Graph.__init__


def noted(graph, *args, **kwargs):
    graphs.append(graph)
    real(graph, *args, **kwargs)


def leave():
    counts = []
    for graph in graphs + [tf.get_default_graph()]:
        work = [op for op in graph.get_operations() if op.type.startswith(('MatMul', 'Conv2D', 'Conv3D'))]
        devices = collections.Counter(op.device.lower().split('/device:')[-1].split('/')[-1] for op in work)
        counts.append((len(work), dict(devices)))
    json.dump(max(counts, key=lambda one: one[0])[1], open('placement.json', 'w'))


tf.Graph.__init__ = noted
atexit.register(leave)
if sys.argv[1:]:
    config = tf.ConfigProto(device_count={'CPU': 2}, allow_soft_placement=True)
    tf.keras.backend.set_session(tf.Session(config=config))
runpy.run_path('multi.py', run_name='__main__')
"""


@dataclass(frozen=True)
class Run:
    """A script that is to take twenty steps.

    edits: texts of the original and what makes them twenty steps; ends: what the last line of its output begins with.
    on: what its two devices are called. Keras of TensorFlow 1.15 asks for devices that are there: two of the processor.
    """

    fixture: str
    edits: tuple[tuple[str, str], ...]
    ends: str
    on: tuple[str, str] = ("gpu:0", "gpu:1")


RUNS = (
    Run("video_clips", (("TRAIN_STEPS = 160", "TRAIN_STEPS = 20"), ("TEST_EVERY = 40", "TEST_EVERY = 20")), "step 20"),
    Run("loops/slim_learning", (("num_steps = 40", "num_steps = 20"),), "loss after the last step"),
    Run("mirrored/estimator_dataset", (("args.epochs * steps_per_epoch", "20"),), "{"),
    Run("mirrored/keras_arrays", (("epochs = 3", "epochs = 1"), ("images[:1490], labels[:1490]",
        "images[:1000], labels[:1000]")), "loss", ("cpu:0", "cpu:1")),
)  # fmt: skip


def table() -> dict[str, tuple[int, int]]:
    """What the page says of each script."""
    page = (ROOT / "docs/targets.md").read_text().split("## Where the work runs")[1]
    cells = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("| `")]
    return {row[0].strip(" `"): (int(row[1]), int(row[2])) for row in cells}


def test_the_page_has_each_script() -> None:
    assert list(table()) == [run.fixture for run in RUNS]


@pytest.mark.one_in(8)
@pytest.mark.tf1
@pytest.mark.parametrize("run", RUNS, ids=[run.fixture for run in RUNS])
def test_twenty_steps(run: Run, tensorflow_python: str, tmp_path: Path, bare_runs: BareRuns) -> None:
    text = (ROOT / "fixtures" / run.fixture / "single.py").read_text()
    for old, new in run.edits:
        assert old in text
        text = text.replace(old, new)
    shared = "allow" if "mirrored" in run.fixture else "refuse"
    done = convert(from_bytes("single.py", text.encode()), Options(fewer_gpus=shared))  # type: ignore[arg-type]
    assert done.text is not None
    keras = run.on[0] == "cpu:0"
    (tmp_path / "multi.py").write_text(done.text.replace("'/gpu:", "'/cpu:") if keras else done.text)
    (tmp_path / "watch.py").write_text(WATCH)
    environment = {**os.environ, "TMPDIR": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""}
    words = ["watch.py", "two"] if keras else ["watch.py"]
    ran = bare_runs.run(tensorflow_python, words, tmp_path, environment)
    assert ran.returncode == 0, ran.stderr[-2000:]
    said = ran.stdout.strip().splitlines()[-1]
    assert said.startswith(run.ends), said
    if run.ends == "{":
        assert "'global_step': 20" in said
    counts = json.loads((tmp_path / "placement.json").read_text())
    assert tuple(counts[device] for device in run.on) == table()[run.fixture], counts
