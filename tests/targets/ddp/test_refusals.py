"""PyTorch scripts: what is refused, at which line, and what is not; each is a converted one with a few other words."""

from __future__ import annotations

import ast
import textwrap

import pytest

from converter.conversion import Conversion, convert
from converter.rule import all_rules
from converter.source import from_bytes
from converter.source.header import find_header, from_flags

SCRIPT = next(rule.before for rule in all_rules() if rule.code == "TMG177")

# Another manner: functions, whose parameters have the names of what they get.
MAIN = """\
import argparse
import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils.data import DataLoader


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(4, 2)

    def forward(self, x):
        return self.one(x)

    def begin(self, count):
        return torch.zeros(count, 2)


def fit(model, data, opt, epoch):
    model.train()
    seen = 0.0
    for x, y in data:
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        seen += loss.item()
    return seen / len(data)


def score(model, data):
    model.eval()
    right = 0
    for x, y in data:
        right += (model(x).argmax(1) == y).sum().item()
    return right / len(data.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--batch', type=int, default=8)
    args = parser.parse_args()
    train_set, test_set = torch.load('train.pt'), torch.load('test.pt')
    train_loader = DataLoader(train_set, batch_size=args.batch, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=100)
    net = Net()
    opt = optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(5):
        loss = fit(net, train_loader, opt, epoch)
        print(loss, score(net, test_loader))


if __name__ == '__main__':
    main()
"""
TRAIN = "        optimizer.step()\n"
STEP = "        opt.step()\n"
EPOCH = "        print(loss, score(net, test_loader))\n"
# The loop over the batches in the function that makes the model.
WHOLE = MAIN.replace(
    "        loss = fit(net, train_loader, opt, epoch)\n",
    MAIN[MAIN.index("    model.train()") : MAIN.index("    return seen")]
    .replace("    ", "        ", 1).replace("\n    ", "\n        ").rstrip(" ")
    .replace("model", "net").replace("in data:", "in train_loader:"),
).replace("print(loss, score", "print(seen, score")  # fmt: skip
WHOLE = WHOLE[: WHOLE.index("def fit(")] + WHOLE[WHOLE.index("def score(") :]
WHOLE_EPOCH = EPOCH.replace("loss", "seen")


def conversion(script: str, *flags: str) -> Conversion:
    return convert(from_bytes("train.py", script.encode()), from_flags(flags))


def findings(script: str, *flags: str) -> list[tuple[str, int]]:
    return [(finding.code, finding.line) for finding in conversion(script, *flags).diagnostics]


def with_(text: str, *pairs: str) -> str:
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new)
    return text


def line_of(script: str, text: str) -> int:
    return script[: script.index(text)].count("\n") + 1


@pytest.mark.parametrize("script", [SCRIPT, MAIN, SCRIPT.rstrip("\n"), SCRIPT.replace("\n", "\r\n")])
def test_the_scripts_are_converted(script: str) -> None:
    done = conversion(script)
    assert (done.status, done.diagnostics) == ("converted", ())
    assert done.text is not None
    header = find_header(done.text)
    assert header is not None and header.options.target == "ddp"
    assert conversion(done.text).status == "unchanged"
    assert ("\n" in done.text.replace("\r\n", "")) == ("\r" not in script)


REFUSED = [
    # several models, optimizers, steps
    (SCRIPT, "\n\n\ndef acc", "\nsecond = torch.optim.SGD(net.parameters(), 0.1)\n\n\ndef acc", "TMG292", "second ="),
    (SCRIPT, TRAIN, TRAIN + "        loss.backward()\n", "TMG292", "loss.backward()\n    print"),
    (SCRIPT, "optimizer.step()", "optimizer.step(lambda: loss)", "TMG292", "optimizer.step("),
    (SCRIPT, "net.parameters()", "list(net.parameters()) + list(other.parameters())", "TMG292", "optimizer = "),
    (MAIN, "        loss = fit(", "        fit(net, train_loader, opt, 0)\n        loss = fit(", "TMG292",
     "        loss = fit("),
    (SCRIPT, "net.to('cuda')\n", "net = torch.compile(net)\n", "TMG299", "net = torch.comp"),
    (SCRIPT, "net = nn.Seq", "net = other.Seq", "", ""),
    # a state that goes from batch to batch
    (SCRIPT, "net(images.to('cuda')), l", "net(images.to('cuda'), h), l", "", ""),
    (SCRIPT, "        loss = criterion(net(images.to('cuda'))",
     "        h = h.detach()\n        loss = criterion(net(images, h)",
     "TMG292", "h = h.detach"),
    # around the wrapper
    (SCRIPT, "net(images.to('cuda')), labels", "net[0](images.to('cuda')), labels", "TMG293",
     "    for images, labels in train_loader"),
    (SCRIPT, TRAIN, TRAIN + "        extra = net(images)\n", "TMG293", "extra ="),
    (SCRIPT, "    for images, labels in train_loader:", "    net.half()\n    for images, labels in train_loader:",
     "TMG293", "net.half"),
    (SCRIPT, "    for images, labels in train_loader:",
     "    net.out = nn.Linear(4, 4)\n    for images, labels in train_loader:",
     "TMG293", "net.out"),
    (MAIN, "model(x), y)", "model(x), y) + model.one(x).mean()", "TMG293", "        loss = F"),
    (MAIN, "model(x), y)", "model(x) + model.begin(8), y)", "", ""),
    (MAIN, STEP, "        nn.utils.clip_grad_norm_(model.parameters(), 1)\n" + STEP, "", ""),
    # the model is changed: before it is wrapped, after that
    (MAIN, "    opt = optim", "    net.half()\n    opt = optim", "", ""),
    (MAIN, "    opt = optim", "    net.apply(print)\n    opt = optim", "", ""),
    (MAIN, EPOCH, EPOCH + "        net.half()\n", "TMG293", "        net.half()"),
    (MAIN, "    model.train()\n", "    model.train()\n    model.half()\n", "TMG293", "    model.half()"),
    (WHOLE, "    opt = optim", "    net.apply(print)\n    opt = optim", "", ""),
    (WHOLE, WHOLE_EPOCH, WHOLE_EPOCH + "        net.half()\n", "TMG293", "        net.half()"),
    # the data
    (SCRIPT, "shuffle=True", "sampler=mine", "TMG294", "train_loader ="),
    (SCRIPT, "train_set, batch_size=64, shuffle=True", "*settings", "TMG294", "train_loader ="),
    (SCRIPT, "batch_size=64, shuffle=True", "**settings", "", ""),
    (SCRIPT, "DataLoader(train_set,", "DataLoader(TensorDataset(x, y),", "", ""),
    (SCRIPT, "batch_size=64, shuffle=True", "sampler=mine, **settings", "TMG294", "train_loader ="),
    # means that are formatted as whole numbers
    (MAIN, "return seen /", "print('{} {:d}'.format(1, seen))\n    return seen /", "TMG297", "    print('{} {:d}"),
    (MAIN, "return seen /", "print('{:d}'.format(epoch), seen)\n    return seen /", "", ""),
    (MAIN, "return seen /", "print('{1:d} {0:.0f}'.format(seen, epoch))\n    return seen /", "", ""),
    (MAIN, "return seen /", "print(f'{seen:3d}')\n    return seen /", "TMG297", "    print(f'{seen"),
    (MAIN, "return seen /", "print(f'{seen:3.0f} {epoch:d}', '%d' % seen)\n    return seen /", "", ""),
    (SCRIPT, "accuracy(net, test_loader))", "accuracy(net, train_loader))", "TMG294",
     "    for images, labels in loader"),
    (SCRIPT, "for images, labels in train_loader:", "for images, labels in zip(x, y):", "TMG294",
     "        loss.backward"),
    (SCRIPT, "shuffle=True", "shuffle=True, drop_last=True, num_workers=2, pin_memory=True", "", ""),
    (SCRIPT, "shuffle=True", "shuffle=not False", "", ""),
    (SCRIPT, "net = nn", "steps = len(train_set) // 64\nnet = nn", "", ""),
    (SCRIPT, "train_loader = ", "steps = len(train_set) // 64\ntrain_loader = ", "TMG294", "steps ="),
    (SCRIPT, "train_loader = ", "print(len(train_set))\ntrain_loader = ", "", ""),
    # decisions
    (SCRIPT, TRAIN, TRAIN + "        if loss.item() > 9:\n            break\n", "TMG295", "        if loss"),
    (SCRIPT, TRAIN, TRAIN + "        if loss.item() > 9:\n            torch.save(net, 'x')\n", "TMG295",
     "        if loss"),
    (SCRIPT, TRAIN, TRAIN + "        if torch.isnan(loss):\n            continue\n", "TMG295", "        if torch"),
    (SCRIPT, "        optimizer.step()", "        if loss < 3:\n            optimizer.step()", "TMG295",
     "        if loss"),
    (SCRIPT, TRAIN, TRAIN + "        last = loss.item()\n    if last < 0.1:\n        break\n", "TMG295", "    if last"),
    (SCRIPT, TRAIN, TRAIN + "    if time.time() > limit:\n        break\n", "", ""),  # time is not imported
    ("import time\n" + SCRIPT, TRAIN, TRAIN + "    if time.time() > 9:\n        break\n", "TMG295", "    if time"),
    ("import random\n" + SCRIPT, "        optimizer.zero",
     "        if random.random() < 0.5:\n            continue\n        optimizer.zero",
     "TMG295", "        if random"),
    (MAIN, EPOCH, EPOCH + "        if loss < 0.1:\n            break\n", "", ""),  # a mean of all processes
    (MAIN, EPOCH, "        if score(net, test_loader) > 0.9:\n            break\n", "", ""),  # rank 0's, sent to all
    (SCRIPT, TRAIN, TRAIN + "        if epoch > 3:\n            break\n", "", ""),
    # rank 0
    (MAIN, "    model.train()\n", "", "TMG296", "    model.eval()"),
    (MAIN, "    right = 0\n", "    right = 0\n    log.append(right)\n", "TMG296", "    log.append"),
    (MAIN, "    right = 0\n", "    global best\n    right = 0\n", "TMG296", "    global best"),
    (MAIN, "    right = 0\n", "    right = []\n    right.append(1)\n", "", ""),
    (MAIN, EPOCH, EPOCH + "        for x, y in test_loader:\n            last = x\n        print(last)\n", "TMG296",
     "            last = x"),
    (SCRIPT, "    for images, labels in train_loader:", "    n = open('log', 'w').write('x') and 3 if True else 4\n"
     "    for images, labels in train_loader:", "", ""),
    (SCRIPT, TRAIN, TRAIN + "    rights = [net(x) for x, _ in test_loader]\n", "TMG296", "    rights ="),
    (SCRIPT, TRAIN, TRAIN + "    if net(x[:9].cuda()).sum() > 9:\n        break\n", "TMG295", "    if net"),
    (SCRIPT, "net.to('cuda')\n", "if torch.cuda.is_available():\n    net = net.cuda()\n", "", ""),
    # several GPUs already
    (SCRIPT, "net.to('cuda')\n", "net = nn.DataParallel(net)\n", "TMG216", "net = nn.Data"),
    (SCRIPT, "import torch\n",
     "import torch\nimport torch.distributed as dd\ndd.init_process_group('nccl')\n", "TMG216", "dd.init"),
    (SCRIPT, "import torch\n", "import os\nimport torch\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n",
     "TMG216", "os.env"),
    (SCRIPT, "net.to('cuda')", "net.cuda(0)", "TMG299", "net.cuda(0)"),
    (SCRIPT, "net.to('cuda')", "net.cuda()", "", ""),
    (SCRIPT, "import torch\n", "import torch\nimport lightning\n", "TMG216", "import lightning"),
    (SCRIPT, "import torch\n", "import torch\nimport neptune\nneptune.init()\n", "TMG299", "neptune.init"),
    (SCRIPT, "import torch\n", "import torch\nrank = 3\n", "TMG299", "rank = 3"),
    (SCRIPT, "import torch\n", "import torch\nprint(torch.cuda.device_count())\n", "", ""),
]  # fmt: skip


@pytest.mark.parametrize(("script", "old", "new", "code", "where"), REFUSED)
def test_what_is_refused_and_what_is_not(script: str, old: str, new: str, code: str, where: str) -> None:
    changed = with_(script, old, new)
    found = [one for one in conversion(changed).diagnostics if one.severity == "error"]
    assert {one.code for one in found} == ({code} if code else set()), found
    if code:
        assert found[0].line == line_of(changed, where), found
        assert all(one.hint and one.column for one in found)


@pytest.mark.parametrize(
    ("script", "old", "new", "lines"),
    [
        (MAIN, "import argparse\n", "import argparse\nfrom datetime import datetime\n",
         ["import datetime as datetime_module"]),
        (MAIN, "net = Net()", "net = Net().to('cuda:0')", ["net = Net().to('cuda')"]),
        (MAIN, EPOCH, EPOCH + "        open('log', 'w').write('x')\n",
         ["if rank == 0:", "open('log', 'w').write('x')"]),
        (MAIN, "model.train()\n", "model.train()\n    w = model.one.weight\n", ["w = model.module.one.weight"]),
        (MAIN, "    return seen", "    torch.save(model.state_dict(), 'x')\n    return seen",
         ["torch.save(model.module.state_dict(), 'x')"]),
        (SCRIPT, "range(10)", "tqdm(range(10))", ["train_loader.sampler.set_epoch(train_loader.sampler.epoch + 1)"]),
        (SCRIPT, "net = nn", "steps = len(train_set) // 64\nnet = nn", ["steps = len(train_loader.sampler) // 64"]),
        (SCRIPT, "for epoch in range(10):", "while True:",
         ["train_loader.sampler.set_epoch(train_loader.sampler.epoch + 1)"]),
    ],
)  # fmt: skip
def test_what_is_written(script: str, old: str, new: str, lines: list[str]) -> None:
    done = conversion(with_(script, old, new))
    assert done.text is not None, done.diagnostics
    ast.parse(done.text)
    rest = iter(line.strip() for line in done.text.splitlines())
    assert [line for line in lines if line not in rest] == []


def test_the_loop_in_a_function_of_the_module_that_has_the_model() -> None:
    begin, end = MAIN.index("def main():\n"), MAIN.index("\n\nif __name__")
    script = MAIN[:begin] + textwrap.dedent(MAIN[begin:end].partition("\n")[2])
    done = conversion(script)
    assert (done.status, done.diagnostics) == ("converted", ()) and done.text is not None
    assert "\nddp_net = DistributedDataParallel(net)\n" in done.text
    again = script.replace("        loss = fit(", "    loss = fit(") + "net = Net()\n"
    assert [code for code, _ in findings(again)] == ["TMG292"]  # a second model


@pytest.mark.parametrize(
    ("imports", "added", "seeded"),
    [
        ("import numpy as np\nimport torch\n", False, "np.random.seed(seed)"),
        ("import numpy\nimport torch\n", False, "numpy.random.seed(seed)"),
        ("import torch\nx = torch.rand(3)\nimport numpy as np\n", True, "numpy.random.seed(seed)"),
        ("import torch\nfrom numpy import zeros\n", True, "numpy.random.seed(seed)"),
        ("import torch\n", False, ""),
    ],
)
def test_numpy_is_there_when_the_processes_are_started(imports: str, added: bool, seeded: str) -> None:
    text = conversion(SCRIPT.replace("import torch\n", imports, 1)).text
    assert text is not None and seeded in text and ("random.seed(seed)\n    np" in text) == seeded.startswith("np")
    assert (text.count("import numpy\n") == 1) == (added or "import numpy\n" in imports)
    assert not seeded or text.index("import numpy") < text.index("\nstart_processes()")


SHOWN = "        total += loss.item()\n        seen += len(labels)\n"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("print(total)", "TMG375"),
        ("print('%d examples' % seen)", "TMG375"),
        ("log.append(total)", "TMG375"),
        ("print(total / len(train_loader), 100. * total / seen)", ""),
        ("print(total * world)", ""),
        ("print(epoch)", ""),
        ("mean = total / seen\n    print(mean)", ""),
    ],
)
def test_sums_that_are_shown_as_they_are(line: str, code: str) -> None:
    script = with_(SCRIPT, TRAIN, f"{TRAIN}{SHOWN}    {line}\n", "    for images, labels in train_loader",
                   "    total, seen = 0.0, 0\n    for images, labels in train_loader")  # fmt: skip
    assert [one for one, _ in findings(script)] == ([code] if code else [])
    steps = script.replace("len(labels)", "1")
    assert not code or [one for one, _ in findings(steps)] == ([code] if "total" in line else [])


def test_the_total_batch() -> None:
    done = conversion(SCRIPT, "--batch", "total")
    assert done.text is not None and "batch_size=rank_batch(64)" in done.text
    assert findings(SCRIPT.replace("=64", "=63"), "--batch", "total") == [("TMG298", 8)]
    assert findings(SCRIPT.replace("Loss()", "Loss(w)"), "--batch", "total") == [("TMG298", 27)]
    assert findings(SCRIPT.replace("Loss()", "Loss(w)")) == []
    used = SCRIPT.replace("=64", "=size").replace("test_set, batch", "size, batch")
    assert (
        findings("size = 64\n" + used.replace("\nnet =", "\nprint(size)\nnet ="), "--batch", "total")[0][0] == "TMG298"
    )


def test_an_evaluation_between_the_training_batches() -> None:
    script = with_(SCRIPT, TRAIN, TRAIN + "        right = accuracy(net, test_loader)\n")
    assert findings(script) == [("TMG296", 31), ("TMG293", 31)]
    assert all(one.severity == "error" for one in conversion(script).diagnostics)


def test_the_target_is_chosen_by_what_trains() -> None:
    assert findings(SCRIPT, "--target", "ddp") == []
    assert conversion("import torch\nprint(torch.ones(3))\n").status == "unchanged"
    assert findings("import tensorflow as tf\n", "--target", "ddp") == [("TMG280", 1)]
    decisions = {one.topic: one.text for one in conversion(SCRIPT).decisions}
    assert "PyTorch trains here" in decisions["target"]


def test_settings_that_are_not_seen() -> None:
    changed = with_(SCRIPT, "batch_size=64, shuffle=True", "shuffle=True, **settings")
    done = conversion(changed)
    assert done.text is not None and "train_loader = rank_loader(train_set, shuffle=True, **settings)" in done.text
    assert "rank_loader" not in (conversion(SCRIPT).text or "")
    assert [code for code, _ in findings(changed, "--batch", "total")] == ["TMG298"]
    seen = with_(SCRIPT, "batch_size=64, shuffle=True", "batch_size=64, shuffle=True, **settings")
    assert "rank_loader(train_set, batch_size=rank_batch(64)," in (conversion(seen, "--batch", "total").text or "")


@pytest.mark.parametrize(
    ("loss", "codes"),
    [
        ("criterion(net(images.to('cuda')), labels.to('cuda')).mean()", []),
        ("torch.sum(net(images.to('cuda')))", ["TMG372"]),
        ("net(images.to('cuda')).pow(2).sum()", ["TMG372"]),
        ("net(images.to('cuda')).pow(2).sum(1).mean()", []),
        ("net(images.to('cuda')).pow(2).sum() / len(images)", []),
        ("added(net(images.to('cuda')))", ["TMG372"]),
        ("averaged(net(images.to('cuda')))", []),
        ("nn.functional.mse_loss(net(images.to('cuda')), labels, size_average=False)", ["TMG372"]),
        ("nn.functional.mse_loss(net(images.to('cuda')), labels, size_average=True)", []),
        ("nn.functional.mse_loss(net(images.to('cuda')), labels, reduction='sum')", ["TMG372"]),
    ],
)
def test_losses_that_are_sums(loss: str, codes: list[str]) -> None:
    functions = "def added(x):\n    return (x ** 2).sum()\n\n\ndef averaged(x):\n    return x.sum(1).mean()\n\n\n"
    script = with_(SCRIPT, "criterion(net(images.to('cuda')), labels.to('cuda'))", loss)
    script = with_(script, "\nnet = ", functions + "\nnet = ")
    assert [code for code, _ in findings(script)] == codes


def test_what_entries_of_one_process_count() -> None:
    counted = "        for guess in net_out.argmax(1):\n            counts[guess] += 1\n    print(counts)\n"
    output = "        net_out = net(images.to('cuda'))\n"
    script = with_(SCRIPT, "net(images.to('cuda')), l", "net_out, l", "        loss =", output + "        loss =")
    script = with_(script, TRAIN, TRAIN + counted, "for epoch", "counts = torch.zeros(10)\nfor epoch")
    assert [code for code, _ in findings(script)] == ["TMG370"]
    same = script.replace("counts[guess]", "counts[epoch]")
    assert findings(same) == []


LOOP = """\
hits = 0
with torch.no_grad():
    for images, labels in DataLoader(test_set, batch_size=10):
        out = net(images.to('cuda'))
        hits += (out.argmax(1) == labels.to('cuda')).sum().item()
print(hits / len(test_set))
"""


@pytest.mark.parametrize(
    ("more", "codes"),
    [
        (LOOP, []),
        (LOOP + LOOP, []),  # the second binds what it reads, and rank 0 alone runs it
        (LOOP + LOOP + "def shown():\n    out = 3\n    return out\n", []),
        (LOOP + LOOP + "print(out)\n", ["TMG296", "TMG296"]),
    ],
)
def test_several_evaluations_one_after_the_other(more: str, codes: list[str]) -> None:
    script = SCRIPT + "net.train()\ntest_set = TensorDataset(x, y)\n" + more
    assert [code for code, _ in findings(script)] == codes


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("    seen /= len(train_loader)\n", []),
        ("    seen += 1\n", ["TMG375"]),
        ("", ["TMG375"]),
    ],
)
def test_a_sum_that_is_divided_before_it_is_shown(line: str, codes: list[str]) -> None:
    begin = "    for images, labels in train_loader:\n"
    script = with_(SCRIPT, begin, "    seen = 0.0\n" + begin, TRAIN, TRAIN + "        seen += loss.item()\n" + line)
    assert "TMG375" not in [code for code, _ in findings(script)]  # nothing shows it
    end = TRAIN + "        seen += loss.item()\n"
    script = with_(script, end + line, end + line + "    print(seen)\n")
    assert [code for code, _ in findings(script) if code == "TMG375"] == codes


def test_a_loop_over_several_loaders_says_so() -> None:
    loop = "    for images, labels in train_loader:\n"
    done = conversion(with_(SCRIPT, loop, "    for images, labels in loaders['train']:\n"))
    assert [finding.code for finding in done.diagnostics] == ["TMG294"]
    assert "loaders['train'] stands for several loaders" in done.diagnostics[0].message


def test_groups_of_parameters_of_one_model() -> None:
    given = "[{'params': net[0].parameters()}, {'params': net[2].parameters(), 'lr': 0.1}]"
    assert conversion(with_(SCRIPT, "net.parameters()", given)).status == "converted"


@pytest.mark.parametrize(("script", "wrapper"), [(SCRIPT, "ddp_net"), (MAIN, "")])
def test_nothing_keeps_the_process_group_at_the_end(script: str, wrapper: str) -> None:
    """A wrapper of the module is let go of; one of a function is gone when it returns."""
    text = conversion(script).text
    assert text is not None
    lines = [line.strip() for line in text.splitlines()]
    assert lines[-1] == "dist.destroy_process_group()"
    assert lines[-2].startswith(f"{wrapper} = None") == bool(wrapper)
    imported = next(n for n, line in enumerate(lines) if line.startswith("import torch.distributed.nn"))
    assert imported < lines.index("def start_processes():")
