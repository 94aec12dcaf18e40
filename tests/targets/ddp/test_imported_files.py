"""PyTorch scripts of several files: what processes can have as it is is imported, everything else is refused."""

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
        ((HEAD, HEAD + "class Log(object):\n    pass\n\n\n"), "from net import Net, Log\n"),
        ((CLASS, "class Net(Base):"), IMPORT),
        ((HEAD, HEAD + "torch.manual_seed(3)\n\n\n"), IMPORT),
        ((HEAD, HEAD + "for one in []:\n    pass\n\n\n"), IMPORT),
        ((HEAD, HEAD + "import horovod.torch\n"), IMPORT),
        (("def forward(self, x):", "def forward(self, x):\n        x = x.cuda(0)"), IMPORT),
        (("def forward(self, x):", "def forward(self, x):\n        x = x.to('cuda:0')"), IMPORT),
        (("def forward(self, x):", "def forward(self, x):\n        open('x', 'w').write('x')"), IMPORT),
        (("def forward(self, x):", "def forward(self, x):\n        x.sum().backward()"), IMPORT),
        (("def forward(self, x):", "def old(self):\n        torch.load('w')\n\n    def forward(self, x):"), IMPORT),
        ((CLASS, "class Net(nn.Module:"), IMPORT),
        (("", ""), "from .net import Net\n"),
        (("", ""), "from net import *\n"),
    ],
)  # fmt: skip
def test_what_is_more_than_models_is_refused(model: tuple[str, str], imports: str, tmp_path: Path) -> None:
    done = converted(project(tmp_path, model, imports))
    assert done.status == "refused"
    assert [(one.code, one.line) for one in done.diagnostics][0] == ("TMG299", 7), done.diagnostics


def test_calls_of_a_refused_file_get_no_second_refusal(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("import time\n\ndef rate():\n    return time.time()\n")
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


DATA = """\
import numpy as np
import torch
from torch.utils.data import Dataset


class Points(Dataset):
    def __init__(self, count, seed):
        rng = np.random.RandomState(seed)
        self.x = rng.randn(count, 10).astype('float32')
        self.y = (self.x.sum(1) > 0).astype('int64')

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), int(self.y[i])
"""
MODEL = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(10, 2)

    def forward(self, x):
        return self.one(x)
"""
UTILS = """\
import random
import time

import numpy as np
import torch
from torch.utils.data import DataLoader

from dataset import Points

RATE, SIZE = 0.1, 16
TOP = dict(k=1)
total = 0


def accuracy(output, target):
    return (output.argmax(1) == target).float().mean().item()


def percent(output, target):
    return 100 * accuracy(output, target)


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def begin_with(layer):
    if isinstance(layer, torch.nn.Linear):
        torch.nn.init.xavier_uniform_(layer.weight)


def count_parameters(net):
    return sum(p.numel() for p in net.parameters())


def evaluate(net, data):
    net.eval()
    return sum(accuracy(net(x), y) for x, y in data) / len(data)


def save(state, name):
    torch.save(state, name)


def keep(state, name):
    save(state, name)


def now():
    return time.time()


def loaders():
    return DataLoader(Points(300, 0), batch_size=16, shuffle=True)


def counted(x):
    global total
    total += 1
    return x


def summed(output, target):
    return torch.nn.functional.cross_entropy(output, target, reduction='sum')


class AverageMeter(object):
    pass


class Stream(torch.utils.data.IterableDataset):
    pass
"""
TRAIN = """\
import sys

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from dataset import Points
from model import Net
from utils import accuracy


def main():
    torch.manual_seed(1)
    loader = DataLoader(Points(300, 0), batch_size=16, shuffle=True)
    test = DataLoader(Points(100, 1), batch_size=50)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(2):
        net.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
        net.eval()
        right = 0.0
        for x, y in test:
            right += accuracy(net(x), y)
        print(epoch, right / len(test))
    return 0


if __name__ == '__main__':
    sys.exit(main())
"""


def files(folder: Path, *pairs: str) -> Path:
    """A project of four files; pairs: texts of the script, each with what replaces it."""
    text = TRAIN
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text
        text = text.replace(old, new)
    for name, content in (("dataset", DATA), ("model", MODEL), ("utils", UTILS), ("train", text)):
        (folder / f"{name}.py").write_text(content)
    return folder / "train.py"


TAKES = "from utils import accuracy\n"
SEED = "    torch.manual_seed(1)\n"


@pytest.mark.parametrize(
    "pairs",
    [
        (),
        (TAKES, "import utils\n", "accuracy(net", "utils.accuracy(net"),
        (TAKES, "import utils as u\n", "accuracy(net", "u.percent(net", "lr=0.1", "lr=u.RATE"),
        (TAKES, "from utils import percent as accuracy, RATE, TOP, set_seed\n", SEED, "    set_seed(1)\n"),
        (TAKES, "from utils import accuracy, begin_with\n", "    optimizer =",
         "    net.apply(begin_with)\n    optimizer ="),
        (TAKES, "from utils import accuracy, count_parameters\n", "    optimizer =",
         "    print(count_parameters(net))\n    optimizer ="),
    ],
)  # fmt: skip
def test_what_computes_is_imported_as_it_is(pairs: tuple[str, ...], tmp_path: Path) -> None:
    done = converted(files(tmp_path, *pairs))
    assert (done.status, done.diagnostics) == ("converted", ())


# Names taken from utils.py, a line of the script and what replaces it, and the place and the reason of the refusal.
FAULTS = [
    ("save", "    return 0\n", "    save(net.state_dict(), 'x')\n    return 0\n", "utils.py:44:5: this writes a file"),
    ("keep", "", "", "utils.py:44:5: this writes a file"),
    ("now", "", "", "utils.py:52:12: what time.time gives differs"),
    ("loaders", "", "", "utils.py:56:12: the DataLoader is made here"),
    ("counted", "", "", "utils.py:60:5: this function changes variables of its file"),
    ("AverageMeter", "", "", "utils.py:69:1: the class AverageMeter is no model and no dataset"),
    ("Stream", "", "", "utils.py:73:1: the IterableDataset Stream gives every process"),
    ("absent", "", "", "utils.py:1:1: absent is not seen there"),
]


@pytest.mark.parametrize(("name", "old", "new", "said"), FAULTS, ids=[row[0] for row in FAULTS])
def test_what_is_refused_is_named_with_its_place(name: str, old: str, new: str, said: str, tmp_path: Path) -> None:
    pairs = (TAKES, f"from utils import accuracy, {name}\n", *((old, new) if old else ()))
    done = converted(files(tmp_path, *pairs))
    (found,) = [one for one in done.diagnostics if one.severity == "error"]
    assert (found.code, found.line) == ("TMG299", 9)
    assert f"{name} is of another file of the project; {said}" in found.message


GIVEN = [
    ("net.eval()", "net.apply(accuracy)", "net.apply changes the model after it was wrapped"),
    ("print(epoch, right / len(test))", "print(evaluate(net, test))", "evaluate is given the model"),
    ("print(epoch, right / len(test))", "print(evaluate(None, test))", "evaluate is given a loader"),
    ("print(epoch, right / len(test))", "print(count_parameters(optimizer))", ""),  # it only counts
    ("print(epoch, right / len(test))", "print(evaluate(optimizer, 1))", "evaluate is given the optimizer"),
    ("print(epoch, right / len(test))", "print(evaluate(0, len(test)))", ""),
    ("right += accuracy(net(x), y)", "right += list(map(accuracy, [net(x)], [y]))[0]", "accuracy, of another file, is"),
    ("batch_size=16,", "batch_size=16, collate_fn=accuracy,", ""),
]


@pytest.mark.parametrize(("old", "new", "said"), GIVEN)
def test_functions_of_other_files_are_not_given_what_trains(old: str, new: str, said: str, tmp_path: Path) -> None:
    script = files(tmp_path, TAKES, "from utils import accuracy, evaluate, count_parameters\n", old, new)
    done = converted(script)
    messages = [one.message for one in done.diagnostics if one.severity == "error"]
    assert len(messages) == bool(said) and all(said in message for message in messages), messages


def test_a_file_that_acts_when_it_is_imported_is_refused(tmp_path: Path) -> None:
    script = files(tmp_path)
    (tmp_path / "dataset.py").write_text(DATA + "\n\nprint(len(Points(9, 0)))\n")
    (found, other) = converted(script).diagnostics
    assert found.line == 7 and "dataset.py:19:1: this is done when the file is imported" in found.message
    assert other.line == 9  # utils.py imports it, too
    (tmp_path / "dataset.py").write_text(DATA + "\n\nif __name__ == '__main__':\n    print(len(Points(9, 0)))\n")
    assert converted(script).diagnostics == ()


def test_packages_hand_names_on(tmp_path: Path) -> None:
    script = files(tmp_path, "from model import Net", "from models import Net", "from dataset", "from data.points")
    for folder, text, inner in (("models", "from .net import Net\n", MODEL), ("data", "", DATA)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text(text)
        (tmp_path / folder / ("net.py" if text else "points.py")).write_text(inner)
    assert converted(script).diagnostics == ()
    (tmp_path / "models" / "net.py").write_text(MODEL.replace("self.one(x)", "self.one(x.cuda(0))"))
    (found,) = converted(script).diagnostics
    assert found.line == 8 and "net.py:10:25: the GPU is named by a number" in found.message


def test_a_loss_of_another_file_that_adds_up_is_warned_of(tmp_path: Path) -> None:
    done = converted(files(tmp_path, TAKES, "from utils import accuracy, summed\n", "F.cross_entropy(", "summed("))
    assert [one.code for one in done.diagnostics] == ["TMG372"]


def test_a_batch_size_of_another_file_is_not_divided(tmp_path: Path) -> None:
    script = files(tmp_path, TAKES, "from utils import accuracy, SIZE\n", "batch_size=16", "batch_size=SIZE")
    assert converted(script).diagnostics == ()
    done = convert(read(str(script)), Options(batch="total"))
    (found,) = [one for one in done.diagnostics if one.severity == "error"]
    assert (found.code, found.line) == ("TMG298", 14) and "SIZE is bound in another file" in found.message


def test_the_processes_end_before_the_script_leaves_python(tmp_path: Path) -> None:
    done = converted(files(tmp_path))
    assert done.text is not None and done.text.endswith(
        "    exit_status = main()\n    dist.destroy_process_group()\n    sys.exit(exit_status)\n"
    )


@pytest.mark.parametrize(
    ("last", "ended"),
    [
        ("exit(main())", "exit_status = main()\n    END\n    exit(exit_status)"),
        ("raise SystemExit(main())", "exit_status = main()\n    END\n    raise SystemExit(exit_status)"),
        ("sys.exit(\n        main()  # all\n    )",
         "exit_status = (\n        main()  # all\n    )\n    END\n    sys.exit(exit_status)"),
        ("sys.exit(main(),)", "sys.exit(main(),)\n    END"),
        ("main()\n    sys.exit(0)", "main()\n    END\n    sys.exit(0)"),
        ("main()\n    sys.exit()", "main()\n    END\n    sys.exit()"),
        ("main()", "main()\n    END"),
    ],
)  # fmt: skip
def test_each_way_to_leave_python(last: str, ended: str, tmp_path: Path) -> None:
    done = converted(files(tmp_path, "sys.exit(main())", last))
    assert done.text is not None
    assert done.text.endswith("    " + ended.replace("END", "dist.destroy_process_group()") + "\n")


@pytest.mark.torch
def test_a_project_of_four_files_is_proven(torch_python: str, tmp_path: Path) -> None:
    for folder in ("project", "converted"):
        (tmp_path / folder).mkdir()
    report = proof_of(files(tmp_path / "project"), torch_python, tmp_path / "converted", Options())
    assert (report.verdict, report.gpus, report.steps) == ("passed", 2, 3), report
