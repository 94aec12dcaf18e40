"""A product that a training loop computes three times or more has one name."""

from __future__ import annotations

import pytest

from tests.scripts import MODEL, STEP, body

HEAD = """\
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_integer('batch_size', 32, 'rows')
FLAGS = flags.FLAGS
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
"""
LOOP = """\
with tf.Session() as sess:
    for step in range(100):
        begin = step * FLAGS.batch_size % (len(xs) - FLAGS.batch_size)
        x, y = xs[begin:begin + FLAGS.batch_size], ys[begin:begin + FLAGS.batch_size]
        sess.run(train_op, {X: x, Y: y})
"""
PRODUCT = "FLAGS.batch_size * FLAGS.num_gpus"
MADE = f"global_batch_size = {PRODUCT}"


def loop_of(loop: str, head: str = HEAD) -> list[str]:
    lines = body(head + "xs, ys = load()\n" + MODEL + STEP + loop)
    start = next(number for number, line in enumerate(lines) if line.lstrip().startswith("config = "))
    return lines[start + 1 :]


def test_the_name_stands_before_the_first_use() -> None:
    assert loop_of(LOOP) == [
        "with tf.Session(config=config) as sess:",
        "    for step in range(100):",
        f"        {MADE}",
        "        begin = step * global_batch_size % (len(xs) - global_batch_size)",
        "        x, y = xs[begin:begin + global_batch_size], ys[begin:begin + global_batch_size]",
        "        sess.run(train_op, {X: x, Y: y})",
    ]


def test_uses_in_the_head_of_the_loop_and_in_it() -> None:
    lines = loop_of(LOOP.replace("range(100)", "range(0, len(xs) - FLAGS.batch_size, FLAGS.batch_size)"))
    assert lines[1:3] == [f"    {MADE}", "    for step in range(0, len(xs) - global_batch_size, global_batch_size):"]


def test_branches_of_one_condition() -> None:
    loop = LOOP.replace(
        "        x, y = xs[begin:begin + FLAGS.batch_size], ys[begin:begin + FLAGS.batch_size]\n",
        """\
        if step % 2:
            x, y = xs[begin:begin + FLAGS.batch_size], ys[begin:begin + FLAGS.batch_size]
        else:
            x, y = xs[:FLAGS.batch_size], ys[:FLAGS.batch_size]
""",
    )
    lines = loop_of(loop)
    assert lines.count(f"        {MADE}") == 1 and PRODUCT not in "".join(lines).replace(MADE, "")


def test_a_name_of_the_scripts() -> None:
    lines = loop_of(LOOP, HEAD + "global_batch_size = 3\n")
    assert f"        global_batch_size_2 = {PRODUCT}" in lines


def test_each_function_has_its_own() -> None:
    inner = "".join(f"    {line}\n" for line in LOOP.splitlines())
    lines = loop_of(f"def train():\n{inner}\ndef again():\n{inner}\ntrain()\nagain()\n".replace("\n\n", "\n"))
    made = [line.strip() for line in lines if line.strip().endswith(f"= {PRODUCT}")]
    assert made == [MADE, MADE.replace("global_batch_size", "global_batch_size_2")]


TWICE = LOOP.replace("step * FLAGS.batch_size % (len(xs) - FLAGS.batch_size)", "next_place(step)")
BESIDE = TWICE + "print(len(xs))\n"


@pytest.mark.parametrize(
    ("loop", "products"),
    [
        (TWICE, 2),
        (BESIDE + "rest = len(xs) % FLAGS.batch_size\n", 3),  # once behind the loop
        # in a function that is called with other flags, perhaps
        (BESIDE.replace("        sess", "        pick = lambda a: a[:FLAGS.batch_size]\n        sess"), 3),
        (LOOP.replace("(100):\n", "(100):\n        FLAGS.batch_size = 32\n"), 0),
        (LOOP.replace("    for step in range(100):\n", "    if True:\n        step = 3\n"), 4),  # computed once
    ],
)
def test_products_that_stay(loop: str, products: int) -> None:
    lines = "\n".join(loop_of(loop))
    assert (lines.count(PRODUCT), lines.count("global_batch_size")) == (products, 0)


def test_a_name_in_front_of_an_elif() -> None:
    loop = LOOP.replace(
        "        begin = step * FLAGS.batch_size % (len(xs) - FLAGS.batch_size)\n",
        """\
        if step == 3:
            continue
        elif step > len(xs) // FLAGS.batch_size:
            begin = step * FLAGS.batch_size
        begin = 0
""",
    )
    loop = loop.replace("ys[begin:begin + FLAGS.batch_size]", "ys[:9]")
    lines = loop_of(loop)
    assert lines[lines.index("        if step == 3:") - 1] == f"        {MADE}"
