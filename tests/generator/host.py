"""How a generated script cuts its examples into batches on the host: functions for it, and the loop that calls them.

Every way takes the same rows in the same order for the same batch size, but for the last, shorter batch: some feed it,
some leave it out, and some begin anew.
"""

from __future__ import annotations

ARRAYS = ("data", "labels", "words")
PARTS = ("part_x", "part_y", "part_w")

CLASS = """\
class Batches(object):
    def __init__(self, *arrays):
        self.arrays = arrays
        self.at = 0

    def next_batch(self, size):
        if self.at + size > len(self.arrays[0]):
            self.at = 0
        begin, self.at = self.at, self.at + size
        return [array[begin:self.at] for array in self.arrays]
"""
SIZED_CLASS = """\
class Loader(object):
    def __init__(self, x, y, w, batch_size):
        self.x, self.y, self.w = x, y, w
        self.batch_size = batch_size
        self.num_batches = len(x) // batch_size
        self.pointer = 0

    def reset(self):
        self.pointer = 0

    def next(self):
        rows = slice(self.pointer * self.batch_size, (self.pointer + 1) * self.batch_size)
        self.pointer += 1
        return self.x[rows], self.y[rows], self.w[rows]
"""
GENERATOR = """\
def batches(x, y, w, size):
    for i in range(0, len(x), size):
        yield x[i:i + size], y[i:i + size], w[i:i + size]
"""
ROWS = """\
def get_batch(index, size):
    at = index % (len(data) // size)
    return data[at * size:(at + 1) * size], labels[at * size:(at + 1) * size], words[at * size:(at + 1) * size]
"""
APPENDED = """\
def gathered(order):
    x, y, w = [], [], []
    for i in order:
        x.append(data[i])
        y.append(labels[i])
        w.append(words[i])
    return np.array(x), np.array(y), np.array(w)
"""


def functions(host: str) -> str:
    """What the way needs beside the loop, to be written behind the arrays; "" where that is nothing."""
    return {
        "next_batch": CLASS,
        "iterations": CLASS,
        "loader": SIZED_CLASS,
        "generator": GENERATOR,
        "get_batch": ROWS,
        "appended": APPENDED,
    }.get(host, "")


def feeds_whole_batches(host: str) -> bool:
    """Whether every batch has all its rows."""
    return host not in ("generator", "listed", "appended")


def loop(host: str, size: str, epochs: str, step: list[str], each_epoch: list[str]) -> list[str]:
    """The training loop.

    step: the lines of one training step, which read part_x, part_y and part_w (and `epoch`). each_epoch: what follows
    behind the steps of an epoch.
    """
    parts, arrays = ", ".join(PARTS), ", ".join(ARRAYS)
    if host == "iterations":
        return [
            f"batches = Batches({arrays})",
            "epoch, iteration = 0, 1",
            f"while iteration * {size} <= 2 * len(data):",
            f"    {parts} = batches.next_batch({size})",
            *_indented(step),
            "    iteration += 1",
            *each_epoch,
        ]
    if host == "offsets":
        rows = f"offset:offset + {size}"
        return [
            "epoch = 0",
            "for iteration in range(7):",
            f"    offset = (iteration * {size}) % (len(data) - {size} + 1)",
            f"    {parts} = {', '.join(f'{array}[{rows}]' for array in ARRAYS)}",
            *_indented(step),
            *each_epoch,
        ]
    before, inner = [], []
    if host == "next_batch":
        before = [f"batches = Batches({arrays})"]
        inner = [f"for b in range(int(len(data) / {size})):", f"    {parts} = batches.next_batch({size})"]
    if host == "loader":
        before = [f"loader = Loader({arrays}, {size})"]
        inner = ["loader.reset()", "for b in range(loader.num_batches):", f"    {parts} = loader.next()"]
    if host == "generator":
        inner = [f"for {parts} in batches({arrays}, {size}):"]
    if host == "listed":
        cut = ", ".join(f"[{array}[i:i + {size}] for i in range(0, len({array}), {size})]" for array in ARRAYS)
        before = [f"cut = list(zip({cut}))"]
        inner = [f"for {parts} in cut:"]
    if host == "split":
        cut = ", ".join(f"np.split({array}[:number * {size}], number)" for array in ARRAYS)
        before = [f"number = len(data) // {size}"]
        inner = [f"for {parts} in zip({cut}):"]
    if host == "get_batch":
        before = [f"number = len(data) // {size}"]
        inner = ["for b in range(number):", f"    {parts} = get_batch(b, {size})"]
    if host == "appended":
        inner = [
            f"for begin in range(0, len(data), {size}):",
            f"    end = min(begin + {size}, len(data))",
            f"    {parts} = gathered(range(begin, end))",
        ]
    return [*before, f"for epoch in range({epochs}):", *_indented([*inner, *_indented(step), *each_epoch])]


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]
