"""The batch size is the number of rows that a loop fills a list up to."""

from __future__ import annotations

import pytest

from tests.planner.batch_size.fed.test_rows import GRAPH, scaled
from tests.scripts import codes

PUT = "row = data[rng.randint(9)]; x.append(row[:4]); y.append(row[4:])"
RUN = "sess.run(train_op, {X: x, Y: y})"
STEPS = """\
sess = tf.Session()
n = 16
for step in range(100):
    x, y = [], []
{}    sess.run(train_op, {{X: x, Y: y}})
"""
FLUSHED = """\
sess = tf.Session()
x, y, n = [], [], 16
for row in data:
    x.append(row[:4])
    y.append(row[4:])
{}"""


def filled(*lines: str, steps: str = STEPS) -> str:
    return GRAPH + steps.format("".join(f"    {line}\n" for line in lines))


NAMED = "n = 16 * num_gpus"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("while len(x) < n:", f"    {PUT}"), NAMED),
        (("while len(y) != n:", "    if rng.rand() > 0.5:", f"        {PUT}"), NAMED),
        (("while len(x) < 16:", f"    {PUT}"), "while len(x) < (16 * num_gpus):"),
        (("while True:", f"    {PUT}", "    if len(x) == n:", "        break"), NAMED),
        (("for row in data:", f"    {PUT}", "    if len(x) >= n: break"), NAMED),
        (("count = 0", "while count < n:", f"    {PUT}", "    count += 1"), NAMED),
        (("while True:", f"    {PUT}", "    if len(x) >= n or len(y) >= n: break"), NAMED),
        (("while len(x) < n and len(y) < n:", f"    {PUT}"), NAMED),
    ],
)
def test_behind_the_loop(lines: tuple[str, ...], expected: str) -> None:
    assert scaled(filled(*lines)) == [expected]
    assert scaled(filled(*lines, "x, y = np.array(x), np.array(y)")) == [expected]


UP = ("i = rng.randint(9)", "while len(x) < n and i < len(data):", f"    {PUT}", "    i += 1")
DOWN = ("i = rng.randint(9)", "while i >= 0 and len(x) < n:", f"    {PUT}", "    i = i - 1")
ALIKE = (*UP[:2], "    if data[i, 0] > 0:", f"        {PUT}", "        i = i + 1", "    else:", "        break")


@pytest.mark.parametrize(
    "lines", [UP, DOWN, ALIKE, UP + DOWN, ALIKE + DOWN, (*UP[:1], UP[1].replace("len(data)", "data.shape[0]"), *UP[2:])]
)
def test_up_to_the_end_of_the_data(lines: tuple[str, ...]) -> None:
    assert scaled(filled(*lines)) == [NAMED]


@pytest.mark.parametrize(
    ("lines", "old", "new"),
    [
        (UP, "i < len(data)", "i < 10"),  # 10 rows, whatever n is
        (UP, "i < len(data)", "i <= len(data)"),
        (UP, "i < len(data)", "len(y) < 10"),
        (UP, "i < len(data)", "rng.rand() > 0.1"),
        (UP, "i < len(data)", "i < len(data) and rng.rand() > 0.1"),
        (UP, " and ", " or "),
        (UP, "i += 1", "i += 7"),
        (UP, "len(x) < n", "len(x) <= n"),
        (UP, "i += 1", "i += 1; x.append(row)"),
        (UP, "len(x) < n", "len(data) < n"),
        (DOWN, "i = rng.randint(9)", "i = 5"),
        (DOWN, "i >= 0", "i <= 0"),
        (DOWN, "i >= 0", "i >= 5"),
        (UP + DOWN, "while i >= 0 and len(x) < n", "while i >= 0 and len(x) < n + 1"),
        (UP + DOWN, "while i >= 0 and len(x) < n", "while i >= 0"),
        (UP + DOWN, "while i >= 0 and len(x) < n", "while i >= 0 and len(x) < step"),
    ],
)
def test_lists_that_end_for_another_reason(lines: tuple[str, ...], old: str, new: str) -> None:
    assert any(old in line for line in lines)
    assert codes(filled(*(line.replace(old, new) for line in lines))) == ["TMG303"]


@pytest.mark.parametrize(
    "lines",
    [
        ("while len(x) <= n:", f"    {PUT}"),  # one more
        ("while len(x) < n:", f"    {PUT}; x.append(row)"),  # two in one turn
        ("while len(x) < n:", "    for row in data:", f"        {PUT}"),  # any number in one turn
        ("while len(x) < n:", f"    {PUT}", "    if rng.rand() > 0.5:", "        y.append(row)"),
        ("while len(x) < n:", "    row = data[0]; x.append(row)", "    if rng.rand() > 0.5:", "        y.append(row)"),
        ("while len(step) < n:", f"    {PUT}"),  # the length of another list
        ("while len(x) < n and rng.rand() > 0.1:", f"    {PUT}"),  # any number
        ("y.append(data[0])", "while len(x) < n:", f"    {PUT}"),
        ("while True:", f"    {PUT}", "    if len(x) >= n or len(y) >= 7: break"),  # whichever comes first
        ("while True:", f"    {PUT}", "    if len(x) >= n or len(y) > n: break"),
        ("while True:", f"    {PUT}", "    if len(x) >= n or rng.rand() > 0.9: break"),
        ("while len(x) < n and len(y) < n + 1:", f"    {PUT}"),
        ("count = 3", "while count < n:", f"    {PUT}", "    count += 1"),
        ("count = 0", "while count < n:", f"    {PUT}", "    count += rng.randint(2)"),
        ("count = 0", "while count < n:", f"    {PUT}", "    if row[0] > 0: continue", "    count += 1"),
        ("count = 0", "while count < n:", "    count += 1", "    if data[count, 0] > 0:", f"        {PUT}"),
    ],
)
def test_other_conditions(lines: tuple[str, ...]) -> None:
    assert codes(filled(*lines)) == ["TMG303"]


@pytest.mark.parametrize("test", ["len(x) == n", "len(y) >= n"])
@pytest.mark.parametrize("emptied", ["x, y = [], []", "x = []; y = []", "x.clear(); y.clear()"])
def test_within_the_loop(test: str, emptied: str) -> None:
    text = GRAPH + FLUSHED.format(f"    if {test}:\n        {RUN}\n        {emptied}\n")
    assert scaled(text) == ["x, y, n = [], [], 16 * num_gpus"]


@pytest.mark.parametrize(
    "lines",
    [
        "    if len(x) >= n:\n        {}\n",  # a memory that goes on growing
        "    if len(x) >= n:\n        {}\n        x = []\n",
        "    if len(x) > n:\n        {}\n        x, y = [], []\n",
        "    if len(x) == n:\n        pass\n    else:\n        {}\n        x, y = [], []\n",
        "    if len(data) == n:\n        {}\n        x, y = [], []\n",
    ],
)
def test_lists_of_other_lengths(lines: str) -> None:
    assert codes(GRAPH + FLUSHED.format(lines.format(RUN))) == ["TMG303"]


COUNTED = """\
sess = tf.Session()
x, y, n = [], [], 16
{}
    x.append(row[:4])
    y.append(row[4:])
    if {}:
        sess.run(train_op, {{X: x, Y: y}})
        x, y = [], []
"""


@pytest.mark.parametrize(
    ("head", "test"),
    [
        ("for i, row in enumerate(data):", "(i + 1) % n == 0"),
        ("for i, row in enumerate(data, 1):", "i % n == 0"),
        ("for i in range(1000):\n    row = data[i]", "(i + 1) % n == 0"),
        ("for i in range(1, 1001):\n    row = data[i]", "i % n == 0"),
    ],
)
def test_where_the_loop_counts_its_turns(head: str, test: str) -> None:
    assert scaled(GRAPH + COUNTED.format(head, test)) == ["x, y, n = [], [], 16 * num_gpus"]
    made = scaled(GRAPH + COUNTED.format(head, test.replace("n ==", "16 ==")))
    assert made == [f"if {test.replace('% n', '% (16 * num_gpus)')}:"]


@pytest.mark.parametrize(
    ("head", "test"),
    [
        ("for i, row in enumerate(data):", "i % n == 0"),  # the first batch is one row
        ("for i, row in enumerate(data):", "(i + 1) % n == 1"),
        ("for i, row in enumerate(data):", "(i + 1) // n == 0"),
        ("for i, row in enumerate(data):\n    if row[0]: continue", "(i + 1) % n == 0"),
        ("for i, row in enumerate(data):\n    i = i + 5", "(i + 1) % n == 0"),
        ("for i in range(0, 1000, 2):\n    row = data[i]", "(i + 1) % n == 0"),
    ],
)
def test_turns_that_do_not_count_the_rows(head: str, test: str) -> None:
    assert codes(GRAPH + COUNTED.format(head, test)) == ["TMG303"]


GENERATOR = """def batches():
    x, y = [], []
    for i in range(1000):
        row = data[i]
        x.append(row[:4])
        y.append(row[4:])
        if {}:
            yield x, y
            x, y = [], []
{}

sess = tf.Session()
for x, y in batches():
    sess.run(train_op, {{X: x, Y: y}})
"""


@pytest.mark.parametrize("rest", ["", "    if x:\n        yield x, y\n"])
@pytest.mark.parametrize(
    ("test", "made"), [("len(x) == 16", "(16 * num_gpus)"), ("(i + 1) % 16 == 0", "(16 * num_gpus)")]
)
def test_a_generator_gives_what_it_has_filled(test: str, made: str, rest: str) -> None:
    """Before, all turns of the loop were taken for the batch: `range(1000 * num_gpus)`."""
    assert scaled(GRAPH + GENERATOR.format(test, rest)) == [f"if {test.replace('16', made)}:"]


def test_a_generator_that_gives_all_rows_at_its_end() -> None:  # a near miss
    flush = "            yield x, y\n            x, y = [], []\n"
    lines = GENERATOR.format("len(x) == 1001", "").replace(flush, "            pass\n    yield x, y\n")
    assert scaled(GRAPH + lines) == ["for i in range(1000 * num_gpus):"]


ARRAYS = ["np.zeros([len(x), 4]), y", "pad_sequences(x), y", "np.zeros((len(x), 4)), np.array(y)"]


@pytest.mark.parametrize("given", ARRAYS)
def test_arrays_of_as_many_rows_as_a_list(given: str) -> None:
    lines = GENERATOR.format("len(x) == 16", "").replace("yield x, y", f"yield {given}")
    assert scaled("from keras.preprocessing.sequence import pad_sequences\n" + GRAPH + lines) == [
        "if len(x) == (16 * num_gpus):"
    ]


FIRST = """def batches(size):
    x, y, count = [], [], 0
    for i, row in enumerate(data):
        if {}:
            {}
            x, y, count = [], [], 0
        x.append(row[:4])
        y.append(row[4:])
        count += 1
    if len(x) > 0:
        yield x, y

"""
FLAG = "tf.app.flags.DEFINE_integer('batch_size', 16, '')\nFLAGS = tf.app.flags.FLAGS\n"
FLAGGED = GRAPH.replace("X = tf", FLAG + "X = tf", 1)
FED = "sess = tf.Session()\nfor x, y in batches({}):\n    sess.run(train_op, {{X: x, Y: y}})\n"
GIVEN = "for x, y in batches(FLAGS.batch_size * FLAGS.num_gpus):"
TESTS = [
    "len(x) == size",
    "size == len(x)",
    "len(x) >= size",
    "count == size",
    "count >= size",
    "i % size == 0 and i > 0",
    "i != 0 and i % size == 0",
    "i and i % size == 0",
]


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("give", ["yield x, y", "yield np.array(x), np.array(y)"])
def test_a_generator_that_tests_before_it_appends(test: str, give: str) -> None:
    script = FLAGGED + FIRST.format(test, give)
    assert scaled(script + FED.format("FLAGS.batch_size"))[1:] == [GIVEN]
    assert scaled(script + FED.format(16))[1:] == ["for x, y in batches(16 * FLAGS.num_gpus):"]


@pytest.mark.parametrize("test", TESTS)
def test_a_list_of_batches_that_a_function_fills(test: str) -> None:
    made = FIRST.format(test, "found.append((x, y))").replace("x, y, count = [], [], 0\n    for", "found = []\n    for")
    made = made.replace("found = []\n", "found, x, y, count = [], [], [], 0\n").replace(
        "    if len(x) > 0:\n        yield x, y\n", "    return found\n"
    )
    assert scaled(FLAGGED + made + FED.format("FLAGS.batch_size"))[1:] == [GIVEN]


def test_a_loop_that_trains_before_it_appends() -> None:
    lines = """\
sess = tf.Session()
x, y = [], []
for row in data:
    if len(x) == FLAGS.batch_size:
        sess.run(train_op, {X: x, Y: y})
        x, y = [], []
    x.append(row[:4])
    y.append(row[4:])
"""
    assert scaled(FLAGGED + lines)[1:] == ["if len(x) == (FLAGS.batch_size * FLAGS.num_gpus):"]


@pytest.mark.parametrize(
    "test",
    [
        "i % size == 1 and i > 0",
        "i % size == 0 and row[0] > 0",  # goes on where it is not
        "(i + 1) % size == 0",  # the first batch has a row less
        "len(x) == size and row[0] > 0",
        "len(x) > size",
        "count > size",
        "i == size",
    ],
)
def test_conditions_that_are_met_by_other_numbers_of_rows(test: str) -> None:
    found = codes(GRAPH + "n = 16\n" + FIRST.format(test, "yield x, y") + FED.format("n"))
    assert found in (["TMG303"], ["TMG304"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        count += 1", "        count += 2"),
        ("        count += 1", "        count += 1\n        count = max(count, 3)"),
        ("        count += 1", "        count += 1\n        if row[0]:\n            count += 1"),
        ("x, y, count = [], [], 0\n        x.", "x, y, count = [], [], 1\n        x."),
        ("        x.append", "        if row[0]:\n            continue\n        x.append"),
    ],
)
def test_counters_of_something_else(old: str, new: str) -> None:
    made = FIRST.format("count == size", "yield x, y")
    assert old in made
    assert codes(GRAPH + "n = 16\n" + made.replace(old, new) + FED.format("n")) in (["TMG303"], ["TMG304"])


@pytest.mark.parametrize(
    "row", ["[1.0, 2.0, 3.0, 4.0, 5.0]", "[ids[word] for word in line.split()]", "list(map(float, line.split()))"]
)
@pytest.mark.parametrize("test", ["len(x) == size", "count == size"])
def test_rows_of_numbers_that_are_written_out(row: str, test: str) -> None:
    made = f"ids = dict((word, i) for i, word in enumerate(open('words')))\ndata = [{row} for line in open('rows')]\n"
    lines = made + FIRST.format(test, "yield x, y") + FED.format("FLAGS.batch_size")
    assert scaled(FLAGGED + lines)[1:] == [GIVEN]
    assert codes(FLAGGED + lines.replace("== size", "> size")) in (["TMG303"], ["TMG304"])


CACHED = """def drawn(size):
    x, y = [], []
    if size >= 0:
        for _ in range(size):
            row = data[np.random.randint(len(data))]
            x.append(row[:4])
            y.append(row[4:])
    else:
        for row in {}:
            x.append(row[:4])
            y.append(row[4:])
    return x, y


sess = tf.Session()
for i in range(1000):
    x, y = drawn(FLAGS.batch_size)
    sess.run(train_op, {{X: x, Y: y}})
"""


def test_a_branch_that_takes_all_data_counts_no_rows() -> None:
    assert scaled(FLAGGED + CACHED.format("data"))[1:] == ["x, y = drawn(FLAGS.batch_size * FLAGS.num_gpus)"]
    assert scaled(FLAGGED + CACHED.format("range(8)"))[1:] == []
    assert scaled(FLAGGED + CACHED.format("data[:size + 8]"))[1:] == []


READER = """\
class Reader(object):
    def __init__(self, n):
        self.n, self.left = n, []

    def __iter__(self):
        return self

    def __next__(self):
        x, y = [], []
        if not self.left:
            self.left = list(data)
            raise StopIteration
        while self.left:
            row = self.left.pop()
            x.append(row[:4])
            y.append(row[4:])
            if len(x) >= self.n or len(y) >= self.n:
                break
        if len(x) == 0:
            x, y = self.__next__()
        return x, y


def prepare(x, y, parts=False):
    if len(x) < 1:
        return None, None
    return (np.array(x), np.array(y), len(x)) if parts else (np.array(x), np.array(y))


sess = tf.Session()
test, train = Reader(10), Reader(16)
for rows, labels in test:
    x, y, count = prepare(rows, labels, True)
    print(sess.run(loss, {X: x, Y: y}))
for rows, labels in train:
    x, y, count = prepare(rows, labels, True)
    sess.run(train_op, {X: x, Y: y})
"""


def test_lists_of_two_readers_of_one_class() -> None:
    assert scaled(GRAPH + READER) == ["test, train = Reader(10), Reader(16 * num_gpus)"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("len(y) >= self.n", "len(y) >= 7"),
        ("return None, None", "return x[:3], y[:3], 3"),  # as many values, of another number of rows
    ],
)
def test_readers_of_other_numbers_of_rows(old: str, new: str) -> None:
    assert "TMG303" in codes(GRAPH + READER.replace(old, new))
