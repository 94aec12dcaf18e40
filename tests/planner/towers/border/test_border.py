"""What crosses the border of the loop, as the plan has it: names of the module, values that are copied for a pass."""

from __future__ import annotations

from converter.plan.border import Border
from converter.planner.towers.border.traffic import Traffic
from converter.planner.writing.free_names import TakenNames
from tests.scripts import INPUTS, codes, run

MODEL = """\
loss, train_op = None, None


def build(images, labels):
    \"\"\"Builds the model.\"\"\"
    {before}loss = tf.reduce_mean(tf.square(tf.layers.dense(images, 1) - labels))
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    {after}return train_op


train_op = build(X, Y)
"""


def declared(script: str) -> list[tuple[int, tuple[str, ...]]]:
    """The statements at the top of functions: the line that they stand beside, and their texts."""
    plan = run(script).plan
    assert plan is not None
    return [(insert.at.line, insert.lines) for insert in plan.inserts if insert.where == "top"]


def test_a_name_of_the_module_is_declared_where_the_loop_binds_it() -> None:
    inside = MODEL.replace("images", "").replace("build(, labels)", "build(labels)").replace("build(X, Y)", "build(Y)")
    script = INPUTS + inside.format(before="", after="").replace("tf.layers.dense(, 1)", "tf.layers.dense(X, 1)")
    assert declared(script) == [(11, ("global X",))]


def test_nothing_is_declared_for_what_the_function_binds_itself() -> None:
    assert declared(INPUTS + MODEL.format(before="", after="")) == []


def test_what_the_script_declares_is_not_declared_again() -> None:
    inside = MODEL.replace("images", "").replace("build(, labels)", "build(labels)").replace("build(X, Y)", "build(Y)")
    script = INPUTS + inside.format(before="global X\n    ", after="").replace("dense(, 1)", "dense(X, 1)")
    assert declared(script) == []


def test_names_of_a_function_around_are_refused() -> None:
    script = """\
        import tensorflow as tf
        def outer(batch_size):
            X = tf.placeholder(tf.float32, [None, 4])
            Y = tf.placeholder(tf.float32, [None, 1])
            def build():
                loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))
                return tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            train_op = build()
            with tf.Session() as sess:
                for step in range(100):
                    xs, ys = next_batch(batch_size)
                    sess.run(train_op, {X: xs, Y: ys})
        outer(32)
    """
    assert codes(script) == ["TMG205", "TMG205"]  # X and Y


def test_a_new_name_comes_with_another_traffic() -> None:
    before = Traffic(border=Border(restore=(("x", "x_batch"),)))
    first, after = before.fresh("rows")
    second, later = after.fresh("rows")
    assert (first, second, before.fresh("rows")[0]) == ("rows", "rows_2", "rows")
    assert (before.names, later.border) == (TakenNames(), before.border)
