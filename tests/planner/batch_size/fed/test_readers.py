"""The batch size is found where readers put rows behind each other otherwise than by one `rows.append(row)`."""

from __future__ import annotations

import pytest

from tests.planner.batch_size.fed.test_rows import GRAPH, scaled
from tests.scripts import codes

STEPS = """\
n, begin = 16, 0
sess = tf.Session()
for step in range(100):
{}    sess.run(train_op, {{X: x, Y: y}})
"""
READER = """\
def pairs():
    while True:
        for row in data:
            yield row[:4], row[4:]


def flushed(size):
    x, y = [], []
    for row in data:
        if len(x) == size:
            yield x, y
            x, y = [], []
        x += {}
        y += [row[4:]]


def longest(rows):
    most, found = max(len(row) for row in rows), []
    for row in rows:
        found += [list(row) + [0.0] * (most - len(row))]
    return found


def between(first, last):
    return [data[i % 9, :4] for i in range(first, last)], [data[i % 9, 4:] for i in range(first, last)]


def one_by_one(first, last):
    x, y = [], []
    for i in range(first, last):
        x.append(data[i % 9, :4])
        y.append(data[i % 9, 4:])
    return x, y


reader = pairs()
"""


def script(*lines: str, row: str = "[row[:4]]") -> str:
    return GRAPH + READER.format(row) + STEPS.format("".join(f"    {line}\n" for line in lines))


def flush(batches: str, fed: str = "x, y", row: str = "[row[:4]]") -> str:
    loop = f"for x, y in {batches}:\n    x, y = {fed}\n    sess.run(train_op, {{X: x, Y: y}})\n"
    return GRAPH + READER.format(row) + "n = 16\nsess = tf.Session()\n" + loop


NAMED = "n, begin = 16 * num_gpus, 0"
TAKE = ("rows = []", "for _ in range(n):", "    rows.append(next(reader))")


@pytest.mark.parametrize(
    "lines",
    [
        (*TAKE, "x, y = zip(*rows)"),
        (*TAKE, "x, y = zip(*rows)", "x, y = np.stack(x), np.array(y)"),
        (*TAKE[:2], "    rows += [next(reader)]", "x, y = zip(*rows)"),
        ("rows = [next(reader) for _ in range(n)]", "x, y = zip(*rows)"),
        ("end = begin + n", "x, y = between(begin, end)", "begin = end"),
        ("x, y = between(begin, begin + n)", "begin += n"),
        ("x, y = between(step * n, (step + 1) * n)",),
        (*TAKE[:2], "    rows += [next(reader), next(reader)]", "x, y = zip(*rows)"),
        ("end = min(begin + n, 64)", "x, y = one_by_one(begin, end)", "begin = end"),
    ],
)
def test_in_each_step(lines: tuple[str, ...]) -> None:
    assert codes(script(*lines)) == [] and scaled(script(*lines)) == [NAMED]


@pytest.mark.parametrize("fed", ["x, y", "longest(x), y", "np.array(longest(x)), np.array(y)"])
def test_in_a_generator(fed: str) -> None:
    assert codes(flush("flushed(n)", fed)) == (["TMG349"] if "longest" in fed else [])
    assert scaled(flush("flushed(n)", fed)) == ["n = 16 * num_gpus"]
    assert any("flushed(16 * num_gpus)" in line for line in scaled(flush("flushed(16)", fed)))


@pytest.mark.parametrize(
    "lines",
    [
        (*TAKE, "rows.append(rows[0])", "x, y = zip(*rows)"),  # one more
        (*TAKE[:2], "    pair = next(reader)", "    if rng.rand() > 0.5: rows += [pair]", "x, y = zip(*rows)"),
        (*TAKE, "x, y = zip(*sorted(rows)[step:])"),
        ("x, y = between(begin, len(data) - n)",),
        ("end = rng.randint(n)", "x, y = between(begin, end)"),
        ("x, y = between(begin, step + n)",),
        ("x, y = between(begin, begin * n)", "begin += 1"),
    ],
)
def test_other_numbers_of_rows(lines: tuple[str, ...]) -> None:
    assert codes(script(*lines)) == ["TMG303"]


@pytest.mark.parametrize("row", ["[row[:4], row[:4]]", "list(row)", "[*row[:4]]"])
def test_several_rows_at_once(row: str) -> None:
    assert codes(flush("flushed(n)", row=row)) == ["TMG303"]
