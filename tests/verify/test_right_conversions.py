"""Right conversions that verify once failed, each with a fault put in, which goes on failing."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.options import Options
from tests.proofs import proof_of, verdict_of

pytestmark = pytest.mark.one_test_in(3)

HEAD = """\
import numpy as np
import tensorflow as tf

batch_size = 8
rng = np.random.RandomState(0)
"""
TAIL = """
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 64, batch_size):
        end = begin + batch_size
        print(sess.run([train_op, {fetched}], {feed})[1:])
"""

MASKED = (
    HEAD
    + """\
data, masks, labels = rng.rand(64, 5), rng.rand(64) > {rare}, rng.randint(3, size=64)
x = tf.placeholder(tf.float32, [batch_size, 5])
m = tf.placeholder(tf.float32, [batch_size])
y = tf.placeholder(tf.int32, [batch_size])
logits = tf.layers.dense(x, 3{decay})
v = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
loss = tf.reduce_sum(v * m) / tf.maximum(tf.reduce_sum(m), 1){more}"""
    + TAIL.format(fetched="loss", feed="{{x: data[begin:end], m: masks[begin:end], y: labels[begin:end]}}")
)
DECAYED = {
    "decay": ", kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1)",
    "more": " + tf.losses.get_regularization_loss()",
}

SLICED = (
    HEAD
    + """\
data, labels = rng.rand(64, 5), rng.rand(64, 2)
x = tf.placeholder(tf.float32, [None, 5])
y = tf.placeholder(tf.float32, [None, 2])
n = {rows}
out = tf.layers.dense(x, 2)
loss = tf.reduce_mean(tf.square(tf.slice(out, [0, 0], [n, 1]) - tf.slice(y, [0, 0], [n, 1])))"""
    + TAIL.format(fetched="loss", feed="{{x: data[begin:end], y: labels[begin:end]}}")
)

PADDED = (
    HEAD
    + """\
sentences = [list(rng.randint(1, 9, size=rng.randint(2, 12))) for _ in range(64)]
x = tf.placeholder(tf.int32, [None, None])
y = tf.placeholder(tf.int32, [None, None])
lengths = tf.placeholder(tf.int32, [None])
out = tf.layers.dense(tf.nn.embedding_lookup(tf.get_variable('table', [10, 6]), x), 10)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=out)
mask = tf.sequence_mask(lengths, tf.shape(x)[1], tf.float32)
loss = tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)


def pad(rows):
    longest = max(map(len, rows))
    return np.array([{padded} for row in rows])


def feed(rows):
    return {{x: pad(rows), y: pad(rows), lengths: list(map(len, rows))}}

"""
    + TAIL.format(fetched="loss", feed="feed(sentences[begin:end])")
)

UPDATED = (
    HEAD
    + """\
{resource}data, labels = rng.rand(64, 5), rng.rand(64, 1)


def model(x, y):
    h = tf.layers.dense(x, 3)
    seen = tf.get_variable('seen', [3], trainable=False, initializer=tf.zeros_initializer())
    update = tf.assign(seen, 0.9 * seen + 0.1 * tf.reduce_mean(h, 0))
    return tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - y)), update


x = tf.placeholder(tf.float32, [None, 5])
y = tf.placeholder(tf.float32, [None, 1])
loss, update = model(x, y)
size = {size}"""
    + TAIL.format(fetched="loss, size", feed="{{x: data[begin:end], y: labels[begin:end]}}")
)
NORM = "tf.sqrt(tf.reduce_sum(tf.square(update)))"


@pytest.mark.one_in(30)
@pytest.mark.tf1
@pytest.mark.parametrize("rare", ["0.6", "0.9"])
@pytest.mark.parametrize("more", [{"decay": "", "more": ""}, DECAYED], ids=["alone", "weight decay"])
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (("", ""), "passed"),
        (("tf.reduce_sum(m), 1)", "tf.reduce_sum(m) / num_gpus, 1)"), "failed gradients"),
        (("tf.reduce_sum(v * m)", "tf.reduce_sum((v * m)[:batch_size // 2])"), "failed gradients"),
    ],
    ids=["right", "half the mask", "the first tower's"],
)
def test_divisors_that_are_never_zero(
    rare: str, more: dict[str, str], change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    text = MASKED.format(rare=rare, **more)
    assert verdict_of(text, tensorflow_python, tmp_path, Options(loss="global"), change) == verdict


@pytest.mark.one_in(2)
@pytest.mark.tf1
@pytest.mark.parametrize("rows", ["batch_size", "tf.placeholder_with_default(8, [])"])
def test_a_number_of_rows_that_is_never_fed(rows: str, tensorflow_python: str, tmp_path: Path) -> None:
    assert verdict_of(SLICED.format(rows=rows), tensorflow_python, tmp_path, Options()) == "passed"


@pytest.mark.tf1
def test_a_conversion_of_one_size_of_batch_fails(tensorflow_python: str, tmp_path: Path) -> None:
    change = "tf.layers.dense(x, 2)", "tf.reshape(tf.layers.dense(x, 2), [batch_size // num_gpus, 2])"
    text = SLICED.format(rows="tf.shape(x)[0]")
    assert verdict_of(text, tensorflow_python, tmp_path, Options(), change) == "failed uneven batch"


BEHIND, BEFORE, ZERO = (
    "row + [9] * (longest - len(row))",
    "[9] * (longest - len(row)) + row",
    "[0] * (longest - len(row)) + row",
)


@pytest.mark.one_in(30)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("padded", "change", "verdict"),
    [
        (BEHIND, ("", ""), "passed"),
        (BEHIND, ("[9] * (longest -", "[8] * (longest -"), "failed data"),
        (BEHIND, ("row + [9] * (longest -", "row[:-1] + [9] * (longest + 1 -"), "failed data"),
        (BEHIND, ("for row in rows])", "for row in rows[::-1]])"), "failed data"),
        (BEFORE, ("", ""), "passed"),
        (BEFORE, ("[9] * (longest -", "[8] * (longest -"), "failed data"),
        (BEFORE, ("[9] * (longest - len(row)) + row", "row + [9] * (longest - len(row))"), "failed data"),
        (BEFORE, ("for row in rows])", "for row in rows[::-1]])"), "failed data"),
        (ZERO, ("", ""), "passed"),
        (ZERO, ("len(row)) + row", "len(row) + 1) + row[1:]"), "failed data"),
        (ZERO, ("[0] * (longest - len(row)) + row", "row + [0] * (longest - len(row))"), "failed data"),
    ],
)
def test_padding_that_is_not_zero(
    padded: str, change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    text = PADDED.format(padded=padded)
    assert verdict_of(text, tensorflow_python, tmp_path, Options(line_length=100), change) == verdict


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize("resource", ["", "tf.enable_resource_variables()\n"], ids=["reference", "resource"])
@pytest.mark.parametrize("size", [NORM, f"{NORM} + loss"], ids=["alone", "with the loss"])
@pytest.mark.parametrize(
    ("change", "verdict"),
    [(("", ""), "passed"), (("update = tower_update[0]", "update = tower_update[-1]"), "failed fetches")],
    ids=["right", "the last tower's"],
)
def test_what_is_computed_from_an_update(
    resource: str, size: str, change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    text = UPDATED.format(resource=resource, size=size)
    assert verdict_of(text, tensorflow_python, tmp_path, Options(line_length=100), change) == verdict


COUNTED = (
    HEAD
    + """\
tf.set_random_seed(7)  # so that the towers do not count alike by chance
data, labels = rng.rand(64, 5), rng.randint(3, size=64)
x = tf.placeholder(tf.float32, [{rows}, 5])
y = tf.placeholder(tf.int64, [{rows}])
h = tf.layers.dense(tf.layers.batch_normalization(tf.layers.dense(x, 6), training=True), 6, tf.nn.relu)
logits = tf.layers.dense(tf.layers.batch_normalization(h, training=True), 3)
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
right = tf.cast(tf.equal(y, tf.argmax(logits, 1)), tf.int32)
accuracy, count = tf.metrics.accuracy(y, tf.argmax(logits, 1))
hits = tf.get_variable('hits', [], tf.int32, tf.zeros_initializer(), trainable=False)
raised = tf.assign_add(hits, tf.reduce_sum(right))
counting = tf.group(count, raised, *tf.get_collection(tf.GraphKeys.UPDATE_OPS))"""
    + TAIL.format(fetched="counting", feed="{{x: data[begin:end], y: labels[begin:end]}}").replace(
        "global_variables_initializer()", "global_variables_initializer()); sess.run(tf.local_variables_initializer()"
    )
)
METRIC = "tf.metrics.accuracy(y, tf.argmax(logits, 1))"


@pytest.mark.one_in(20)
@pytest.mark.tf1
@pytest.mark.parametrize("rows", ["None", "batch_size"])
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (("", ""), "passed"),
        ((METRIC, "tf.metrics.accuracy(y, 2 - tf.argmax(logits, 1))"), "failed update"),
        ((METRIC, "tf.metrics.accuracy(tf.tile(y, [2]), tf.tile(tf.argmax(logits, 1), [2]))"), "failed update"),
        (("tf.reduce_sum(right)", "tf.reduce_sum(right) // num_gpus"), "failed update"),
        (("tf.reduce_sum(right)", "tf.reduce_sum(right) + 1"), "failed update"),
    ],
    ids=["right", "other classes", "every example twice", "a mean over the towers", "one too many"],
)
def test_what_is_counted_over_rows_that_depend_on_statistics(
    rows: str, change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    text = COUNTED.format(rows=rows)
    assert verdict_of(text, tensorflow_python, tmp_path, Options(), change) == verdict


# the noise takes as many numbers as a batch has rows, so that the shuffle behind it draws others
DRAWN_BEFORE = (
    HEAD
    + """\
data, labels = rng.rand(64, 5), rng.rand(64, 2)
x = tf.placeholder(tf.float32, [None, 5])
y = tf.placeholder(tf.float32, [None, 2])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 2) - y))
noise = {noise}
order = np.arange(64)
{shuffle}"""
    + TAIL.format(fetched="loss", feed="{{x: data[order[begin:end]], y: labels[order[begin:end]]}}").replace(
        "in range(0, 64, batch_size)", "in [begin for _ in range(4) for begin in range(0, 64, batch_size)]"
    )
)
NOISE, SHUFFLE = "np.random.uniform(size=(batch_size, 2))", "np.random.shuffle(order)"
REVERSED = "data[order[begin:end]], y: labels[order[begin:end]]", "data[begin:end][::-1], y: labels[begin:end][::-1]"
ROLLED = "labels[order[begin:end]]", "np.roll(labels[order[begin:end]], 1, 0)"
TWICE = "order[begin:end]", "np.tile(order[begin:begin + 8], 2)"
OTHERS = "order[begin:end]", "order[begin:end] % 8"


@pytest.mark.one_in(30)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("noise", "shuffle", "change", "epochs", "verdict"),
    [
        (NOISE, SHUFFLE, ("", ""), 0, "passed"),
        (NOISE, SHUFFLE, ("", ""), 2, "passed"),
        (NOISE.replace("np.random", "__import__('random')").replace("size=(batch_size, 2)", "0, batch_size"),
         SHUFFLE, ("", ""), 0, "passed"),
        (NOISE, "__import__('random').seed(3); " + SHUFFLE, ("", ""), 0, "passed"),
        (NOISE, SHUFFLE, TWICE, 0, "failed data"),
        (NOISE, SHUFFLE, OTHERS, 2, "failed examples, whole run"),
        (NOISE, SHUFFLE, ROLLED, 2, "failed examples, whole run"),
        ("0", SHUFFLE, ROLLED, 0, "failed data"),
        (NOISE, "", REVERSED, 0, "failed data"),
        (NOISE, "", ROLLED, 0, "failed data"),
        (NOISE, "np.random.seed(7); " + SHUFFLE, ROLLED, 0, "failed data"),
    ],
)  # fmt: skip
def test_data_shuffled_after_draws_of_another_number(
    noise: str,
    shuffle: str,
    change: tuple[str, str],
    epochs: int,
    verdict: str,
    tensorflow_python: str,
    tmp_path: Path,
) -> None:
    text = DRAWN_BEFORE.format(noise=noise, shuffle=shuffle)
    assert verdict_of(text, tensorflow_python, tmp_path, Options(line_length=120), change, epochs) == verdict


FEW_STEPS = (
    HEAD
    + """\
data, labels = rng.rand({rows}, 5), rng.rand({rows}, 2)
x = tf.placeholder(tf.float32, [None, 5])
y = tf.placeholder(tf.float32, [None, 2])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 2) - y))
steps = tf.train.get_or_create_global_step()
train_op = tf.train.AdamOptimizer(0.01).minimize(loss, steps)
shown = tf.summary.scalar('loss', loss)
saver = tf.train.Saver()
writer = tf.summary.FileWriter('logs')
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(5):
        for number in range({rows} // batch_size):
            rows = slice(number * batch_size, (number + 1) * batch_size)
            sess.run(train_op, {{x: data[rows], y: labels[rows]}})
        saver.save(sess, 'model', {number})
        writer.add_summary(sess.run(shown, {{x: data, y: labels}}), epoch)
"""
)


@pytest.mark.one_in(10)
@pytest.mark.tf1
@pytest.mark.parametrize("number", ["epoch", "sess.run(steps)", "None"])
@pytest.mark.parametrize("rows", [16, 32, 40])
def test_what_ends_an_epoch_of_few_steps(rows: int, number: str, tensorflow_python: str, tmp_path: Path) -> None:
    text = FEW_STEPS.format(rows=rows, number=number)
    assert verdict_of(text, tensorflow_python, tmp_path, Options()) == "passed"


@pytest.mark.one_in(6)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("rows", "change", "verdict"),
    [
        (32, ("        saver.save", "            saver.save"), "failed savers"),
        (32, ("'model', epoch", "'model', epoch + 1"), "failed savers"),
        (40, ("'model', epoch", "'model', epoch + 1"), "failed savers"),
        (32, ("labels}), epoch", "labels}), epoch + 1"), "failed summaries"),
        (40, ("labels}), epoch", "labels}), epoch + 1"), "failed summaries"),
    ],
)
def test_what_does_not_end_an_epoch_of_few_steps(
    rows: int, change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    text = FEW_STEPS.format(rows=rows, number="epoch")
    assert verdict_of(text, tensorflow_python, tmp_path, Options(), change) == verdict


DRAWN_ANEW = (
    HEAD
    + """\
users, items, rates = rng.randint(20, size=136), rng.randint(30, size=136), rng.rand(136)
batches = len(users) // batch_size
user = tf.placeholder(tf.int32, [None])
item = tf.placeholder(tf.int32, [None])
rate = tf.placeholder(tf.float32, [None])
rows = [tf.nn.embedding_lookup(tf.get_variable(name, [30, 4]), ids) for name, ids in (('u', user), ('i', item))]
loss = tf.reduce_mean(tf.square(tf.reduce_sum(tf.multiply(rows[0], rows[1]), 1) - rate))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    writer = tf.summary.FileWriter('logs')
    sess.run(tf.global_variables_initializer())
    errors = []
    for step in range(3 * batches):
        drawn = rng.randint(len(users), size=batch_size)
        errors.append(sess.run([train_op, loss], {user: users[drawn], item: items[drawn], rate: rates[drawn]})[1])
        if step % batches == 0:
            mean = tf.Summary(value=[tf.Summary.Value(tag='error', simple_value=np.mean(errors))])
            writer.add_summary(mean, step)
"""
)


@pytest.mark.one_in(4)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (("", ""), "passed"),  # 17 steps in an epoch, and 8 of the conversion
        (("step % batches == 0", "step % batches == 1"), "failed summaries"),
        (("add_summary(mean, step)", "add_summary(mean, step + 1)"), "failed summaries"),
    ],
)
def test_what_is_written_each_epoch_of_batches_that_are_drawn_anew(
    change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    assert verdict_of(DRAWN_ANEW, tensorflow_python, tmp_path, Options(), change) == verdict


SHOWN = (
    HEAD
    + """\
data, labels = rng.rand(64, 5), rng.rand(64, 2)
x = tf.placeholder(tf.float32, [{rows}, 5])
y = tf.placeholder(tf.float32, [{rows}, 2])
h = tf.nn.relu(tf.layers.batch_normalization(tf.layers.dense(x, 6), training=True))
loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 2) - y))
optimizer = tf.train.AdamOptimizer(0.01)
grads, variables = zip(*optimizer.compute_gradients(loss))
clipped, norm = tf.clip_by_global_norm(grads, 0.1)
tf.summary.scalar('norm', norm)
for grad, variable in zip(clipped, variables):
    tf.summary.histogram(variable.op.name, grad / (tf.abs(variable) + 0.1))
shown = tf.summary.merge_all()
train_op = optimizer.apply_gradients(zip(clipped, variables))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 64, batch_size):
        feed = {{x: data[begin:begin + batch_size], y: labels[begin:begin + batch_size]}}
        sess.run(train_op, feed)
        sess.run(shown, feed)
"""
)


@pytest.mark.one_in(20)
@pytest.mark.tf1
@pytest.mark.parametrize("rows", ["None", "batch_size"])
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (("", ""), "passed"),
        (("grad / (", "num_gpus * grad / ("), "failed fetches"),
        (("'norm', norm", "'norm', norm / num_gpus"), "failed fetches"),
        (("'norm', norm", "'norm', tf.global_norm(tf.gradients(tower_loss[0], variables))"), "failed fetches"),
    ],
    ids=["right", "doubled", "divided", "the first tower's"],
)
def test_gradients_shown_in_runs_that_do_not_train(
    rows: str, change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    assert verdict_of(SHOWN.format(rows=rows), tensorflow_python, tmp_path, Options(), change) == verdict


READ_TWICE = (
    HEAD
    + """\
data, labels = rng.rand(256, 5), rng.randint(3, size=256)


def batches(data, labels):
    return tf.data.Dataset.from_tensor_slices((data, labels)).repeat().batch(batch_size)


iterator = batches(data, labels).make_one_shot_iterator()
x, y = iterator.get_next()
others, {unused} = iterator.get_next()
kernel = tf.get_variable('kernel', [5, 3], tf.float64)
loss = tf.losses.sparse_softmax_cross_entropy(y, tf.matmul(x, kernel)) + tf.reduce_mean(tf.matmul(others, kernel) ** 2)
{more}"""
    + TAIL.format(fetched="loss", feed="{{}}")
)
PAIRS = "loss += tf.losses.sparse_softmax_cross_entropy(z, tf.matmul(others, kernel))"


@pytest.mark.one_in(10)
@pytest.mark.tf1
@pytest.mark.parametrize(("unused", "more"), [("_", ""), ("z", PAIRS)], ids=["examples", "with labels"])
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (("", ""), "passed"),
        (("batches(data, labels)", "batches(data, np.roll(labels, 1, 0))"), "failed data"),
        (("batches(data, labels)", "batches(data[::-1].copy(), labels[::-1].copy())"), "failed data"),
        (("batches(data, labels)", "batches(data[4:], labels[4:])"), "failed data"),
        ((".batch(batch_size)", ".batch(batch_size // 2)"), "failed batch"),
    ],
    ids=["right", "others' labels", "in reverse", "without the first four", "half as many"],
)
def test_an_iterator_that_is_read_twice_in_a_step(
    unused: str, more: str, change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    text = READ_TWICE.format(unused=unused, more=more)
    old, new = change
    change = (f"iterator = {old}", f"iterator = {new}") if old.startswith("batches") else change
    assert verdict_of(text, tensorflow_python, tmp_path, Options(line_length=120), change) == verdict


NAMED_BY_SCOPE = (
    HEAD
    + """\
data, labels = rng.rand(64, 5), rng.rand(64, 2)
x = tf.placeholder(tf.float32, [None, 5])
y = tf.placeholder(tf.float32, [None, 2])


def net(x):
    with tf.variable_scope('net') as scope:
        name = scope.original_name_scope + 'ends'
        hidden = tf.layers.dense(x, 6)
        tf.add_to_collection(name, hidden)
        out = tf.layers.dense(hidden, 2)
        tf.add_to_collection(name, out)
        assert len(tf.get_collection(name)) == 2
        return out


loss = tf.reduce_mean(tf.square(net(x) - y))"""
    + TAIL.format(fetched="loss", feed="{x: data[begin:end], y: labels[begin:end]}")
)
CONFIG = "config = tf.ConfigProto("


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (("", ""), "passed"),
        ((CONFIG, f"tf.get_collection('net/ends')\n{CONFIG}"), "failed collections"),
        ((CONFIG, f"tf.add_to_collection('tower_0/net/ends', x)\n{CONFIG}"), "failed collections"),
    ],
    ids=["right", "asked for by the original's name", "one more"],
)
def test_collections_named_after_a_scope(
    change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    assert verdict_of(NAMED_BY_SCOPE, tensorflow_python, tmp_path, Options(line_length=120), change) == verdict


SUMMED_OVER_RUNS = (
    HEAD
    + """\
data, labels = rng.rand(96, 5), rng.rand(96, 2)
x = tf.placeholder(tf.float32, [None, 5])
y = tf.placeholder(tf.float32, [None, 2])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 2) - y))
optimizer = tf.train.GradientDescentOptimizer(0.1)
trained = tf.trainable_variables()
sums = [tf.Variable(tf.zeros_like(variable.initialized_value()), trainable=False) for variable in trained]
zero = [kept.assign(tf.zeros_like(kept)) for kept in sums]
pairs = optimizer.compute_gradients(loss, trained)
add = [kept.assign_add(grad) for kept, (grad, _) in zip(sums, pairs)]
train_op = optimizer.apply_gradients([(kept / 3, variable) for kept, variable in zip(sums, trained)])
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for number, begin in enumerate(range(0, 96, batch_size)):
        if number % 3 == 0:
            sess.run(zero)
        sess.run(add, {x: data[begin:begin + batch_size], y: labels[begin:begin + batch_size]})
        if number % 3 == 2:
            sess.run(train_op)
    print(sess.run(trained))
"""
)


@pytest.mark.tf1
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (("", ""), "passed"),
        (("assign(tf.zeros_like(kept))", "assign(tf.ones_like(kept))"), "failed fetches"),
        (("print(sess.run(trained))", "print(sess.run([2 * variable for variable in trained]))"), "failed fetches"),
    ],
    ids=["right", "begins at one", "shows twice the weights"],
)
def test_variables_shown_at_the_end_as_many_as_are_reset_between_steps(
    change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    """The conversion has no third step, before which the original resets two sums; it shows two weights there."""
    assert verdict_of(SUMMED_OVER_RUNS, tensorflow_python, tmp_path, Options(), change) == verdict


ADDED = (
    HEAD
    + """\
data, labels = rng.rand(64, 5), rng.randint(3, size=64)
x = tf.placeholder(tf.float32, [None, 5])
y = tf.placeholder(tf.int32, [None])
logits = tf.layers.dense(x, 3)
loss = {loss}(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))"""
    + TAIL.format(fetched="loss", feed="{{x: data[begin:end], y: labels[begin:end]}}")
)


@pytest.mark.one_in(5)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("loss", "option", "change", "verdict"),
    [
        ("tf.reduce_sum", "global", ("", ""), "passed"),
        ("tf.reduce_sum", "global", ("loss = tf.add_n(tower_loss)", "loss = tf.add_n(tower_loss) / 2"), "failed loss"),
        ("tf.reduce_sum", "global", ("(loss * tf.cast(", "(loss * weight * tf.cast("), "failed gradients"),
        ("tf.reduce_sum", "towers", ("", ""), "passed"),
        ("tf.reduce_sum", "towers", ("loss * weight))", "loss))"), "failed gradients"),
        ("tf.reduce_mean", "global", ("", ""), "passed"),
        ("tf.reduce_mean", "global", ("loss * weight))", "loss))"), "failed gradients"),
    ],
)
def test_sums_that_are_added(
    loss: str, option: str, change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    options = Options(loss=option)
    assert verdict_of(ADDED.format(loss=loss), tensorflow_python, tmp_path, options, change) == verdict


# how much an example counts depends on the other ones of its batch, and so on the size of the batch
BALANCED = (
    HEAD
    + """\
data, labels = rng.rand(64, 5), rng.randint(3, size=64)
x = tf.placeholder(tf.float32, [None, 5])
y = tf.placeholder(tf.int32, [None])
w = tf.placeholder(tf.float32, [None])
loss = tf.reduce_mean(w * tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=tf.layers.dense(x, 3)))


def rarely(found):
    return 1.0 / np.bincount(found, minlength=3)[found]
"""
    + TAIL.format(
        fetched="loss",
        feed="{x: data[begin:end], y: labels[begin:end], w: rarely(labels[begin:end])}",
    ).replace("in range(0, 64, batch_size)", "in [begin for _ in range(2) for begin in range(0, 64, batch_size)]")
)


@pytest.mark.one_in(6)
@pytest.mark.tf1
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (("", ""), "passed"),
        (("x: data[begin:end]", "x: np.roll(data[begin:end], begin // 48, 0)"), "failed data, whole run"),
        (("y: labels[begin:end]", "y: np.roll(labels[begin:end], begin // 48, 0)"), "failed data, whole run"),
    ],
    ids=["right", "examples in another order at an epoch's end", "labels in another order there"],
)
def test_a_weight_that_is_computed_from_each_batch(
    change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    assert verdict_of(BALANCED, tensorflow_python, tmp_path, Options(), change, epochs=1) == verdict


BY_HAND_MEAN = (
    HEAD
    + """\
data, labels = rng.randint(20, size=64), rng.rand(64, 2)
x = tf.placeholder(tf.int32, [None])
y = tf.placeholder(tf.float32, [None, 2])
rows = tf.nn.embedding_lookup(tf.get_variable('table', [20, 5]), x)
decay = 0.01 * tf.nn.l2_loss(rows) / batch_size
loss = tf.reduce_mean(tf.square(tf.layers.dense(rows, 2) - y)) + decay"""
    + TAIL.format(fetched="decay", feed="{x: data[begin:end], y: labels[begin:end]}")
)


@pytest.mark.tf1
@pytest.mark.parametrize(("change", "verdict"), [(("", ""), "passed"), (("(decay * weight)", "(decay * 3)"), "failed")])
def test_a_sum_over_the_batch_divided_by_its_size(
    tensorflow_python: str, tmp_path: Path, change: tuple[str, str], verdict: str
) -> None:
    """It is the mean over the towers, as the loss that it is a part of."""
    (tmp_path / "single.py").write_text(BY_HAND_MEAN)
    report = proof_of(tmp_path / "single.py", tensorflow_python, tmp_path, Options(), change)
    assert report.verdict == verdict, (report.reason, report.checks)


# A second model, which is for whole batches of validation alone, shares the first one's variables.
OF_FIXED_BATCHES = (
    HEAD
    + """\
data = rng.rand(64, 5).astype(np.float32)


def model():
    x = tf.placeholder(tf.float32, [batch_size, 5])
    with tf.variable_scope('model', reuse=tf.AUTO_REUSE):
        error = tf.square(tf.layers.dense(x, 1) - 0.4)
    return x, tf.reduce_sum(error) / batch_size


x, loss = model()
valid_x, valid = model()"""
    + TAIL.format(fetched="loss", feed="{x: data[begin:end]}")
    + "        print(sess.run(valid, {valid_x: data[begin:end]}))\n"
)


@pytest.mark.tf1
@pytest.mark.parametrize(
    ("change", "verdict"), [(("", ""), "passed"), (("sess.run(valid,", "sess.run(3 * valid,"), "failed")]
)
def test_a_sum_over_a_fixed_batch_divided_by_its_size(
    tensorflow_python: str, tmp_path: Path, change: tuple[str, str], verdict: str
) -> None:
    """The model of validation stands on one device, with a larger batch: it divides by the larger size."""
    (tmp_path / "single.py").write_text(OF_FIXED_BATCHES)
    report = proof_of(tmp_path / "single.py", tensorflow_python, tmp_path, Options(), change)
    assert report.verdict == verdict, (report.reason, report.checks)


DRAWN = (
    HEAD
    + """\
data = rng.rand(64, 6).astype(np.float32)
x = tf.placeholder(tf.float32, [None, 6])
noise = tf.random_normal([3 * batch_size, 4])
hidden = tf.expand_dims(tf.layers.dense(x, 4), 1) + tf.reshape(noise, [batch_size, 3, 4])
loss = tf.reduce_mean(tf.square(tf.layers.dense(hidden, 6) - tf.expand_dims(x, 1)))
"""
    + TAIL.format(fetched="loss, noise", feed="{x: data[begin:end]}")
)


@pytest.mark.tf1
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (("", ""), "passed"),
        (("tf.concat(tower_noise, 0)", "tf.concat([tower_noise[0], -tower_noise[1]], 0)"), "failed fetches"),
    ],
    ids=["right", "other numbers"],
)
def test_numbers_drawn_several_times_for_each_row(
    change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    assert verdict_of(DRAWN, tensorflow_python, tmp_path, Options(), change) == verdict


EVALUATED = (
    HEAD
    + """\
data, masks = rng.rand(64, 5), rng.rand(64) > 0.5
x = tf.placeholder(tf.float32, [None, 5])
m = tf.placeholder(tf.float32, [None])
error = tf.reduce_sum(tf.square(tf.layers.dense(x, 3)), 1)
loss = tf.reduce_sum(error * m) / tf.reduce_sum(m)"""
    + TAIL.format(fetched="loss", feed="{x: data[begin:end], m: masks[begin:end]}")
    + "        print(sess.run(loss, {x: data[begin:end] + 1, m: masks[::-1][begin:end]}))\n"
)


@pytest.mark.tf1
@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (("", ""), "passed"),
        (("sess.run(loss,", "sess.run(tower_loss[0] * num_gpus,"), "failed fetches"),
    ],
    ids=["right", "of the first tower"],
)
def test_a_masked_loss_of_an_evaluation(
    change: tuple[str, str], verdict: str, tensorflow_python: str, tmp_path: Path
) -> None:
    """Towers count by what the mask leaves of their examples, also where nothing trains."""
    assert verdict_of(EVALUATED, tensorflow_python, tmp_path, Options(), change) == verdict
