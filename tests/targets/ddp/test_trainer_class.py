"""Trainer classes: refused with the functions to write, which are converted once they are written so."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.conversion import Conversion, convert
from converter.options import Options
from converter.source import from_bytes
from tests.proofs import proof_of

METHODS_IMPORTS = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


"""
METHODS = """\
class Trainer:
    def __init__(self, model, loader, test_loader, device):
        self.model = model.to(device)
        self.loader = loader
        self.test_loader = test_loader
        self.device = device
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)

    def train_epoch(self, epoch):
        self.model.train()
        total = 0.0
        for x, y in self.loader:
            x, y = x.to(self.device), y.to(self.device)
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(self.loader)

    def evaluate(self):
        self.model.eval()
        correct = 0
        with torch.no_grad():
            for x, y in self.test_loader:
                correct += (self.model(x.to(self.device)).argmax(1) == y.to(self.device)).sum().item()
        return correct / len(self.test_loader.dataset)

    def fit(self, epochs):
        for epoch in range(epochs):
            loss = self.train_epoch(epoch)
            print(epoch, loss, self.evaluate())
        torch.save(self.model.state_dict(), 'last.pt')


def main():
    torch.manual_seed(0)
    x = torch.randn(160, 4)
    y = (x.sum(1) > 0).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
    test_loader = DataLoader(TensorDataset(x, y), batch_size=32)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    trainer = Trainer(nn.Linear(4, 2), loader, test_loader, device)
    trainer.fit(3)


if __name__ == '__main__':
    main()
"""
METHODS_WRITTEN = """\
def train_epoch(model, loader, device, optimizer, epoch):
    model.train()
    total = 0.0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


def evaluate(model, test_loader, device):
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in test_loader:
            correct += (model(x.to(device)).argmax(1) == y.to(device)).sum().item()
    return correct / len(test_loader.dataset)


def fit(model, loader, device, optimizer, test_loader, epochs):
    for epoch in range(epochs):
        loss = train_epoch(model, loader, device, optimizer, epoch)
        print(epoch, loss, evaluate(model, test_loader, device))
    torch.save(model.state_dict(), 'last.pt')


def main():
    torch.manual_seed(0)
    x = torch.randn(160, 4)
    y = (x.sum(1) > 0).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
    test_loader = DataLoader(TensorDataset(x, y), batch_size=32)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    model = nn.Linear(4, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    fit(model, loader, device, optimizer, test_loader, 3)


if __name__ == '__main__':
    main()
"""
OWN_LOADER_IMPORTS = """\
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


"""
OWN_LOADER = """\
class Trainer(object):
    def __init__(self, batch_size=16):
        x = torch.randn(160, 4)
        self.loader = DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), batch_size=batch_size, shuffle=True)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.steps = 0

    def train(self):
        for epoch in range(3):
            for x, y in self.loader:
                loss = self.criterion(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.steps += 1


torch.manual_seed(0)
Trainer().train()
"""
OWN_LOADER_WRITTEN = """\
def train(loader, criterion, model, optimizer, steps):
    for epoch in range(3):
        for x, y in loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            steps += 1
    return steps


torch.manual_seed(0)
x = torch.randn(160, 4)
loader = DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
steps = train(loader, criterion, model, optimizer, 0)
"""
STEP_IMPORTS = """\
import argparse
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


"""
STEP = """\
class Solver:
    def __init__(self, model, optimizer, args):
        self.model, self.optimizer, self.args = model, optimizer, args
        self.loss = nn.CrossEntropyLoss()

    def _step(self, x, y):
        loss = self.loss(self.model(x), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, train_loader):
        for epoch in range(self.args.epochs):
            for x, y in train_loader:
                self._step(x, y)
            print('epoch', epoch)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(0)
    x = torch.randn(160, 4)
    train_loader = DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), batch_size=16, shuffle=True)
    net = nn.Linear(4, 2)
    solver = Solver(net, torch.optim.SGD(net.parameters(), lr=0.1), args)
    solver.fit(train_loader)
"""
STEP_WRITTEN = """\
def fit(args, self_loss, model, optimizer, train_loader):
    for epoch in range(args.epochs):
        for x, y in train_loader:
            loss = self_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print('epoch', epoch)


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(0)
    x = torch.randn(160, 4)
    train_loader = DataLoader(TensorDataset(x, (x.sum(1) > 0).long()), batch_size=16, shuffle=True)
    net = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    fit(args, nn.CrossEntropyLoss(), net, optimizer, train_loader)
"""
WRITTEN = [
    (METHODS_IMPORTS + METHODS, METHODS_IMPORTS + METHODS_WRITTEN),
    (OWN_LOADER_IMPORTS + OWN_LOADER, OWN_LOADER_IMPORTS + OWN_LOADER_WRITTEN),
    (STEP_IMPORTS + STEP, STEP_IMPORTS + STEP_WRITTEN),
]


def conversion(script: str) -> Conversion:
    return convert(from_bytes("train.py", script.encode()), Options())


@pytest.mark.parametrize(("script", "written"), WRITTEN)
def test_the_edit_that_is_told(script: str, written: str) -> None:
    (found,) = conversion(script).diagnostics
    line = script[: script.index("loss.backward()")].count("\n") + 1
    assert (found.code, found.line) == ("TMG292", line)
    signatures = [part.partition(")")[0] + "):" for part in found.hint.split("def ")[1:]]
    assert [one for one in signatures if f"def {one}" not in written] == []
    assert len(signatures) == written.count("\ndef ") - written.count("\ndef main")
    assert conversion(written).status == "converted"


@pytest.mark.torch
@pytest.mark.parametrize("written", [written for _, written in WRITTEN])
def test_proof_of_what_is_written(written: str, torch_python: str, tmp_path: Path) -> None:
    (tmp_path / "single.py").write_text(written)
    report = proof_of(tmp_path / "single.py", torch_python, tmp_path, Options())
    assert (report.verdict, report.steps) == ("passed", 3), report


def test_a_step_that_the_loop_calls_goes_into_it() -> None:
    (found,) = conversion(STEP_IMPORTS + STEP).diagnostics
    assert "def _step(" not in found.hint and "put what _step does into the loop over the batches" in found.hint
    assert "the module (line 34) makes" in found.hint


def test_attributes_that_change_are_returned() -> None:
    (found,) = conversion(OWN_LOADER_IMPORTS + OWN_LOADER).diagnostics
    assert "return steps where a function changes it" in found.hint
    (other,) = conversion(METHODS_IMPORTS + METHODS).diagnostics
    assert "return" not in other.hint


def test_a_loop_in_the_constructor_has_no_functions_to_tell() -> None:
    loop = "        torch.optim.SGD(net.parameters())\n        for x in loader:\n            x.backward()\n"
    script = f"{STEP_IMPORTS}class All:\n    def __init__(self, net, loader):\n{loop}"
    (found,) = conversion(f"{script}All(nn.Linear(4, 2), DataLoader(data))\n").diagnostics
    assert (found.code, found.hint) == ("TMG292", "write the training loop as a function")
