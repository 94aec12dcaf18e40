"""Batch sizes that are the default of a flag, and are read by themselves too."""

from __future__ import annotations

import pytest

from tests.scripts import body, codes

GRAPH = """\
X = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 2)))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(len(data) // {count}):
        sess.run(train_op, {{X: data.next_batch({rows})}})
"""
PARSER = "parser = argparse.ArgumentParser()\n"
PARSED = "args = parser.parse_args()\n"
IMPORTS = "import argparse\nimport os\nimport tensorflow as tf\n"
ARGUMENT = PARSER + "parser.add_argument('--batch_size', type=int, default={default})\n" + PARSED
CLASS = "class Config(object):\n    batch_size = 32\n"


def script(head: str, count: str, rows: str) -> str:
    return IMPORTS + head + GRAPH.format(count=count, rows=rows)


def lines(text: str, *words: str) -> list[str]:
    """The lines of the converted script that hold one of some words."""
    return [line.strip() for line in body(text) if any(word in line for word in words)]


HEADS = [
    (
        "BATCH_SIZE = 32\n" + ARGUMENT.format(default="BATCH_SIZE"),
        "parser.add_argument('--batch_size', type=int, default=BATCH_SIZE // NUM_GPUS)",
        "BATCH_SIZE",
        "args.batch_size",
    ),
    (
        "BATCH_SIZE = 32\n" + PARSER + "parser.add_argument('--batch_size', type=int)\n"
        "parser.set_defaults(batch_size=BATCH_SIZE)\n" + PARSED,
        "parser.set_defaults(batch_size=BATCH_SIZE // NUM_GPUS)",
        "BATCH_SIZE",
        "args.batch_size",
    ),
    (
        "BATCH_SIZE = 32\ntf.app.flags.DEFINE_integer('batch_size', BATCH_SIZE, '')\nargs = tf.app.flags.FLAGS\n",
        "tf.app.flags.DEFINE_integer('batch_size', BATCH_SIZE // NUM_GPUS, '')",
        "BATCH_SIZE",
        "args.batch_size",
    ),
    (
        "BATCH_SIZE = 32\nrows = int(os.environ.get('ROWS', BATCH_SIZE))\n",
        "rows = int(os.environ.get('ROWS', BATCH_SIZE // NUM_GPUS)) * NUM_GPUS",
        "BATCH_SIZE",
        "rows",
    ),
    (
        "BATCH_SIZE = 32\nrows = int(os.environ.get('ROWS') or str(BATCH_SIZE))\n",
        "rows = int(os.environ.get('ROWS') or str(BATCH_SIZE // NUM_GPUS)) * NUM_GPUS",
        "BATCH_SIZE",
        "rows",
    ),
    (
        CLASS + ARGUMENT.format(default="Config.batch_size"),
        "parser.add_argument('--batch_size', type=int, default=Config.batch_size // num_gpus)",
        "Config.batch_size",
        "args.batch_size",
    ),
    (
        "BATCH_SIZE = 32\ndef parse(n):\n    parser = argparse.ArgumentParser()\n"
        "    parser.add_argument('--batch_size', type=int, default=n)\n    return parser.parse_args()\n"
        "args = parse(BATCH_SIZE)\n",
        "parser.add_argument('--batch_size', type=int, default=n // NUM_GPUS)",
        "BATCH_SIZE",
        "args.batch_size",
    ),
]


@pytest.mark.parametrize(("head", "default", "constant", "setting"), HEADS)
@pytest.mark.parametrize("turned", [False, True], ids=["counts by the constant", "counts by the setting"])
def test_both_are_scaled_and_the_default_stays(
    head: str, default: str, constant: str, setting: str, turned: bool
) -> None:
    count, rows = (setting, constant) if turned else (constant, setting)
    text = script(head, count, rows)
    gpus = "num_gpus" if "Config" in head else "NUM_GPUS"
    scaled = setting if setting == "rows" else f"{setting} * {gpus}"
    if setting == "rows":
        assert default in lines(text, "environ")
    else:
        assert default in lines(text, "default", "DEFINE")
    in_range = f"({scaled})" if " " in scaled else scaled
    assert lines(text, "range(len") == [f"for i in range(len(data) // {in_range if turned else constant}):"]
    assert lines(text, "next_batch") == [
        f"sess.run(train_op, {{X: data.next_batch({constant if turned else scaled})}})"
    ]
    assert codes(text) == []


def test_other_defaults_keep_what_is_written_or_follow_the_batch() -> None:
    head = (
        "BATCH_SIZE = 32\n" + PARSER + "parser.add_argument('--batch_size', type=int, default=BATCH_SIZE)\n"
        "parser.add_argument('--hidden', type=int, default=BATCH_SIZE)\n"
        "parser.add_argument('--buffer', type=int, default=10 * BATCH_SIZE)\n"
        "parser.add_argument('--steps', type=int, default=640 // BATCH_SIZE)\n" + PARSED
    )
    assert [line.partition("default=")[2] for line in lines(script(head, "BATCH_SIZE", "args.batch_size"), "--")] == [
        "BATCH_SIZE // NUM_GPUS)",
        "BATCH_SIZE // NUM_GPUS)",
        "10 * (BATCH_SIZE // NUM_GPUS))",
        "640 // BATCH_SIZE)",
    ]


@pytest.mark.parametrize(
    "head",
    [
        "BATCH_SIZE = 32\n" + ARGUMENT.format(default="BATCH_SIZE"),  # nothing else reads it
        "BATCH_SIZE = 32\n" + ARGUMENT.format(default="BATCH_SIZE") + "print('default: %d' % BATCH_SIZE)\n",
        "N = 32\n" + ARGUMENT.format(default="N") + "for i in range(N):\n    pass\n",  # not said to be a batch size
        ARGUMENT.format(default="32"),
    ],
)
def test_a_default_that_nothing_else_counts_by_stays(head: str) -> None:
    text = script(head, "args.batch_size", "args.batch_size")
    default = "BATCH_SIZE" if "BATCH_SIZE" in head else "N" if "N =" in head else "32"
    assert f"parser.add_argument('--batch_size', type=int, default={default})" in lines(text, "--batch_size")
    assert lines(text, "N = 32", "BATCH_SIZE = 32") == ([f"{default} = 32"] if default != "32" else [])
    assert codes(text) == []


def test_a_constant_that_takes_the_place_of_the_flag_is_no_default() -> None:
    head = "BATCH_SIZE = 32\n" + ARGUMENT.format(default="BATCH_SIZE") + "BATCH_SIZE = args.batch_size\n"
    text = script(head, "BATCH_SIZE", "BATCH_SIZE")
    assert "BATCH_SIZE = 32" in lines(text, "BATCH_SIZE =")
    assert lines(text, "next_batch") == ["sess.run(train_op, {X: data.next_batch(BATCH_SIZE)})"]


@pytest.mark.parametrize(
    ("rest", "scaled"),
    [
        ("n = args.batch_size or 32", "n = (args.batch_size and args.batch_size * {0}) or (32 * {0})"),
        (
            "n = args.batch_size if args.batch_size else 32",
            "n = args.batch_size * {0} if args.batch_size else 32 * {0}",
        ),
    ],
)
def test_a_number_in_place_of_a_flag_that_is_not_given(rest: str, scaled: str) -> None:
    text = script(ARGUMENT.format(default="None") + rest + "\n", "n", "n")
    assert lines(text, "n = ") == [scaled.format("num_gpus")]


def test_a_test_of_a_flag_that_is_not_given_does_not_multiply_none() -> None:
    head = ARGUMENT.format(default="None") + "if args.batch_size and args.batch_size > 4:\n    print(1)\n"
    text = script(head + "n = args.batch_size or 32\n", "n", "n")
    assert lines(text, "> 4") == [
        "if (args.batch_size and args.batch_size * num_gpus) and (args.batch_size * num_gpus) > 4:"
    ]


FLAG = "tf.app.flags.DEFINE_integer('batch_size', 32, '')\nargs = tf.app.flags.FLAGS\n"


@pytest.mark.parametrize(
    ("default", "scaled"),
    [
        ("len(data) // args.batch_size", "len(data) // (args.batch_size * args.num_gpus)"),
        ("int(len(data) / args.batch_size)", "int(len(data) / (args.batch_size * args.num_gpus))"),
        ("2 * (len(data) // args.batch_size)", "2 * (len(data) // (args.batch_size * args.num_gpus))"),
        ("args.batch_size", ""),  # the size of one tower
        ("2 * args.batch_size", ""),
        ("args.batch_size // 2", ""),
    ],
)
def test_a_default_that_counts_batches_follows(default: str, scaled: str) -> None:
    head = "from records import data\n" + FLAG + f"tf.app.flags.DEFINE_integer('period', {default}, '')\n"
    text = script(head, "args.batch_size", "args.batch_size") + "        print(i % args.period)\n"
    assert lines(text, "'period'") == [f"tf.app.flags.DEFINE_integer('period', {scaled or default}, '')"]
