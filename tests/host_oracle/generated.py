"""Host programs at random: counts, slices, loops, lists that are filled, functions, lambdas, classes, generators."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.host_oracle.families import CHANGING, EPOCHS, FILLS, IMPORTS, SAME, SHOWS, STEP, STEPS, TAIL, WINDOWS
from tests.host_oracle.judge import Program

SIZES = ("batch_size", "batch_size", "n", "B", "num_per_batch")
MULTIPLES = (
    "{0}",
    "{0} // 2",
    "2 * {0}",
    "int({0})",
    "{0} + {0}",
    "{0} * 3 // 3",
    "({0} + 2 - 2)",
    "{0} - {0} // 2",
    "+{0}",
)
MIXED = ("{0} - 1", "{0} + {1}", "max({0}, {1})", "min({0}, {1})", "{0} % {1}", "{0} * {0} // 16", "{0} ** 2 // 32")
FUNCTIONS = (
    "int(np.ceil({0}))",
    "int(round({0}))",
    "abs({0})",
    "divmod({0}, 2)[0]",
    "sum([{0}])",
    "int(np.floor({0} / 2.0))",
)
UNEVEN = (
    "divmod({0}, {1})[1]",
    "int(np.sqrt({0}))",
    "len(range({1}, {0} + 1))",
    "abs({0} - {1})",
    "{0} | 1",
    "512 // {0}",
)
ROWS = (  # batches that are drawn
    "data[np.random.randint(0, 160, {0})]",
    "data[np.random.permutation(160)[:{0}]]",
    "data[np.random.choice(160, {0})]",
    "np.random.rand({0}, 1)",
    "[data[np.random.randint(160)] for _ in range({0})]",
    "np.array([data[k] for k in np.random.randint(0, 160, {0})])",
    "np.concatenate([data[np.random.randint(0, 160, {0})], data[np.random.randint(0, 160, {0})]])",
    "random.sample(list(data), {0})",
)
BESIDE = (
    "np.concatenate([data[np.random.randint(0, 160, {0})], data[:{1}]])",
    "np.vstack([np.random.rand({0}, 1), np.random.rand({1}, 1)])",
    "list(data[np.random.randint(0, 160, {0})]) + [data[0]]",
    "np.r_[data[np.random.randint(0, 160, {0})], data[:{1}]]",
    "[*data[np.random.randint(0, 160, {0})], *data[:{1}]]",
)

STEADY = (  # rows whose number the batch size does not change
    "data[np.random.randint(0, 160, 16)]",
    "[data[np.random.randint(160)] for _ in range(16)]",
    "random.sample(list(data), 16)",
    "np.random.rand(16, 1)",
    "[[np.random.rand()]] * 16",
    "tuple(data[np.random.randint(0, 160, 16)])",
)
CHOICES = (  # programs in which a condition chooses one of two ways to a batch
    "for step in range(10):\n    if TEST:\n        rows = ONE\n    else:\n        rows = TWO\n    RUN\n",
    "for step in range(10):\n    rows = ONE if TEST else TWO\n    RUN\n",
    "for step in range(10):\n    rows = TWO\n    if TEST:\n        rows = ONE\n    RUN\n",
    "def load():\n    if TEST:\n        return ONE\n    return TWO\n"
    "for step in range(10):\n    rows = load()\n    RUN\n",
    "def load():\n    for step in range(10):\n        if TEST:\n            yield ONE\n"
    "        else:\n            yield TWO\nfor rows in load():\n    RUN\n",
    "batches = []\nfor step in range(10):\n    if TEST:\n        batches.append(ONE)\n    else:\n"
    "        batches.append(TWO)\nfor rows in batches:\n    RUN\n",
    "class One(object):\n    def get(self):\n        return ONE\n"
    "class Two(object):\n    def get(self):\n        return TWO\n"
    "source = One() if TEST else Two()\nfor step in range(10):\n    rows = source.get()\n    RUN\n",
    "def one():\n    return ONE\ndef two():\n    return TWO\nload = {True: one, False: two}[TEST]\n"
    "for step in range(10):\n    rows = load()\n    RUN\n",
)

CHANGES = tuple(
    f"    rows{change}\n"
    for change in (".append(data[0])", ".reverse()", ".pop()", ".insert(0, data[0])", " += [data[1]]")
)

CLASS = "class C(object):\n    def __init__(self, b):\n        self.b = b\nc = C(@B)\n"


def generated(seed: int) -> Program:
    """A host program; the same one for the same seed."""
    random = Random(seed)
    kind = random.choice((_drawn, _drawn, _windows, _epochs, _filled, _counted, _moved, _shown, _again, _chosen))
    host = kind(random)
    size = random.choice(SIZES)
    wrapped = "" if "@S" in host else _wrapped(random, host)
    whole = any(word in host for word in ("epoch", "array_split", "while i < 160:\n    rows"))
    rows = 160 if whole else random.choice((160, 160, 168))
    return Program(_imports(host), size, rows, wrapped=wrapped and _imports(wrapped))


def _count(random: Random, depth: int = 2) -> str:
    """A number of rows that is computed from the batch size."""
    text = "@B"
    for _ in range(random.randint(0, depth)):
        pattern = random.choice((*MULTIPLES, *MULTIPLES, *FUNCTIONS, random.choice((*MIXED, *UNEVEN))))
        text = pattern.format(f"({text})" if " " in text else text, random.randint(2, 24))
    return f"(lambda b: {text.replace('@B', 'b')})(@B)" if random.random() < 0.1 else text


def _drawn(random: Random) -> str:
    """Steps that draw their batches, as many of them as a number or the batch size says, and what they show."""
    rows = random.choice((*ROWS, *ROWS, *BESIDE)).format(_count(random), random.randint(2, 8))
    head = random.choice(STEPS) if random.random() < 0.4 else "for step in range(40):"
    names = [f"size = {_count(random, 1)}"] if random.random() < 0.3 else []
    if names:
        rows = rows.replace("@B", "size") if random.random() < 0.5 else rows
    changed = [f"    rows = list({rows})\n{random.choice(CHANGES).rstrip()}"] if random.random() < 0.15 else []
    lines = [*(changed or [f"    rows = {rows}"]), f"    {STEP}"]
    if "step in range(40)" in head and random.random() < 0.6:
        lines += [f"    if {random.choice(SHOWS)}:", "        print(step)"]
    return "\n".join([*names, head, *lines]) + "\n"


def _windows(random: Random) -> str:
    """Windows of the data: in most programs one behind the other."""
    window = random.choice(WINDOWS)
    if random.random() < 0.4:
        rows, move = _count(random, 1), random.choice(("@B", "@B", _count(random, 1), "8"))
        window = f"i * ({move}):i * ({move}) + {rows}"
    turns = random.choice(("160 // @B", "len(data) // @B", "int(len(data) / @B)", "int(np.floor(160.0 / @B))", "10"))
    lines = [f"for i in range({turns}):", f"    rows = data[{window}]", f"    {STEP}"]
    return "\n".join(lines) + "\n"


def _epochs(random: Random) -> str:
    """Loops over the data in one or several epochs."""
    loop = random.choice(EPOCHS) + f"\n    {STEP}"
    if random.random() < 0.3:
        loop += f"\n{STEP.replace('train_op', 'loss').replace('rows', 'data[:32]')}"
    if random.random() < 0.5 and "def " not in loop:
        loop = "for epoch in range(2):\n" + "\n".join("    " + line for line in loop.split("\n"))
    return loop + "\n"


def _filled(random: Random) -> str:
    """Lists that are filled and given away."""
    test = random.choice(FILLS)
    if random.random() < 0.3:
        test = test.replace("@B", f"({_count(random, 1)})")
    return "rows = []\nfor row in data:\n    rows.append(row)\n" + test + "\n"


def _counted(random: Random) -> str:
    """Lists of a number of rows, each put there by a turn of an inner loop."""
    inner = random.choice(
        ("for k in range({0}):", "for k in [0] * ({0}):", "while len(rows) < {0}:", "while len(rows) != {0}:")
    )
    rows = random.choice(("rows.append(data[np.random.randint(160)])", "rows += [data[np.random.randint(160)]]"))
    after = random.choice(("", "", "", "    rows = rows[:-1]\n", "    rows = np.array(rows)\n", *CHANGES))
    body = f"    rows = []\n    {inner.format(_count(random, 1))}\n        {rows}\n{after}    {STEP}\n"
    return "for step in range(10):\n" + body


def _moved(random: Random) -> str:
    """A place in the data that each step moves on."""
    rows, move = _count(random, 1), random.choice(("@B", "@B", "@B", _count(random, 1), "8", "1"))
    test = random.choice(("i + @B <= 160", "i <= 160 - @B", "i < 160 - @B + 1", "not i > 160 - @B"))
    test = test if rows == move == "@B" else "i < 160"
    return f"i = 0\nwhile {test}:\n    rows = data[i:i + {rows}]\n    i += {move}\n    {STEP}\n"


def _shown(random: Random) -> str:
    """Steps that a number counts which goes on by any number, and what they show by it."""
    by, end = random.choice((1, 1, 2, 3, 4, 0.5)), random.choice((40, 60))
    loop, moved = random.choice(
        (
            (f"step = 0\nwhile step < {end * by}:", f"    step += {by}\n"),
            (f"step = {end * by}\nwhile step > 0:", f"    step -= {by}\n"),
            (f"by, step = {by}, 0\nfor _ in range({end}):", "    step = by + step\n"),
            (f"for i in range({end}):\n    step = i * {by}", ""),
            (f"for step in np.arange(0, {end * by}, {by}):", ""),
        )
    )
    return f"{loop}\n{TAIL}{moved}    if {random.choice(SHOWS)}:\n        print(step)\n"


def _again(random: Random) -> str:
    """The same rows of the data in each step, of data that stays as it is, or that each turn changes."""
    loop = random.choice((*CHANGING, "for i in range(10):\n    rows = %s\n    RUN\n"))
    rows = random.choice(SAME) if "list" not in loop else "data[:@B]"
    return loop.replace("%s", rows if random.random() < 0.5 else f"data[:{_count(random, 1)}]").replace("RUN", STEP)


def _chosen(random: Random) -> str:
    """Batches that are made in one of two ways, as a condition says that only a run decides; the first is taken."""
    first = random.choice((*ROWS, *STEADY)).format("@B")
    second = random.choice(ROWS).format(random.choice(("@B", "@B", "2 * @B")))
    chosen = random.choice(CHOICES).replace("ONE", first).replace("TWO", second)
    return chosen.replace("TEST", "len(data) > 100")


def _wrapped(random: Random, host: str) -> str:
    """The program within a function, a class, a generator, or with the batch size under another name."""
    inner = "\n".join("    " + line for line in host.rstrip("\n").split("\n"))
    ways: list[Callable[[], str]] = [
        lambda: "",
        lambda: "",
        lambda: f"def train(b):\n{inner.replace('@B', 'b')}\ntrain(@B)\n",
        lambda: f"b = @B\n{host.replace('@B', 'b')}",
        lambda: "settings = {'batch_size': @B}\n" + host.replace("@B", "settings['batch_size']"),
        lambda: CLASS + host.replace("@B", "c.b"),
        lambda: _batches(host, inner),
    ]
    return random.choice(ways)()


def _batches(host: str, inner: str) -> str:
    """The program as a generator of its batches; "" where it cannot be one."""
    if host.count(STEP) != 1 or "print" in host or "for rows in" in host:
        return ""
    gives = inner.replace(STEP, "yield rows").replace("@B", "b")
    return f"def batches(b):\n{gives}\nfor rows in batches(@B):\n    {STEP}\n"


def _imports(host: str) -> str:
    host = host.replace("RUN", STEP)
    return "".join(f"import {name}\n" for name in IMPORTS if f" {name}." in f" {host}" or f"({name}." in host) + host
