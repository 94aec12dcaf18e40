"""Mutants of the fixtures, converted and not run: python -m tests.generator.mutants N SEED.

A mutant is a fixture after one to three small changes: a statement is deleted, swapped, wrapped or commented on, a
name is another one, syntax is newer, the layout is odd. Whatever it means, the tool must not fail on it: what it writes
is Python, holds every comment, is the same for the same input, and is left alone when it is converted again. It has
SECONDS for all of that: a mutant that takes longer hangs.
"""

from __future__ import annotations

import ast
import builtins
import io
import random
import re
import signal
import sys
import tokenize
from collections import Counter
from collections.abc import Callable

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes
from tests.goldens import FIXTURES

SECONDS = 60
WRAPPERS = (
    "if True:",
    "with tf.name_scope('wrapped'):",
    "for _ in range(1):",
    "while True:",
    "try:",
    "if len('ab') > 1:  # always",
)
NEWER = (
    "print(f'{1 + 1}')",
    "if (walrus := 3) > 2: pass",
    "annotated: int = 3",
    "first, *others = 1, 2, 3",
    "matrix = [[1, 2]]; total = sum(*matrix)",
    "match 3:\n    case 3: pass\n    case _: pass",
    "async def later(): pass",
    "def positional(a, /, b, *, c=1) -> None: ...",
    "merged_dict = {**{}, 'a': 1}",
    "lambda_of = lambda x=3: x",
    "assert True, 'message'  # asserted",
    "global_text = '''\n# no comment\n'''",
)


def mutant(text: str, source: random.Random) -> str:
    """A fixture's text after one to three changes; as it is where a change leaves no Python."""
    for _ in range(source.randint(1, 3)):
        changed = source.choice(CHANGES)(text, source)
        try:
            ast.parse(changed)
        except SyntaxError:
            continue
        text = changed
    return source.choice(LAYOUTS)(text)


def _statement(text: str, source: random.Random) -> tuple[list[str], int, int, str]:
    """The lines, and the first and last line, counted from 0 and exclusive, of a statement, and its indentation."""
    found = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.stmt) and n.end_lineno]
    chosen = source.choice(found)
    lines = text.splitlines()
    begin, end = chosen.lineno - 1, chosen.end_lineno or chosen.lineno
    return lines, begin, end, lines[begin][: len(lines[begin]) - len(lines[begin].lstrip())]


def _deleted(text: str, source: random.Random) -> str:
    lines, begin, end, blanks = _statement(text, source)
    return _joined([*lines[:begin], f"{blanks}pass", *lines[end:]])


def _swapped(text: str, source: random.Random) -> str:
    lines, begin, end, _ = _statement(text, source)
    return _joined([*lines[:begin], *lines[end : end + 1], *lines[begin:end], *lines[end + 1 :]])


def _twice(text: str, source: random.Random) -> str:
    lines, _, end, _ = _statement(text, source)
    first, begin, last, blanks = _statement(text, source)
    return _joined([*lines[:end], *first[begin:last], *lines[end:]]) if blanks == "" else text


def _wrapped(text: str, source: random.Random) -> str:
    lines, begin, end, blanks = _statement(text, source)
    head = source.choice(WRAPPERS)
    inner = [f"    {line}" for line in lines[begin:end]]
    tail = {"try:": [f"{blanks}finally:", f"{blanks}    pass"], "while True:": [f"{blanks}    break"]}.get(head, [])
    return _joined([*lines[:begin], blanks + head, *inner, *tail, *lines[end:]])


def _renamed(text: str, source: random.Random) -> str:
    names = sorted({n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)} - set(dir(builtins)) - {"tf"})
    if not names:
        return text
    new = source.choice(["num_gpus", "gpu", "weight", "rows", "tower_loss", "x_batch", "optimizer", *names])
    return re.sub(rf"(?<![\w.'\"]){source.choice(names)}(?![\w'\"])", new, text)


def _newer(text: str, source: random.Random) -> str:
    lines, begin, _, blanks = _statement(text, source)
    added = [blanks + line if line.strip() != "# no comment" else line for line in source.choice(NEWER).split("\n")]
    return _joined([*lines[:begin], *added, *lines[begin:]])


def _commented(text: str, source: random.Random) -> str:
    lines, begin, end, blanks = _statement(text, source)
    number = source.randrange(10**6)
    if source.random() < 0.5:
        return _joined([*lines[:begin], f"{blanks}# remark {number}", *lines[begin:]])
    place = source.randrange(begin, end)
    return _joined([*lines[:place], f"{lines[place]}  # remark {number}", *lines[place + 1 :]])


def _laid_out(text: str, source: random.Random) -> str:
    lines, begin, end, blanks = _statement(text, source)
    odd = source.choice([f"{blanks}pass; pass", "", "\f", f"{blanks}()", "        # far", "   ", f"{blanks}1 + \\\n 1"])
    return _joined([*lines[:end], odd, *lines[end:]])


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def _with_tabs(text: str) -> str:
    return "\n".join(re.sub(r"^(?:    )+", lambda m: "\t" * (len(m[0]) // 4), line) for line in text.split("\n"))


CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    _deleted, _swapped, _twice, _wrapped, _renamed, _newer, _commented, _laid_out,
)  # fmt: skip
LAYOUTS: tuple[Callable[[str], str], ...] = (
    str, str, str, str.rstrip, lambda text: text.replace("\n", "\r\n"), _with_tabs, lambda text: "\ufeff" + text,
)  # fmt: skip


def comments(text: str) -> Counter[str]:
    """The comments of a script, as often as they stand there."""
    tokens = tokenize.generate_tokens(io.StringIO(text.lstrip("\ufeff")).readline)
    return Counter(token.string.rstrip() for token in tokens if token.type == tokenize.COMMENT)


class Hangs(BaseException):
    """Raised in a conversion that takes too long; nothing in the tool catches it."""


def _hangs(*_: object) -> None:
    raise Hangs


def fault(text: str, options: Options) -> tuple[str, str]:
    """How the conversion of a mutant ends, and what is wrong with it, "" where nothing is."""
    signal.signal(signal.SIGPROF, _hangs)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of processor time, so that a busy machine makes no difference
    try:
        return _judged(text, options)
    except Hangs:
        return "hangs", f"not done after {SECONDS} seconds"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _judged(text: str, options: Options) -> tuple[str, str]:
    source = from_bytes("train.py", text.encode())
    try:
        made = convert(source, options)
    except Exception as error:
        return "crashed", repr(error)
    if made.text is None:
        return made.status, ""
    try:
        ast.parse(made.text.lstrip("\ufeff"))
    except SyntaxError as error:
        return made.status, f"no Python: {error}"
    if convert(source, options).text != made.text:
        return made.status, "another text for the same input"
    again = convert(from_bytes("train.py", made.text.encode()), options)
    if (again.status, again.text) != ("unchanged", None):
        return made.status, f"converted again: {again.status}"
    lost = comments(text) - comments(made.text)
    return made.status, f"comments are lost: {dict(lost)}" if lost else ""


def drawn(seed: int) -> tuple[str, str, Options]:
    """The mutant of a seed: the name of its fixture, its text, and the options to convert it with."""
    source = random.Random(seed)
    path = source.choice(sorted(FIXTURES.glob("*/single.py")))
    options = Options(num_gpus=source.choice([2, None]), batch=source.choice(["per-gpu", "total"]))
    return path.parent.name, mutant(path.read_text(encoding="utf-8"), source), options


def main() -> int:
    """Prints each mutant on which the tool fails; 1 where there was one."""
    number, first = map(int, sys.argv[1:3])
    counts: Counter[str] = Counter()
    for seed in range(first, first + number):
        name, text, options = drawn(seed)
        ended, wrong = fault(text, options)
        counts[ended] += 1
        if wrong:
            counts["wrong"] += 1
            print(f"seed {seed}, {name}: {wrong}", flush=True)
        if seed % 500 == 499:
            print(dict(counts), flush=True)
    print(dict(counts))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
