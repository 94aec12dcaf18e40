"""What towers run on: virtual devices of the CPU, GPUs, or logical devices of one GPU."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from converter.verify import VerifyError, VerifySettings, verify
from converter.verify.processes import interpreters, machine
from converter.verify.processes.child_process import environment
from converter.verify.processes.machine import CPU, Devices, devices_for
from converter.verify.processes.workspace import read_towers

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(machine.__file__).parent.parent / "child"))

from tmgprobe.graph import machine as child  # noqa: E402

pytestmark = pytest.mark.one_test_in(2)

TWO = "0, GPU-aaaa, 15000\n1, GPU-bbbb, 9000\n"


class Proto(SimpleNamespace):
    """A message of which only what a test reads is there."""

    def CopyFrom(self, other: Any) -> None:
        """As the method of a protocol buffer."""
        self.__dict__.update(other.__dict__)


class Options(SimpleNamespace):
    """A session's options for GPUs, with a list of how to cut each."""

    def __init__(self, **given: Any) -> None:
        super().__init__(experimental=SimpleNamespace(virtual_devices=Parts()), **given)

    def Clear(self) -> None:
        """As the method of a protocol buffer."""
        self.__dict__.clear()
        self.__init__()  # type: ignore[misc]


class Parts(list[Any]):
    """A repeated field of messages."""

    def add(self) -> Any:
        """As the method of a protocol buffer."""
        self.append(SimpleNamespace(memory_limit_mb=[]))
        return self[-1]


def tensorflow(cuda: bool, gpus: int = 2, old: bool = False) -> Any:
    """A TensorFlow with or without CUDA and GPUs, as far as it is asked."""

    def config() -> Proto:
        rewrite = SimpleNamespace(disable_meta_optimizer=False)
        options = SimpleNamespace(rewrite_options=rewrite)
        return Proto(device_count={"GPU": 0}, gpu_options=Options(visible_device_list="3"), graph_options=options)

    test = SimpleNamespace(is_built_with_cuda=lambda: cuda, is_gpu_available=lambda: gpus > 0)
    own = SimpleNamespace(list_physical_devices=lambda kind: [kind] * gpus)
    new = {} if old else {"config": SimpleNamespace(experimental=own)}
    return SimpleNamespace(ConfigProto=config, test=test, **new)


def listing(monkeypatch: pytest.MonkeyPatch, folder: Path, told: str, status: int = 0) -> None:
    """Puts a program nvidia-smi in front of the path that says this."""
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nprintf '{told}'\nexit {status}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


@pytest.mark.parametrize(
    ("named", "towers", "devices"),
    [
        (None, 2, Devices(("0", "1"))),
        (None, 1, Devices(("0",))),
        (None, 4, Devices(("0",), 1000)),
        ("1", 2, Devices(("1",), 1200)),
        ("1,0", 2, Devices(("1", "0"))),
        ("GPU-b", 1, Devices(("1",))),
        ("7,0", 1, CPU),
        ("", 1, CPU),
        ("0,0", 2, Devices(("0",), 2000)),
    ],
)
def test_gpus(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str | None, towers: int, devices: Devices
) -> None:
    listing(monkeypatch, tmp_path, TWO)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if named is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", named)
    assert devices_for("gpu", towers) == devices
    assert devices_for("cpu", towers) == CPU


@pytest.mark.parametrize(("told", "status"), [("", 0), (TWO, 9), ("No devices were found\n", 0)])
def test_machine_without_gpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, told: str, status: int) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    listing(monkeypatch, tmp_path, told, status)
    assert devices_for("gpu", 2) == CPU
    monkeypatch.setenv("PATH", "")
    assert devices_for("gpu", 2) == CPU


def test_environment() -> None:
    shared = environment(2, Devices(("1",), 500))
    assert shared["CUDA_VISIBLE_DEVICES"] == "1"
    assert shared["NVIDIA_TF32_OVERRIDE"] == "0"
    assert environment(2)["CUDA_VISIBLE_DEVICES"] == "0,1"
    assert "NVIDIA_TF32_OVERRIDE" not in environment(2)


def test_sessions_on_gpus() -> None:
    assert child.of_job(tensorflow(True, old=True), {"gpus": 1, **Devices(("0",)).job}).title == "1 GPU"
    own = child.of_job(tensorflow(True), {"gpus": 2, **Devices(("0", "1")).job})
    config = own.config(None)
    assert (own.on_gpus, own.title) == (True, "2 GPUs")
    assert config.gpu_options.allow_growth is True
    assert config.gpu_options.experimental.virtual_devices == []
    assert not hasattr(config.gpu_options, "visible_device_list")
    assert config.device_count == {}  # the script's own may hide GPUs
    assert config.allow_soft_placement is True
    assert own.place("/gpu:1") == "/gpu:1"


def test_logical_devices() -> None:
    shared = child.of_job(tensorflow(True), {"gpus": 3, **Devices(("0",), 700).job})
    parts = shared.config(None).gpu_options.experimental.virtual_devices
    assert shared.title == "3 logical devices of one GPU"
    assert [part.memory_limit_mb for part in parts] == [[700, 700, 700]]


@pytest.mark.parametrize("tf", [tensorflow(False), tensorflow(True, gpus=0), tensorflow(True, gpus=0, old=True)])
def test_tensorflow_that_can_use_none(tf: Any) -> None:
    found = child.of_job(tf, {"gpus": 2, **Devices(("0", "1")).job})
    config = found.config(None)
    assert (found.on_gpus, found.title) == (False, "virtual CPU devices")
    assert config.device_count == {"CPU": 3, "GPU": 0}


@pytest.mark.parametrize(
    ("where", "virtual"),
    [
        ("/gpu:0", "/device:CPU:1"),
        ("/GPU:3", "/device:CPU:4"),
        ("gpu:1", "device:CPU:2"),
        ("/device:GPU:1", "/device:CPU:2"),
        ("/job:localhost/replica:0/task:0/device:GPU:0", "/job:localhost/replica:0/task:0/device:CPU:1"),
        ("/cpu:0", "/cpu:0"),
        ("/job:gpu", "/job:gpu"),
        ("", ""),
        (None, None),
    ],
)
def test_virtual_devices(where: str | None, virtual: str | None) -> None:
    cpu = child.Processor(None, 2)
    assert cpu.place(where) == virtual
    if where is not None:
        assert cpu.place(lambda op: where)(None) == virtual


TRAINS = """
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
x = tf.placeholder(tf.float32, [None, 2])
with tf.device('/gpu:0'):
    loss = tf.reduce_mean(tf.square(tf.matmul(x, tf.get_variable('w', [2, 1]))))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(4):
        print(sess.run([train, loss], {x: np.ones([4, 2])})[1])
"""


@pytest.mark.matrix
@pytest.mark.tf2
def test_gpus_that_tensorflow_cannot_use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    listing(monkeypatch, tmp_path, TWO)
    for name in ("single.py", "multi.py"):
        (tmp_path / name).write_text(TRAINS)
    settings = VerifySettings(gpus=1, steps=2, devices="gpu", timeout=300)
    report = verify(tmp_path / "single.py", tmp_path / "multi.py", settings)
    assert (report.verdict, report.where) == ("passed", "virtual CPU devices")
    assert any("no GPU that this TensorFlow can use" in note for note in report.notes)
    assert "--devices gpu" in report.command


@pytest.mark.tf2
def test_the_way_on_gpus_runs_without_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As if TensorFlow had found a GPU: soft placement takes the CPU for it, and the report says so."""
    listing(monkeypatch, tmp_path, TWO)
    probe = tmp_path / "child"
    shutil.copytree(interpreters.PROBE.parent, probe)
    with (probe / "tmgprobe" / "graph" / "machine.py").open("a") as text:
        text.write("\n\ndef is_usable(tf):\n    return True\n")
    monkeypatch.setattr(interpreters, "PROBE", probe / "probe.py")
    for name in ("single.py", "multi.py"):
        (tmp_path / name).write_text(TRAINS)
    settings = VerifySettings(gpus=1, steps=2, devices="gpu", timeout=300)
    report = verify(tmp_path / "single.py", tmp_path / "multi.py", settings)
    assert (report.verdict, report.where) == ("passed", "1 GPU")
    assert [row.device for row in report.devices] == ["cpu:0"]
    assert any(entry.what == "GPUs" and "cpu:0" in entry.detail for entry in report.ledger)


@pytest.mark.parametrize("header", ["mirrored", "ddp", "cluster"])
def test_gpus_are_for_towers(tmp_path: Path, header: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("single.py", "multi.py"):
        (tmp_path / name).write_text(TRAINS)
    monkeypatch.setattr("converter.verify.run.read_towers", lambda *given: replace(read_towers(*given), target=header))
    with pytest.raises(VerifyError, match="--devices gpu is for towers, not for"):
        verify(tmp_path / "single.py", tmp_path / "multi.py", VerifySettings(gpus=2, devices="gpu"))
