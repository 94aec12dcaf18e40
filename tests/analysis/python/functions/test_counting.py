"""A parameter is a number of examples where the function uses it as one, not where it takes examples."""

from __future__ import annotations

import ast

import pytest

from converter.analysis.python.functions.counting import counts_examples

NUMBERS = (
    ("batch_size", "run(op, n)"),
    ("batch_size", "pass"),
    ("batch_size", "steps = n / batch_size"),
    ("batchSize", "pass"),
    ("batch", "x = data[i:i + batch]"),
    ("batch", "x = data[batch * i:batch * (i + 1)]"),
    ("batch", "steps = count // batch"),
    ("batch", "x = tf.placeholder(tf.float32, [batch, 4])"),
    ("batch", "x = np.zeros(shape=(batch, 4))"),
    ("batch", "x, y = data.next_batch(batch)"),
    ("batch", "state = cell.zero_state(batch, tf.float32)"),
    ("bs", "for i in range(0, n, bs): pass"),
    ("mb", "x = fetch(batch_size=mb)"),
    ("batch", "x = data[list(range(i, i + batch))]"),
)
EXAMPLES = (
    ("batch", "x = batch['x']"),
    ("batch", "x, y = batch"),
    ("batch", "x = batch.images"),
    ("batch", "run(*batch)"),
    ("batch", "run(**batch)"),
    ("batch", "for row in batch: pass"),
    ("batch", "x = [row[0] for row in batch]"),
    ("batch", "x = np.array(batch)"),
    ("batch", "x, y = zip(*batch)"),
    ("batch", "sess.run(op, {x: batch})"),
    ("batch", "sess.run(op, feed_dict=feed(batch))"),
    ("batch_x", "sess.run(op, {x: batch_x})"),
    ("batch_x", "sess.run(op, {x: batch_x / 255.})"),
    ("x_batch", "n = len(x_batch) // 2"),
    ("batch_size", "n = batch_size['train']"),
    ("batch", "x = data[batch * batch_size:]"),
    ("bs", "sess.run(op, {s: bs})"),
    ("batch", "pass"),
    ("batch", "both = np.concatenate([batch, more])"),
    ("num_batches", "range(num_batches)"),
    ("n", "range(n)"),
)


def parsed(name: str, line: str) -> ast.AST:
    return ast.parse(f"def f({name}):\n    {line}\n").body[0]


@pytest.mark.parametrize(("name", "line"), NUMBERS)
def test_number(name: str, line: str) -> None:
    assert counts_examples(name, parsed(name, line))


@pytest.mark.parametrize(("name", "line"), EXAMPLES)
def test_examples(name: str, line: str) -> None:
    assert not counts_examples(name, parsed(name, line))
