"""How often a script is walked while it is read: counted, not timed."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.analysis.facts import Facts
from converter.analysis.python import run as running
from converter.analysis.walk import Walk
from converter.conversion.reading import Reading
from converter.options import Options
from converter.source import from_bytes
from tests.scripts import STEP, TRAINING

QUEUE = """import tensorflow as tf

batch_size = 32


def read():
    x, y = tf.train.batch([tf.constant([1.0]), tf.constant([2.0])], batch_size=batch_size)
    return x / 255.0, y


X, Y = read()
loss = tf.reduce_mean(tf.square(tf.layers.dense(X, 1) - Y))
"""
PENALTY = """import tensorflow as tf
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
h = tf.layers.dense(X, 1)
loss = tf.reduce_mean(tf.square(h - Y))
pairs = tf.train.AdamOptimizer(0.01).compute_gradients(loss)
loss += tf.add_n([tf.reduce_sum(tf.square(g)) for g, _ in pairs])
"""


class Walks(list[Walk]):
    """The walks that were begun, in their order."""

    def executed(self) -> list[int]:
        """The statements that each executed."""
        return [walk.executed for walk in self]


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> Walks:
    begun = Walks()
    run = running.run

    def noted(walk: Walk) -> Facts:
        begun.append(walk)
        return run(walk)

    monkeypatch.setattr(running, "run", noted)
    return begun


def reading_of(script: str, path: str = "train.py") -> Reading:
    return Reading(from_bytes(path, script.encode()), Options(), {})


def test_expressions_that_become_inputs_take_one_more_walk(walks: Walks) -> None:
    reading = reading_of(QUEUE + STEP + TRAINING.replace(", {X: xs, Y: ys}", ""))
    before = len(walks)
    (made,) = [step.site.stmt for step in reading.facts.train_steps]
    assert made in reading.facts.tree.body
    entrance = next(node for node in reading.facts.tree.body if getattr(node, "lineno", 0) == 11)
    call = entrance.value  # type: ignore[attr-defined]
    reading.again({call.func: None})
    assert len(walks) == before + 1
    assert walks[-1].decisions == {**walks[before - 1].decisions, call.func: None}


def test_gradients_in_losses_are_found_once(walks: Walks) -> None:
    reading = reading_of(PENALTY + STEP + TRAINING)
    first = len(walks)
    assert [len(walk.facts.within) for walk in walks] == [0, *[1] * (first - 1)]
    reading.again({})
    assert [len(walk.facts.within) for walk in walks[first:]] == [1]


def test_a_script_that_builds_without_end_is_given_up_once(walks: Walks) -> None:
    loops = "".join("    " * level + f"for i{level} in range(40):\n" for level in range(4))
    body = " " * 16 + "h = tf.layers.dense(h, 1)\n"
    assert reading_of(PENALTY + loops + body + STEP).facts.endless is not None
    assert len(walks) == 1


def test_a_walk_ends_where_a_module_turns_out_to_be_python_2(walks: Walks, tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text("print 'x'\n")
    script = "a = 1\nb = 2\nimport late\n" + "c = a / b\n" * 9
    (tmp_path / "train.py").write_text(script)
    reading_of(script, str(tmp_path / "train.py"))
    assert walks.executed() == [3, 13]
    assert [walk.python2 for walk in walks] == [False, True]
