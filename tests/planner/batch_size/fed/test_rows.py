"""The batch size is found where the rows of what is fed are counted by a number without a name."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes, converted, run

GRAPH = """\
import random

import numpy as np
import tensorflow as tf

X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
data, rng = np.load('data.npy'), np.random.RandomState(0)
"""
SESSION = """\
sess = tf.Session()
for step in range(100):
{}    sess.run(train_op, {{X: x, Y: y}})
"""
FLOW = """\
def flow(a, b, n):
    while True:
        for i in range(0, len(a), n):
            yield a[i:i + n], b[i:i + n]


"""


def script(*lines: str, above: str = "") -> str:
    return GRAPH + above + SESSION.format("".join(f"    {line}\n" for line in lines))


def scaled(text: str) -> list[str]:
    return [line.strip() for line in body(text) if "num_gpus" in line and "for gpu in" not in line]


PADDED = """\
rows = []
for line in open('rows.txt'):
    rows.append([float(text) for text in line.split()])


def padded(batch):
    longest, found = max(len(row) for row in batch), []
    for row in batch:
        found.append(row + [0] * (longest - len(row)))
    return found


"""
APPENDED = (
    "x, y = [], []",
    "for j in range({}):",
    "    row = data[rng.randint(9)]",
    "    x.append(row[:4])",
    "    y.append(row[4:])",
)


@pytest.mark.parametrize(
    ("lines", "above", "at"),
    [
        (("x, y = np.random.rand({}, 4), np.random.rand({}, 1)",), "", 0),
        (("x = rng.randint(0, 50, ({}, 4))", "y = x.sum(1, keepdims=True)"), "", 0),
        (("x = rng.normal(size=[{}, 4])", "y = np.zeros(({}, 1))"), "", (0, 1)),
        (("rows = rng.choice(100, {})", "x, y = data[rows, :4], data[rows, 4:]"), "", 0),
        (("rows = np.random.permutation(100)[:n]", "x, y = data[rows, :4], data[rows, 4:]"), "n = {}\n", "n = {}"),
        (("b = np.array([random.random() for _ in range({})])", "x, y = b[:, :4], b[:, 4:]"), "", 0),
        (("b = random.sample(list(data), {})", "x, y = [r[:4] for r in b], np.array([r[4:] for r in b])"), "", 0),
        (APPENDED, "", 1),
        ((*APPENDED, "y = np.array(y).reshape({}, 1)"), "", (1, 5)),
        (
            ("x, y = next(batches)",),
            FLOW + "batches = flow(data[:, :4], data[:, 4:], {})\n",
            "batches = flow(data[:, :4], data[:, 4:], {})",
        ),
        (
            ("x, y = next(batches)",),
            FLOW.replace("n)", "n=64)", 1) + "batches = flow(data, data, n={})\n",
            "batches = flow(data, data, n={})",
        ),
        (("for x, y in flow(data, data, {}):", "    print(x)"), FLOW, 0),
        (("start = n * step % 90", "end = start + n", "x, y = data[start:end], data[start:end]"), "n = {}\n", "n = {}"),
        (
            ("i = step % (len(data) // n)", "x, y = data[i * n:(i + 1) * n], data[n * i:n * i + n]"),
            "n = {}\n",
            "n = {}",
        ),
        (("end = min(step + n, len(data))", "x, y = data[step:end], data[step:end]"), "n = {}\n", "n = {}"),
        (("end = np.minimum(len(data), n + step)", "x, y = data[step:end], data[step:end]"), "n = {}\n", "n = {}"),
        (("x, y = padded(rows[step:step + n]), padded(rows[step:step + n])",), PADDED + "n = {}\n", "n = {}"),
        (
            ("end = min(step + n, len(rows))", "x, y = padded(rows[step:end]), padded(rows[step:end])"),
            PADDED + "n = {}\n",
            "n = {}",
        ),
    ],
)
def test_rows_that_are_made_in_each_step(lines: tuple[str, ...], above: str, at: object) -> None:
    found = [lines[i] for i in (at if isinstance(at, tuple) else (at,))] if not isinstance(at, str) else [at]
    expected = [line.replace("{}", "16 * num_gpus").strip() for line in found]
    assert scaled(script(*(line.replace("{}", "16") for line in lines), above=above.replace("{}", "16"))) == expected


@pytest.mark.parametrize(
    ("lines", "above", "code"),
    [
        (("x, y = a, b",), "a, b = np.random.rand(16, 4), np.random.rand(16, 1)\n", "TMG304"),  # a whole data set
        (("x, y = data[step * 16:(step + 1) * 16, :16], data[step * 16:(step + 1) * 16]",), "", "TMG303"),  # columns
        (("x, y = data[step % 16:step % 16 + 16], data[step % 16:step % 16 + 16]",), "", "TMG303"),
        (("x, y = data[step * 16:(step + 1) * 16], data[step * 16:(step + 1) * 16]", "print(x * 16)"), "", "TMG303"),
        (("k = len(data) // 3", "x, y = data[k:k + 16], data[k:k + 16]", "z = np.sum(x) / 16"), "", "TMG304"),
        (("x = np.random.rand(16, 4)", "y = np.load('y.npy')"), "", "TMG303"),  # y keeps its rows
        (("x, y = np.random.rand(16, 4), np.zeros((16, 1))", "y[np.arange(16)] = 1"), "", "TMG303"),
        (("x, y = np.random.rand(16, 4), np.zeros((16, 1))", "assert len(x) == 16"), "", "TMG303"),
        (
            (
                "x, y = [], []",
                "for j in range(16):",
                "    if data[j, 0] > 0:",
                "        x.append(data[j, :4])",
                "        y.append(data[j, 4:])",
            ),
            "",
            "TMG303",
        ),
        (("x, y = np.random.rand(len(data), 4), np.random.rand(len(data), 1)",), "", "TMG303"),
        (("x, y = [[1, 2, 3, 4], [2, 3, 4, 5]], [[1], [0]]",), "", "TMG304"),  # the same numbers in each step
        (("x, y = [[1, 2, 3, step], [2, 3, 4, step]], [[1], [0]]",), "", "TMG303"),
        (("end = min(n, len(data))", "x, y = data[step:end], data[step:end]"), "n = 16\n", "TMG303"),
        (("end = min(step + n, step + m)", "x, y = data[step:end], data[step:end]"), "n, m = 16, 8\n", "TMG303"),
    ],
)
def test_numbers_that_may_not_be_all(lines: tuple[str, ...], above: str, code: str) -> None:
    assert codes(script(*lines, above=above)) == [code]


FILLED = """\
def batches(rows, n):
    for begin in range(0, len(rows), n):
        xs, ys = [], []
        for row in range(begin, min(begin + n, len(rows))):
            xs.append(rows[row, :4])
            ys.append(rows[row, 4:])
        yield np.array(xs), np.array(ys)


n = 16
pair = next(batches(data, n))
"""


@pytest.mark.parametrize(
    ("over", "first", "expected"),
    [
        ("batches(data, n)", "x, y = batch", []),
        ("batches(data, n)", "x, y = batch[0], batch[1]", []),
        ("enumerate(batches(data, n))", "x, y = batch[1]", []),
        ("range(3)", "x, y = pair", ["TMG304"]),
        ("batches(data, n)", "x, y = pair", ["TMG304"]),
    ],
)
def test_batches_of_a_generator_that_are_taken_apart_in_the_loop(over: str, first: str, expected: list[str]) -> None:
    lines = f"sess = tf.Session()\nfor batch in {over}:\n    {first}\n    sess.run(train_op, {{X: x, Y: y}})\n"
    assert codes(GRAPH + FILLED + lines) == expected
    assert scaled(GRAPH + FILLED + lines) == ([] if expected else ["n = 16 * num_gpus"])


@pytest.mark.parametrize(
    "above",
    [
        "batch_size = 16\na, b = np.random.rand(batch_size, 4), np.random.rand(batch_size, 1)\n",
        "a, b = loader.next_batch(16)\n",
        "a, b = loader.next_batch(16)\na = np.reshape(a, [-1, 4])\n",
    ],
)
def test_a_batch_that_is_made_before_the_loop_and_fed_in_each_turn(above: str) -> None:
    (warning,) = run(script("x, y = a, b", above=above)).diagnostics
    expected = "each step of the training loop is fed the same batch: a step goes on taking"
    assert (warning.code, warning.message[: len(expected)]) == ("TMG304", expected)
    assert scaled(script("x, y = a, b", above=above)) == []


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("x, y = loader.next_batch(16)",), "x, y = loader.next_batch(16 * num_gpus)"),
        (("a, b = loader.next_batch(16)", "for turn in range(3): sess.run(train_op, {X: a, Y: b})"),
         "a, b = loader.next_batch(16 * num_gpus)"),
    ],
)  # fmt: skip
def test_batches_of_one_turn_or_of_several_steps(lines: tuple[str, ...], expected: str) -> None:
    text = script(*lines)
    assert scaled(text if len(lines) == 1 else text.replace("    sess.run(train_op, {X: x, Y: y})\n", "")) == [expected]


MADE = "n = 16\nbatches = []\nfor i in range(len(data) // n):\n    batches.append(data[i * n:i * n + n])\n"


@pytest.mark.parametrize("held", ["{'x': X_ALL, 'y': Y_ALL}", "[X_ALL, Y_ALL]"])
def test_entries_that_are_the_same_in_each_turn(held: str) -> None:
    above = f"both = {held}\n".replace("X_ALL", "np.random.rand(16, 4)").replace("Y_ALL", "np.zeros((16, 1))")
    first, second = ("'x'", "'y'") if held[0] == "{" else ("0", "1")
    text = script(f"x, y = both[{first}], both[{second}]", above=above)
    assert (codes(text), scaled(text)) == (["TMG304"], [])


@pytest.mark.parametrize(
    ("lines", "above"),
    [
        (("x, y = batches[step % 9], batches[step % 9]",), MADE),
        (("x = batches[step % 9]", "y = x[:, :1]"), MADE),
        (("x, y = batches[turn], batches[turn]", "turn += 1"), MADE + "turn = 0\n"),
        (("x, y = batches[rng.randint(9)], batches[rng.randint(9)]",), MADE),
    ],
)
def test_one_of_several_batches_that_are_made_before_the_loop(lines: tuple[str, ...], above: str) -> None:
    assert scaled(script(*lines, above=above)) == ["n = 16 * num_gpus"]


def test_a_loop_over_batches_that_are_made_before() -> None:
    text = script("x, y = batch, batch", above=MADE).replace("for step in range(100):", "for batch in batches:")
    assert scaled(text) == ["n = 16 * num_gpus"]


def test_a_list_that_is_fed_while_it_grows() -> None:
    lines = (
        "x, y = [], []",
        "for row in [rng.rand(5) for _ in range(99)]:",
        "    x.append(row[:4])",
        "    y.append(row[4:])",
        "    if len(x) == 16: sess.run(train_op, {X: x, Y: y})",
    )
    assert codes(script(*lines).replace("    sess.run(train_op, {X: x, Y: y})\n", "", 1)) == ["TMG303"]


LOADER = """\
class Loader(object):
    def __init__(self, batch_size, eval_batch_size):
        self.batch_size, self.eval_batch_size, self.at = batch_size, eval_batch_size, 0

    def next(self):
        rows = data[self.at:self.at + self.batch_size]
        self.at = (self.at + self.batch_size) % len(data)
        return rows[:, :4], rows[:, 4:]

    def all(self):
        return data[:self.eval_batch_size, :4], data[:self.eval_batch_size, 4:]


loader = Loader({})
"""


@pytest.mark.parametrize("given", ["{}, 100", "batch_size={}, eval_batch_size=100"])
def test_another_batch_size_of_one_loader_stays(given: str) -> None:
    text = script("x, y = loader.next()", above=LOADER.format(given.format(16)))
    assert scaled(text) == [f"loader = Loader({given.format('16 * num_gpus')})"]


EPOCHS = """\
sess = tf.Session()
{above}for epoch in range(3):
    for {head}:
        {fed}
        sess.run(train_op, {{X: x, Y: y}})
"""


@pytest.mark.parametrize(
    ("above", "head", "fed", "lines"),
    [
        ("", "i in range(0, 90, {})", "x, y = data[i:i + {}], data[i:i + {}]", ["global_batch_size = 16 * num_gpus"]),
        (
            "",
            "a, b in zip(range(0, len(data), {}), range({}, len(data) + 1, {}))",
            "x, y = data[a:b], data[a:b]",
            ["global_batch_size = 16 * num_gpus"],
        ),
        (
            "",
            "i in range(len(data) // {})",
            "x, y = data[i * {}:(i + 1) * {}], data[i * {}:i * {} + {}]",
            ["global_batch_size = 16 * num_gpus"],
        ),
        (
            "",
            "i in range(90)",
            "start = i * {} % (len(data) - {}); x, y = data[start:start + {}], data[start:start + {}]",
            ["global_batch_size = 16 * num_gpus"],
        ),
        (
            "",
            "i in range(len(data) // {})",
            "x, y = shuffled.next_batch({})",
            ["for i in range(len(data) // (16 * num_gpus)):", "x, y = shuffled.next_batch(16 * num_gpus)"],
        ),
        (
            "batches = int(90 / {})\n",
            "i in range(batches)",
            "x, y = np.random.rand({}, 4), np.random.rand({}, 1)",
            [
                "batches = int(90 / (16 * num_gpus))",
                "x, y = np.random.rand(16 * num_gpus, 4), np.random.rand(16 * num_gpus, 1)",
            ],
        ),
        (  # as many steps as there are rows in a batch: another number
            "",
            "i in range({})",
            "x, y = shuffled.next_batch({})",
            ["x, y = shuffled.next_batch(16 * num_gpus)"],
        ),
        (
            "scale = 90 / {}\n",
            "i in range(7)",
            "x, y = shuffled.next_batch({})",
            ["x, y = shuffled.next_batch(16 * num_gpus)"],
        ),
    ],
)
def test_an_epoch_stays_an_epoch(above: str, head: str, fed: str, lines: list[str]) -> None:
    text = GRAPH + "shuffled = np.load('rows.npy')\n" + EPOCHS.format(above=above, head=head, fed=fed)
    assert scaled(text.replace("{}", "16")) == lines


STEPPED = """\
sess = tf.Session()
for i in range(1000):
{}    sess.run(train_op, {{X: data[b:b + 16], Y: data[b:b + 16]}})
"""


@pytest.mark.parametrize(
    ("lines", "made"),
    [
        ("    b = (i * 16) % 999\n    if i % 16 == 0: print(i)\n", "if i % 16 == 0: print(i)"),
        ("    b = (i * 16) % 999\n    if (i + 1) % 16 == 0: print(i)\n", "if (i + 1) % 16 == 0: print(i)"),
    ],
)
def test_a_number_of_steps_as_large_as_the_batch_stays(lines: str, made: str) -> None:
    text = converted(GRAPH + STEPPED.format(lines))
    assert made in text and "global_batch_size = 16 * num_gpus" in text


def test_a_batch_at_each_multiple_of_its_size() -> None:
    lines = "    if i % 16 == 0:\n        sess.run(train_op, {X: data[i:i + 16], Y: data[i:i + 16]})\n"
    text = converted(GRAPH + "sess = tf.Session()\nfor i in range(1000):\n" + lines)
    assert "if i % global_batch_size == 0:" in text and "data[i:i + global_batch_size]" in text


@pytest.mark.parametrize("test", ["b % 16 == 0", "len(data) > 16"])
def test_a_number_that_may_mean_another_thing_is_named(test: str) -> None:
    found = run(GRAPH + STEPPED.format(f"    b = i % 100\n    if {test}: print(i)\n")).diagnostics
    assert [(d.code, d.line) for d in found] == [("TMG303", 14)] and "16, and may mean" in found[0].message


SPLIT = "sess = tf.Session()\nn = 16\n{}    sess.run(train_op, {{X: {}, Y: {}}})\n"


@pytest.mark.parametrize("split", ["split", "array_split"])
@pytest.mark.parametrize(
    ("loop", "x", "y"),
    [
        ("for part in np.{}(np.random.permutation(640), 640 // n):\n", "data[part, :4]", "data[part, 4:]"),
        ("for part in np.{}(data, len(data) // n):\n", "part[:, :4]", "part[:, 4:]"),
        ("for part in np.{}(data, len(data) // n, axis=0):\n", "part[:, :4]", "part[:, 4:]"),
        ("for part in np.{}(data, range(n, len(data), n)):\n", "part[:, :4]", "part[:, 4:]"),
        ("parts = np.{}(data, len(data) // n)\nfor i in range(len(parts)):\n", "parts[i][:, :4]", "parts[i][:, 4:]"),
    ],
)
def test_arrays_that_are_split(split: str, loop: str, x: str, y: str) -> None:
    assert scaled(GRAPH + SPLIT.format(loop.format(split), x, y)) == ["n = 16 * num_gpus"]


@pytest.mark.parametrize(
    ("loop", "words"),
    [
        ("for part in np.split(data, n):\n", "the data is split here into a number of batches"),
        ("for part in np.split(data, 40):\n", "the data is split here into a number of batches"),
        ("for part in np.split(data, len(data) // n, axis=1):\n", "the size of the batches that are fed here"),
    ],
)
def test_splits_that_tell_no_size(loop: str, words: str) -> None:
    (found,) = run(GRAPH + SPLIT.format(loop, "part[:, :4]", "part[:, 4:]")).diagnostics
    assert found.code == "TMG303" and found.message.startswith(words)


COUNTED = """def rows_of(given):
    batch_size = len(given)
    longest = 20
    made = np.zeros([batch_size, longest])
    for i, row in enumerate(given):
        made[i, :len(row)] = row
    return made


def flow(size):
    while True:
        yield [rng.rand(rng.randint(9)).tolist() for _ in range(size)]


"""


@pytest.mark.parametrize("size", ["n", "16"])
def test_the_length_of_a_list_that_is_named_as_a_batch_size(size: str) -> None:
    """Before, that length was taken for the batch size itself: all of the data, it seemed."""
    graph = GRAPH.replace("[None, 4]", "[None, 20]")
    loop = f"batches = flow({size})\nsess = tf.Session()\nfor step in range(100):\n    batch = next(batches)\n"
    run_call = "    sess.run(train_op, {X: rows_of(batch), Y: rows_of([row[:1] for row in batch])[:, :1]})\n"
    expected = "n = 16 * num_gpus" if size == "n" else "batches = flow(16 * num_gpus)"
    assert scaled(graph + COUNTED + "n = 16\n" + loop + run_call) == [expected]


def test_the_length_of_all_data_is_no_batch_size_by_its_name() -> None:
    whole = "sess = tf.Session()\nfor step in range(100):\n    sess.run(train_op, {X: rows_of(data), Y: data[:, :1]})\n"
    assert codes(GRAPH.replace("[None, 4]", "[None, 20]") + COUNTED + whole) == ["TMG304"]


SAMPLED = """\
class Replay(object):
    def __init__(self, batch_size):
        self.batch_size, self.rows = batch_size, []

    def sample(self):
        if len(self.rows) < self.batch_size:
            return []
        return random.sample(self.rows, self.batch_size)


def train(replay):
    rows = replay.sample()
    if len(rows) == 0:
        return
    sess.run(train_op, {X: np.asarray([r[0] for r in rows]), Y: np.asarray([r[1] for r in rows])})


sess, replay = tf.Session(), Replay(batch_size=16)
for step in range(100):
    replay.rows.append((np.random.rand(4), np.random.rand(1)))
    train(replay)
"""


def test_the_empty_list_of_one_branch_does_not_tell_the_length_of_the_other_branch_s() -> None:
    assert codes(GRAPH + SAMPLED) == ["TMG348"]
    assert scaled(GRAPH + SAMPLED) == ["sess, replay = tf.Session(config=config), Replay(batch_size=16 * num_gpus)"]


JOINED = """\
sess = tf.Session()
batch_size, more = 16, np.load('more.npy')
for start in range(0, len(data), batch_size):
    x = np.concatenate([data[start:start + batch_size, :4], {}])
    sess.run(train_op, {{X: x, Y: x[:, :1]}})
"""


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("more", ["TMG303"]),  # as many rows beside a larger batch as beside the original's
        ("load()", ["TMG303"]),
        ("load(batch_size)", []),
        ("more[start:start + batch_size]", []),
        ("data[start:start + batch_size, :4]", []),
        ("more[:3]", ["TMG303"]),
    ],
)
def test_rows_that_stand_behind_a_batch(other: str, expected: list[str]) -> None:
    assert codes(GRAPH + JOINED.format(other)) == expected


LAST_BATCH = """\
size, rows = 16, np.random.rand(200, 5)


def batch(rows, begin):
    end = begin + size
    taken = list(rows[begin:min(end, len(rows))])
    if {test}:
        for i in range({more}):
            taken.append(rows[rng.randint(len(rows))])
    return np.array(taken)


sess = tf.Session()
print(sess.run(loss, {{X: batch(rows, 0)[:, :4], Y: batch(rows, 0)[:, 4:]}}))
for step in range(int(np.ceil(len(rows) / size))):
    x = batch(rows, step * size)
    sess.run(train_op, {{X: x[:, :4], Y: x[:, 4:]}})
"""


@pytest.mark.parametrize("test", ["end > len(rows)", "len(rows) < end"])
def test_the_last_batch_is_filled_up(test: str) -> None:
    assert "size, rows = 16 * num_gpus, np.random.rand(200, 5)" in scaled(
        GRAPH + LAST_BATCH.format(test=test, more="end - len(rows)")
    )


@pytest.mark.parametrize(
    ("test", "more"),
    [
        ("end > len(rows)", "end - len(rows) + 1"),
        ("end > 50", "end - len(rows)"),
        ("begin > len(rows)", "end - len(rows)"),
        ("end < len(rows)", "end - len(rows)"),
        ("end > len(rows) > 5", "end - len(rows)"),
    ],
)
def test_last_batches_of_other_sizes(test: str, more: str) -> None:
    assert "size, rows = 16" not in " ".join(scaled(GRAPH + LAST_BATCH.format(test=test, more=more)))
