"""PyTorch scripts of several files: models are imported as they are, everything else is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import Conversion, convert
from converter.options import Options
from converter.source import read
from tests.proofs import proof_of

SINGLE = Path(__file__).resolve().parent.parent.parent.parent / "fixtures/ddp/conv_net/single.py"
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
IMPORT = "from net import Net\n"


def project(folder: Path, model: tuple[str, str] = ("", ""), imports: str = IMPORT) -> Path:
    """The fixture in two files; model: a text of the model's file, and what replaces it."""
    text = SINGLE.read_text()
    begin, end = text.index("class Net("), text.index("def train(")
    net = HEAD + text[begin:end]
    assert model[0] in net
    (folder / "net.py").write_text(net.replace(*model) if model[0] else net)
    train = text[:begin] + text[end:]
    (folder / "train.py").write_text(train.replace("import numpy as np\n", "import numpy as np\n" + imports, 1))
    return folder / "train.py"


def converted(script: Path) -> Conversion:
    return convert(read(str(script)), Options())


def test_a_model_of_another_file_is_imported_as_it_is(tmp_path: Path) -> None:
    done = converted(project(tmp_path))
    assert done.status == "converted" and [one.code for one in done.diagnostics] == ["TMG370"]
    assert done.text is not None and IMPORT in done.text and "DistributedDataParallel(model)" in done.text


def test_batch_normalisation_of_another_file_is_warned_of(tmp_path: Path) -> None:
    made = "super(Net, self).__init__()"
    script = project(tmp_path, (made, made + "\n        self.norm = nn.BatchNorm2d(8)"))
    done = converted(script)
    assert done.status == "converted"
    (found,) = [one for one in done.diagnostics if one.code == "TMG371"]
    assert read(str(script)).text.splitlines()[found.line - 1] + "\n" == IMPORT


CLASS = "class Net(nn.Module):"


@pytest.mark.parametrize(
    ("model", "imports"),
    [
        ((HEAD, HEAD + "def accuracy(x):\n    return x\n\n\n"), "from net import Net, accuracy\n"),
        ((HEAD, HEAD + "class Log(object):\n    pass\n\n\n"), "from net import Net, Log\n"),
        ((CLASS, "class Net(Base):"), IMPORT),
        ((HEAD, HEAD + "torch.manual_seed(3)\n\n\n"), IMPORT),
        ((HEAD, HEAD + "for one in []:\n    pass\n\n\n"), IMPORT),
        ((HEAD, HEAD + "import other\n"), IMPORT),
        ((HEAD, HEAD + "import horovod.torch\n"), IMPORT),
        (("def forward(self, x):", "def forward(self, x):\n        x = x.cuda(0)"), IMPORT),
        (("def forward(self, x):", "def forward(self, x):\n        x = x.to('cuda:0')"), IMPORT),
        (("def forward(self, x):", "def forward(self, x):\n        open('x', 'w').write('x')"), IMPORT),
        (("def forward(self, x):", "def forward(self, x):\n        x.sum().backward()"), IMPORT),
        (("def forward(self, x):", "def old(self):\n        torch.load('w')\n\n    def forward(self, x):"), IMPORT),
        ((CLASS, "class Net(nn.Module:"), IMPORT),
        (("", ""), "import net\nfrom net import Net\n"),
        (("", ""), "from .net import Net\n"),
        (("", ""), "from net import *\n"),
    ],
)  # fmt: skip
def test_what_is_more_than_models_is_refused(model: tuple[str, str], imports: str, tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("RATE = 1\n")
    done = converted(project(tmp_path, model, imports))
    assert done.status == "refused"
    assert [(one.code, one.line) for one in done.diagnostics][0] == ("TMG299", 7), done.diagnostics


def test_calls_of_a_refused_file_get_no_second_refusal(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("def rate():\n    return 0.1\n")
    script = project(tmp_path, imports="from net import Net\nfrom other import rate\n")
    script.write_text(script.read_text() + "\nprint(rate())\n")
    assert [one.code for one in converted(script).diagnostics if one.severity == "error"] == ["TMG299"]


@pytest.mark.torch
def test_a_project_of_two_files_is_proven_on_three_processes(torch_python: str, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "converted").mkdir()
    report = proof_of(project(tmp_path / "project"), torch_python, tmp_path / "converted", Options(num_gpus=3))
    assert (report.verdict, report.gpus, report.steps) == ("passed", 3, 3), report


@pytest.mark.parametrize(("gpus", "number"), [(4, "4"), (None, "gpu")])
def test_the_script_says_how_it_is_started(gpus: int | None, number: str) -> None:
    done = convert(read(str(SINGLE)), Options(target="ddp", num_gpus=gpus))
    assert done.text is not None
    assert f"start this script with: torchrun --nproc_per_node={number} %s" in done.text
