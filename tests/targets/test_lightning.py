"""PyTorch Lightning under every target: one refusal, at the call that is told the number of GPUs."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.cli.app import main
from converter.conversion import Conversion, convert
from converter.source import from_bytes
from converter.source.header import from_flags

TARGETS = ("auto", "towers", "mirrored", "ddp", "cluster")
LOADER = "loader = torch.utils.data.DataLoader(data, batch_size=8)\n"
FIT = "trainer.fit(net, loader)\n"


def conversion(script: str, target: str = "auto", *flags: str) -> Conversion:
    return convert(from_bytes("train.py", script.encode()), from_flags(["--target", target, *flags]))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("imports", "made"),
    [
        ("import pytorch_lightning as pl", "pl.Trainer(max_epochs=3)"),
        ("import lightning as L", "L.Trainer()"),
        ("import lightning.pytorch as pl", "pl.Trainer()"),
        ("from lightning.pytorch import Trainer", "Trainer()"),
        ("from pytorch_lightning import Trainer, LightningModule", "Trainer(gpus=1)"),
        ("import tensorflow as tf\nfrom lightning import Trainer", "Trainer()"),
    ],
)
def test_the_trainer_is_told(imports: str, made: str, target: str) -> None:
    script = f"import torch\n{imports}\n{LOADER}trainer = {made}\n{FIT}"
    (found,) = conversion(script, target, "--num-gpus", "4").diagnostics
    assert (found.code, found.line, found.column) == ("TMG216", script[: script.index(made)].count("\n") + 1, 11)
    assert "PyTorch Lightning trains this script" in found.message and "already" not in found.message
    assert "Trainer(accelerator='gpu', devices=4, strategy='ddp')" in found.hint


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("script", "hint"),
    [
        ("from lightning.pytorch.cli import LightningCLI\nLightningCLI(Net)\n", "--trainer.devices 2"),
        ("from lightning.fabric import Fabric\nFabric().backward(loss)\n", "write Fabric(accelerator='gpu', devices=2"),
    ],
)
def test_other_ways_of_lightning(script: str, hint: str, target: str) -> None:
    (found,) = conversion("import torch\n" + script, target).diagnostics
    assert (found.code, found.line) == ("TMG216", 3)
    assert hint in found.hint


@pytest.mark.parametrize("given", ["devices=4, strategy='ddp'", "gpus=2", "devices=1, num_nodes=2"])
def test_several_devices_are_told_already(given: str) -> None:
    (found,) = conversion(f"import pytorch_lightning as pl\ntrainer = pl.Trainer({given})\n{FIT}").diagnostics
    assert found.code == "TMG216" and "uses several GPUs already" in found.message


def test_a_loop_of_the_scripts_own_beside_lightning() -> None:
    """Only a Trainer, a Fabric or a command line of Lightning's trains; a function of it in another loop does not."""
    script = "import torch\nfrom lightning import seed_everything\nseed_everything(1)\nloss.backward()\n"
    assert "PyTorch Lightning trains this script" not in " ".join(f.message for f in conversion(script).diagnostics)
    own = "import torch\nfrom trainers import Trainer\ntrainer = Trainer()\nloss.backward()\n"
    assert "Lightning" not in " ".join(found.message for found in conversion(own).diagnostics)


def test_the_module_and_the_script_around_a_trainer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module = "import torch\nimport lightning as L\n\n\nclass Net(L.LightningModule):\n    pass\n"
    (tmp_path / "net.py").write_text(module)
    (tmp_path / "fit.py").write_text("import lightning as L\n\n\ndef run(net):\n    L.Trainer().fit(net, loader)\n")
    (tmp_path / "main.py").write_text("import torch\nfrom fit import run\nrun(torch.nn.Linear(1, 1))\n")
    told = "where its Trainer is made, write Trainer(accelerator='gpu', devices=N, strategy='ddp')"
    for name, said in (
        ("net.py", "net.py: TMG201 there is nothing to convert: this file makes what PyTorch Lightning trains"),
        ("main.py", "main.py:2:1: TMG201 PyTorch Lightning trains in fit.py:5:5, another file"),
    ):
        assert main(["convert", str(tmp_path / name)]) == 2
        shown = capsys.readouterr().err
        assert said in shown and told in shown
