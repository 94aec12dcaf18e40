"""Numbers that are as large as the batch size, beside it, in the loops around the training steps."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes

GRAPH = """\
import tensorflow as tf
{head}
X = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 2)))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    step, seen, total = 0, 0, 0.
"""
RUN = "_, c = sess.run([train_op, loss], {{X: data.next_batch({size})}})\n"


def script(loop: str, line: str, size: str = "50", head: str = "") -> str:
    run = RUN.format(size=size)
    return GRAPH.format(head=head) + f"    {loop}\n        {run}        {line}\n"


def told(text: str) -> list[str]:
    """Lines behind the making of the session that mention the number of GPUs, but for the one with the run."""
    lines = body(text)
    behind = lines[next(i for i, line in enumerate(lines) if "global_variables_initializer" in line) :]
    return [line.strip() for line in behind if "num_gpus" in line and "sess.run" not in line]


EPOCH = "for i in range(data.count // 50):"


@pytest.mark.parametrize(
    ("loop", "line", "changed"),
    [
        ("while step * 50 < data.count:", "step += 1", ["while step * (50 * num_gpus) < data.count:"]),
        ("while data.count > 50 * step:", "step = step + 1", ["while data.count > (50 * num_gpus) * step:"]),
        ("while (step + 1) * 50 <= 999:", "step += 1", ["while (step + 1) * (50 * num_gpus) <= 999:"]),
        ("while step * 50 + 1 < 999:", "step += 1", ["while step * (50 * num_gpus) + 1 < 999:"]),
        ("while seen < 999:", "seen += 50", ["seen += 50 * num_gpus"]),
        (
            "for i in range(9):",
            "if i * 50 > data.count: break",
            ["if i * (50 * num_gpus) > data.count: break"],
        ),
    ],
)
def test_a_count_of_examples_follows_the_batch(loop: str, line: str, changed: list[str]) -> None:
    text = script(loop, line)
    assert told(text) == changed
    assert codes(text) == []


@pytest.mark.parametrize(
    "line",
    [
        "total += c * 50 / data.count",
        "total += 50 * c / data.count",
        "total += c / data.count * 50",
    ],
)
def test_a_share_of_an_epoch_follows_the_batch(line: str) -> None:
    text = script(EPOCH, line)
    assert "    global_batch_size = 50 * num_gpus" in body(text)
    assert line.replace("50", "global_batch_size") in [b.strip() for b in body(text)]
    assert codes(text) == []


@pytest.mark.parametrize(
    "line", ["print(100 * total / data.count)", "print(total * 100. / data.count)", "print(total / data.count * 100)"]
)
def test_a_share_times_a_hundred_may_be_a_percentage_and_is_told(line: str) -> None:
    text = script(EPOCH.replace("50", "100"), line, "100")
    assert codes(text) == ["TMG338"]
    assert line in [b.strip() for b in body(text)]


def test_a_share_of_an_epoch_may_be_written_as_a_float() -> None:
    text = script(EPOCH, "total += c * 50. / data.count")
    assert "total += c * (50. * num_gpus) / data.count" in told(text)


@pytest.mark.parametrize(
    ("loop", "line"),
    [
        ("for i in range(999):", "print(i * 50)"),
        ("for i in range(999):", "print((i + 1) * 50 / 999)"),
        ("for i in range(999):", "seen += 50"),
        ("for i in range(999):", "print(c / (1000 / 50))"),
        (EPOCH, "print(i * 50)"),
    ],
)
def test_what_may_count_something_else_is_told(loop: str, line: str) -> None:
    text = script(loop, line)
    assert codes(text) == ["TMG338"]
    assert line in [b.strip() for b in body(text)]


@pytest.mark.parametrize(
    ("loop", "line", "size", "head"),
    [
        ("for i in range(999):", "if i % 50 == 0: print(c)", "50", ""),  # every 50th step
        ("for i in range(999):", "print(c * 50)", "50", ""),  # a factor of a result
        ("for i in range(999):", "print('%.1f%%' % (c * 100))", "100", ""),  # a percentage
        ("for i in range(999):", "print(i * 40)", "50", ""),  # another number
        ("for i in range(999):", "print(i * batch_size)", "batch_size", "batch_size = 50"),  # follows by its name
        ("for i in range(50):", "print(i * 50)", "50", ""),  # steps of an epoch
        ("for i in range(999):", "for j in range(1000 // 50): print(j)", "50", ""),  # batches of another loop
        ("for i in range(999):", "print(c / 50)", "50", ""),
        ("while step * 40 < data.count:", "step += 1", "50", ""),
        ("for i in range(999):", "total += c * 50 / 999", "50", ""),
        ("for i in range(999):", "step += 1", "1", ""),  # one example at a time
    ],
)
def test_others_are_none_of_the_batch(loop: str, line: str, size: str, head: str) -> None:
    text = script(loop, line, size, head)
    assert {"TMG338", "TMG339"}.isdisjoint(codes(text))
    assert line in [b.strip() for b in body(text)]


WALK = "sess.run(train_op, {{X: data[{rows}]}})"
NAMED = "batch_size = 50"


@pytest.mark.parametrize(
    ("loop", "rows"),
    [
        ("for i in range(10):", "i * batch_size:(i + 1) * batch_size"),
        ("for i in range(10):", "batch_size * i:batch_size * i + batch_size"),
        ("for i in xrange(10):", "i * batch_size:(i + 1) * batch_size"),
        ("for i in range(10):", "slice(i * batch_size, (i + 1) * batch_size)"),
        ("for i in range(10):", "np.arange(i * batch_size, (i + 1) * batch_size)"),
        ("for i in range(n // batch_size):\n        k = i % 7", "k * batch_size:(k + 1) * batch_size"),
        ("for i in range(10):\n        k, j = i * batch_size, i * batch_size + batch_size", "k:j"),
        ("for i in (k * batch_size for k in range(10)):", "i:i + batch_size"),
    ],
)
def test_a_fixed_number_of_batches_of_a_data_set_is_told(loop: str, rows: str) -> None:
    text = GRAPH.format(head=NAMED) + f"    {loop}\n        {WALK.format(rows=rows)}\n"
    assert codes(text) == ["TMG339"]
    assert not any("* num_gpus" in line for line in body(text))  # the last batches would be empty


@pytest.mark.parametrize(
    ("loop", "rows"),
    [
        ("for i in range(n // batch_size):", "slice(i * batch_size, (i + 1) * batch_size)"),
        ("for i in range(len(data) // batch_size):", "i * batch_size:(i + 1) * batch_size"),
        ("for i in range(10):", "i * batch_size % 999:i * batch_size % 999 + batch_size"),
        ("for i in range(0, 999, batch_size):", "i:i + batch_size"),
        ("for i in range(load()):", "i * batch_size:(i + 1) * batch_size"),
        ("for i in range(n // batch_size):\n        k = i % m", "k * batch_size:(k + 1) * batch_size"),
    ],
)
def test_other_walks_are_not(loop: str, rows: str) -> None:
    text = GRAPH.format(head=NAMED) + f"    {loop}\n        {WALK.format(rows=rows)}\n"
    assert codes(text) == []


BOUNDS = "    begin, end = 0, batch_size\n    for i in {count}:\n        {walk}\n        {moves}\n"


@pytest.mark.parametrize(
    ("count", "rows", "moves", "expected"),
    [
        ("range(10)", "begin:end", "begin = end; end = begin + batch_size", ["TMG339"]),
        ("range(10)", "begin:begin + batch_size", "begin += batch_size", ["TMG339"]),
        ("range(10)", "begin:begin + batch_size", "begin = begin + batch_size", ["TMG339"]),
        ("range(10)", "begin:end", "begin, end = end, end + batch_size", ["TMG339"]),
        ("range(len(data) // batch_size)", "begin:begin + batch_size", "begin += batch_size", []),
        ("range(10)", "begin:end", "begin, end = end, end + batch_size; begin, end = move(begin), end", []),
        ("range(load())", "begin:begin + batch_size", "begin += batch_size", []),
        ("range(10)", "begin:begin + batch_size", "begin = draw(); end = begin + batch_size", []),
        ("range(10)", "begin:begin + batch_size", "begin = (begin + batch_size) % 999", []),
        ("range(10)", "begin:begin + batch_size", "begin = 0 if begin > 99 else begin + batch_size", []),
        ("range(10)", ":batch_size", "begin += batch_size", []),  # counts the examples, and cuts nothing
    ],
)
def test_bounds_that_move_on_in_a_fixed_number_of_iterations(
    count: str, rows: str, moves: str, expected: list[str]
) -> None:
    loop = BOUNDS.format(count=count, walk=WALK.format(rows=rows), moves=moves)
    assert [code for code in codes(GRAPH.format(head=NAMED) + loop) if code == "TMG339"] == expected


@pytest.mark.parametrize(
    ("first", "loop", "moves", "scaled"),
    [
        ("begin, end = 0, 50", "while end <= 999:", "begin = end; end += batch_size", True),
        ("begin, end = 0, 50", "while begin < 999:", "begin, end = end, end + batch_size", True),
        ("begin = 0; end = 50", "for i in range(data.n // batch_size):", "begin = end; end = begin + batch_size", True),
        ("begin, end = 0, 50", "for i in range(9):", "begin += batch_size; end += batch_size", False),
        ("begin, end = 0, 40", "while end <= 999:", "begin = end; end += batch_size", False),
        ("begin, end = 0, 50", "while end <= 999:", "begin = end; end = draw()", False),
        ("begin, end, other = 0, batch_size, 50", "while end <= 999:", "begin = end; end += batch_size", False),
        ("end = 50; begin, end = 0, batch_size", "while end <= 999:", "begin = end; end += batch_size", False),
    ],
)
def test_a_first_bound_that_is_written_out_grows_with_the_others(
    first: str, loop: str, moves: str, scaled: bool
) -> None:
    walk = WALK.format(rows="begin:end")
    lines = body(GRAPH.format(head=NAMED) + f"    {first}\n    {loop}\n        {walk}\n        {moves}\n")
    assert any("50 * num_gpus" in line for line in lines[1:]) == scaled


def test_the_first_bound_of_an_evaluation_stays() -> None:
    loop = "    begin, end = 0, 50\n    while begin < 999:\n        {}\n        begin, end = end, end + {}\n"
    train = loop.format(WALK.format(rows="begin:end"), "batch_size")
    evaluation = loop.format("print(sess.run(loss, {X: data[begin:end]}))", 50)
    lines = body(GRAPH.format(head=NAMED) + train + evaluation)
    first = [line.strip() for line in lines if "= 0, 50" in line]
    assert first == ["begin, end = 0, 50 * num_gpus", "begin, end = 0, 50"]


def test_bounds_that_are_set_back_are_not_told() -> None:
    moves = "begin += batch_size\n        if begin > 99: begin = 0"
    loop = BOUNDS.format(count="range(10)", walk=WALK.format(rows="begin:begin + batch_size"), moves=moves)
    assert "TMG339" not in codes(GRAPH.format(head=NAMED) + loop)


@pytest.mark.parametrize(("count", "expected"), [("len(data) / BATCH", []), ("len(data) / 7", ["TMG339"])])
def test_a_number_of_batches_that_is_called_a_batch_size(count: str, expected: list[str]) -> None:
    text = GRAPH.format(head="BATCH = 50") + (
        f"    batch_size = int(math.ceil({count}))\n    for i in range(batch_size):\n"
        f"        {WALK.format(rows='i * BATCH:(i + 1) * BATCH')}\n"
    )
    assert codes(text) == expected


def test_batches_that_overlap_do_not_reach_further_for_it() -> None:
    text = GRAPH.format(head=NAMED) + f"    for i in range(10):\n        {WALK.format(rows='i:i + batch_size')}\n"
    assert codes(text) == ["TMG344"]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("batch_size = 50\ndecay_steps = 1000 // 50", ["TMG338"]),
        ("batch_size = 50\nsteps = int(total / 50)", ["TMG338"]),
        ("batch_size = 50\nepochs = 10 * len(rows) // 50", ["TMG338"]),
        ("batch_size = 50\nper_epoch = data.num_examples // 50", ["TMG338"]),
        ("batch_size = 50\nrate = tf.train.exponential_decay(0.1, 0, 1000 // 50, 0.5)", ["TMG338"]),
        ("batch_size = 50\nrate = tf.train.piecewise_constant(0, [5 * 1000 // 50], [0.1, 0.01])", ["TMG338"]),
        ("batch_size = 50\nrate = tf.train.piecewise_constant(0, [5 * (1000 // 50)], [0.1, 0.01])", ["TMG338"]),
        ("batch_size = 50\nrate = tf.train.exponential_decay(0.1, 0, 1000 // batch_size, 0.5)", []),
        ("batch_size = 50\nrate = tf.constant(1000 // 50)", []),  # no schedule
        ("batch_size = 50\ndecay_steps = 1000 // batch_size", []),  # follows by its name
        ("batch_size = 50\ndecay_steps = 1000 // 40", []),  # another number
        ("batch_size = 50\nwidth = 1000 // 50", []),  # counts no steps
        ("batch_size = 50\ndecay_steps = scale[0] * 1000 // 50", []),
        ("batch_size = 50\nsteps = scale(rows) / 50", []),  # a value, not a number of examples
    ],
)
def test_a_number_of_steps_from_the_bare_number_is_told(head: str, expected: list[str]) -> None:
    text = script("for i in range(999):", "step += 1", "batch_size", f"total, rows = load()\n{head}")
    assert codes(text) == expected


SETTINGS = """\
class Config(object):
    batch_size = {value}
    test_batch_size = 50
"""


@pytest.mark.parametrize("value", ["50", "40"])
def test_steps_that_another_batch_size_counts_are_told(value: str) -> None:
    text = script("for i in range(data.count // Config.batch_size):", "pass", head=SETTINGS.format(value=value))
    assert codes(text) == ["TMG399"]
    assert told(text) == []


@pytest.mark.parametrize(
    ("loop", "line", "size"),
    [
        ("for i in range(data.count // Config.batch_size):", "pass", "Config.batch_size"),  # the same number
        ("for i in range(data.count // 50):", "pass", "Config.batch_size"),  # no name
        ("for i in range(999):", "for j in range(n // Config.test_batch_size): sess.run(loss)", "Config.batch_size"),
        ("for i in range(999):", "print(i // Config.test_batch_size)", "50"),  # counts no loop
    ],
)
def test_steps_that_the_batch_size_counts_are_not(loop: str, line: str, size: str) -> None:
    assert "TMG399" not in codes(script(loop, line, size, SETTINGS.format(value=50)))


def test_iterations_that_follow_through_a_call_are_not_fixed() -> None:
    head = "import math\n" + NAMED
    loop = "batch_size_count = int(math.ceil(len(load('train')) / batch_size))\n    for i in range(batch_size_count):"
    walk = WALK.format(rows="i * batch_size:(i + 1) * batch_size")
    assert codes(GRAPH.format(head=head) + f"    {loop}\n        {walk}\n") == []
