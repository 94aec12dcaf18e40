"""Conversions of PyTorch scripts: their goldens, their proofs, and that a wrong one is not proven."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import encode, read
from converter.verify import Report, VerifyError
from tests import goldens
from tests.proofs import proof_of
from tests.scripts import as_written_by

FIXTURES = goldens.FIXTURES / "ddp"
NAMES = sorted(path.parent.name for path in FIXTURES.glob("*/single.py"))
WARNED = {"conv_net": ["TMG370"]}


def proof(
    name: str, python: str, folder: Path, gpus: int = 2, change: tuple[str, str] = ("", ""), batch: str = "per-gpu"
) -> Report:
    """The verification of a fixture's conversion, in which a text may be changed."""
    options = Options(num_gpus=gpus, batch=batch)  # type: ignore[arg-type]
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


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("gpus", [2, pytest.param(3, marks=pytest.mark.matrix)])
def test_proof(name: str, gpus: int, torch_python: str, tmp_path: Path) -> None:
    report = proof(name, torch_python, tmp_path, gpus)
    assert (report.verdict, report.gpus, report.steps) == ("passed", gpus, 3), report
    assert [check.name for check in report.checks if check.status == "skipped"] == []


@pytest.mark.torch
@pytest.mark.parametrize("name", ["lstm", "mlp_arrays"])
def test_proof_of_the_total_batch(name: str, torch_python: str, tmp_path: Path) -> None:
    report = proof(name, torch_python, tmp_path, batch="total")
    assert (report.verdict, report.batch) == ("passed", "total"), report


# A text of the conversion, a wrong one in its place, and the check that tells.
WRONG = [
    ("conv_net", "    train_loader.sampler.set_epoch(epoch)\n", "", "shuffling"),
    ("lstm", "    if rank == 0:\n            torch.save", "    if True:\n            torch.save", "checkpoints"),
    ("lstm", "clip_grad_norm_(net.parameters(), 1.0)", "clip_grad_norm_(net.parameters(), 0.1)", "weights"),
    ("lstm", "clip_grad_norm_(net.parameters(), 1.0)", "clip_grad_norm_(net.parameters(), 0.01)", "gradients"),
    ("mlp_arrays", "/ ACCUMULATE", "", "gradients"),  # which AdamW does not show
    ("settings", "DistributedSampler(dataset, shuffle", "DistributedSampler(dataset, 1, 0, shuffle", "shares"),
    ("settings", "* torch.exp(0.5", "* torch.exp(0.4", "gradients"),  # behind noise that is held still
    ("mlp_arrays", "batch_size=BATCH,", "batch_size=BATCH // 2,", "batch"),
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize(("name", "right", "wrong", "check"), WRONG)
def test_a_wrong_conversion_fails(
    name: str, right: str, wrong: str, check: str, torch_python: str, tmp_path: Path
) -> None:
    report = proof(name, torch_python, tmp_path, change=(right, wrong))
    assert report.verdict == "failed", report
    assert check in [one.name for one in report.checks if one.status == "failed"], report.checks


STEPS = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(176, 10)
y = (x.sum(1) > 0).long()
model = nn.Linear(10, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, epochs=2, steps_per_epoch=len(loader) // 4 + 1)
for epoch in range(2):
    for i, (a, b) in enumerate(loader):
        loss = F.cross_entropy(model(a), b) / 4
        loss.backward()
        if (i + 1) % 4 == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
"""


@pytest.mark.torch
def test_what_is_counted_of_an_epoch_is_what_a_process_counts(torch_python: str, tmp_path: Path) -> None:
    """11 batches of a process make 3 steps, the last of fewer batches; the rates' course is as long."""
    (tmp_path / "single.py").write_text(STEPS)
    report = proof_of(tmp_path / "single.py", torch_python, tmp_path, Options())
    assert (report.verdict, report.steps) == ("passed", 3), report
    wrong = ("steps_per_epoch=len(loader)", "steps_per_epoch=2 * len(loader)")
    report = proof_of(tmp_path / "single.py", torch_python, tmp_path, Options(), wrong)
    assert {"optimizer", "weights"} <= {one.name for one in report.checks if one.status == "failed"}, report


PRINTED = {
    "conv_net": ("accuracy", 6),
    "lstm": ("accuracy", 5),
    "mlp_arrays": ("accuracy", 4),
    "settings": ("test loss", 3),
}


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_a_conversion_runs_under_torchrun(name: str, torch_python: str, tmp_path: Path) -> None:
    (tmp_path / "multi.py").write_bytes((FIXTURES / name / "multi.py").read_bytes())
    torchrun = [torch_python, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "multi.py"]
    done = subprocess.run(torchrun, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    text, times = PRINTED[name]
    assert "no better" in done.stdout or done.stdout.count(text) == times  # by rank 0 alone


def test_without_pytorch_the_proof_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(VerifyError, match=r"pip install '\.\[torch\]'"):
        proof("mlp_arrays", sys.executable, tmp_path)


def needs_a_gpu(lines: str) -> str:
    return STEPS.replace("model = ", f"{lines}\nmodel = ", 1)


FAILS = {
    "a device": ("torch.zeros(1).to('cuda:0')", "both scripts ask for a GPU (single.py, line 9), and a proof"),
    "a method": ("torch.zeros(1).cuda()", "both scripts ask for a GPU (single.py, line 9), and a proof"),
    "something else": ("open('lost.txt')", "the original script fails by itself: FileNotFoundError"),
}


@pytest.mark.torch
@pytest.mark.parametrize(("line", "reason"), FAILS.values(), ids=FAILS)
def test_scripts_that_both_fail_are_not_comparable(line: str, reason: str, torch_python: str, tmp_path: Path) -> None:
    (tmp_path / "single.py").write_text(needs_a_gpu(line))
    report = proof_of(tmp_path / "single.py", torch_python, tmp_path, Options())
    assert report.verdict == "not comparable" and reason in report.reason, report


@pytest.mark.torch
def test_a_conversion_that_alone_asks_for_a_gpu_fails(torch_python: str, tmp_path: Path) -> None:
    (tmp_path / "single.py").write_text(needs_a_gpu("first = torch.zeros(1)"))
    change = ("first = torch.zeros(1)", "first = torch.zeros(1).cuda()")
    report = proof_of(tmp_path / "single.py", torch_python, tmp_path, Options(), change)
    assert report.verdict == "failed" and report.reason.startswith("the converted script failed"), report
