"""Values of several kinds of programs, each merged in ways that its conversion does not claim."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.options import Options
from tests.proofs import proof_of

HEAD = """\
import numpy as np
import tensorflow as tf

batch_size = 8
tf.set_random_seed(7)
rng = np.random.RandomState(0)
"""
TAIL = """
optimizer = tf.train.AdamOptimizer(0.01)
train_op = optimizer.minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 64, batch_size):
        end = begin + batch_size
        print(sess.run([train_op, {fetched}], {feed})[1:])
"""
CLASSIFIER = (
    HEAD
    + """\
data, labels = rng.rand(64, 5).astype('float32'), rng.randint(3, size=64)
x = tf.placeholder(tf.float32, [{rows}, 5])
y = tf.placeholder(tf.int64, [{rows}])
h = tf.layers.batch_normalization(tf.layers.dense(x, 6, tf.nn.tanh), training=True)
logits = tf.layers.dense(h, 3)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
loss = tf.reduce_sum(losses) / batch_size
probs = tf.nn.softmax(logits)
right = tf.cast(tf.equal(tf.argmax(probs, 1), y), tf.float32)
accuracy = tf.reduce_sum(right) / batch_size
error = 1.0 - tf.reduce_mean(right)
wrong = (batch_size - tf.reduce_sum(right)) / batch_size
confusion = tf.confusion_matrix(y, tf.argmax(probs, 1), 3)
confidence = tf.reduce_mean(tf.reduce_max(probs, 1))
spread = tf.sqrt(tf.reduce_mean(tf.square(probs - tf.reduce_mean(probs, 0))))"""
    + TAIL.format(
        fetched="loss, accuracy, error, wrong, confusion, confidence, spread",
        feed="{{x: data[begin:end], y: labels[begin:end]}}",
    )
)
LSTM = (
    HEAD
    + """\
data = rng.randint(11, size=(64, 6))
x = tf.placeholder(tf.int32, [batch_size, 5])
y = tf.placeholder(tf.int32, [batch_size, 5])
cell = tf.nn.rnn_cell.BasicLSTMCell(4)
initial = cell.zero_state(batch_size, tf.float32)
inputs = tf.nn.embedding_lookup(tf.get_variable('table', [11, 4]), x)
outputs, final = tf.nn.dynamic_rnn(cell, inputs, initial_state=initial)
logits = tf.layers.dense(tf.reshape(outputs, [-1, 4]), 11)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(y, [-1]), logits=logits)
cost = tf.reduce_sum(losses) / batch_size
loss = cost / 5
perplexity = tf.exp(tf.reduce_mean(losses))
probs = tf.nn.softmax(logits)
hidden = final.h
norm = tf.reduce_sum(tf.square(hidden)) / batch_size
steps = tf.reduce_mean(tf.reshape(losses, [batch_size, 5]), 0)

optimizer = tf.train.GradientDescentOptimizer(0.5)
train_op = optimizer.minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    state = sess.run(initial)
    for begin in range(0, 64, batch_size):
        end = begin + batch_size
        feed = {{x: data[begin:end, :-1], y: data[begin:end, 1:], initial.c: state.c, initial.h: state.h}}
        found = sess.run([final, train_op, cost, perplexity, probs, norm, steps, hidden], feed)
        state = found[0]
        print(found[2:])
"""
)
GAN = (
    HEAD
    + """\
data = rng.rand(64, 4).astype('float32')
x = tf.placeholder(tf.float32, [{rows}, 4])
z = tf.placeholder(tf.float32, [{rows}, 2])


def generator(z):
    with tf.variable_scope('g'):
        return tf.layers.dense(tf.layers.dense(z, 5, tf.nn.tanh), 4)


def discriminator(x, reuse=False):
    with tf.variable_scope('d', reuse=reuse):
        return tf.layers.dense(tf.layers.dense(x, 5, tf.nn.tanh), 1)


fake = generator(z)
real_logits, fake_logits = discriminator(x), discriminator(fake, True)
d_loss = tf.reduce_mean(tf.nn.softplus(-real_logits)) + tf.reduce_mean(tf.nn.softplus(fake_logits))
g_loss = tf.reduce_mean(tf.nn.softplus(-fake_logits))
d_right = tf.reduce_sum(tf.cast(real_logits > 0, tf.float32)) / batch_size
gap = tf.reduce_mean(real_logits) - tf.reduce_mean(fake_logits)
centers = tf.reduce_mean(fake, 0)
moments = tf.reduce_mean(tf.square(fake)) - tf.square(tf.reduce_mean(fake))
d_vars = [v for v in tf.trainable_variables() if v.name.startswith('d/')]
g_vars = [v for v in tf.trainable_variables() if v.name.startswith('g/')]
d_optimizer, g_optimizer = tf.train.AdamOptimizer(0.01), tf.train.AdamOptimizer(0.01)
d_train = d_optimizer.minimize(d_loss, var_list=d_vars)
g_train = g_optimizer.minimize(g_loss, var_list=g_vars)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for begin in range(0, 64, batch_size):
        noise = rng.rand(batch_size, 2)
        feed = {{x: data[begin:begin + batch_size], z: noise}}
        print(sess.run([d_train, d_loss, fake, d_right, gap, centers, moments], feed)[1:])
        print(sess.run([g_train, g_loss, fake], {{z: noise}})[1:])
"""
)
DETECTION = (
    HEAD
    + """\
data = rng.rand(64, 6, 4).astype('float32')
positives = (rng.rand(64, 6) > 0.6).astype('float32')
boxes = rng.rand(64, 6, 4).astype('float32')
x = tf.placeholder(tf.float32, [{rows}, 6, 4])
mask = tf.placeholder(tf.float32, [{rows}, 6])
t = tf.placeholder(tf.float32, [{rows}, 6, 4])
hidden = tf.layers.dense(x, 8, tf.nn.relu)
located = tf.layers.dense(hidden, 4)
scores = tf.squeeze(tf.layers.dense(hidden, 1), 2)
location = tf.reduce_sum(tf.abs(located - t), 2)
box_loss = tf.reduce_sum(location * mask) / tf.maximum(tf.reduce_sum(mask), 1.0)
score_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=mask, logits=scores))
loss = box_loss + score_loss
found = tf.reduce_sum(mask * tf.cast(scores > tf.reduce_mean(scores), tf.float32))
recall = found / tf.reduce_sum(mask)
per_image = tf.reduce_sum(mask, 1)
most = tf.reduce_max(per_image)
best = tf.reduce_max(scores, 1)
mean_box = tf.reduce_mean(located, [0, 1])
worst = tf.reduce_max(location)"""
    + TAIL.format(
        fetched="loss, box_loss, found, recall, per_image, most, best, mean_box, worst",
        feed="{{x: data[begin:end], mask: positives[begin:end], t: boxes[begin:end]}}",
    )
)
EMBEDDING = (
    HEAD
    + """\
data, labels = rng.rand(64, 5).astype('float32'), rng.randint(3, size=64)
x = tf.placeholder(tf.float32, [{rows}, 5])
y = tf.placeholder(tf.int32, [{rows}])
e = tf.nn.l2_normalize(tf.layers.dense(x, 4), 1)
distances = tf.reduce_sum(tf.square(tf.expand_dims(e, 0) - tf.expand_dims(e, 1)), 2)
same = tf.cast(tf.equal(tf.expand_dims(y, 0), tf.expand_dims(y, 1)), tf.float32)
pull = tf.reduce_sum(distances * same) / tf.reduce_sum(same)
push = tf.reduce_sum(tf.nn.relu(1.0 - distances) * (1.0 - same)) / (tf.reduce_sum(1.0 - same) + 1e-6)
loss = pull + push
hardest = tf.reduce_max(distances * same, 1)
near = tf.reduce_mean(hardest)
length = tf.reduce_mean(tf.norm(tf.reduce_mean(e, 0)))
center = tf.reduce_mean(e, 0)"""
    + TAIL.format(
        fetched="loss, pull, push, near, e, length, center",
        feed="{{x: data[begin:end], y: labels[begin:end]}}",
    )
)
RECOMMENDER = (
    HEAD
    + """\
users, items, rates = rng.randint(12, size=64), rng.randint(15, size=64), rng.rand(64).astype('float32')
u = tf.placeholder(tf.int32, [{rows}])
i = tf.placeholder(tf.int32, [{rows}])
r = tf.placeholder(tf.float32, [{rows}])
p = tf.nn.embedding_lookup(tf.get_variable('p', [12, 4]), u)
q = tf.nn.embedding_lookup(tf.get_variable('q', [15, 4]), i)
guess = tf.reduce_sum(p * q, 1)
diff = guess - r
square = tf.reduce_sum(tf.square(diff))
decay = 0.01 * (tf.nn.l2_loss(p) + tf.nn.l2_loss(q)) / batch_size
loss = square / batch_size + decay
rmse = tf.sqrt(tf.reduce_mean(tf.square(diff)))
mae = tf.reduce_sum(tf.abs(diff)) / batch_size
hits = tf.reduce_sum(tf.cast(tf.abs(diff) < 0.4, tf.int32))
bias = tf.reduce_mean(diff)
top = tf.nn.top_k(guess, 3).values"""
    + TAIL.format(
        fetched="loss, square, decay, rmse, mae, hits, bias, top",
        feed="{{u: users[begin:end], i: items[begin:end], r: rates[begin:end]}}",
    )
)
MASKED = (
    HEAD
    + """\
data, lengths_of = rng.randint(1, 9, size=(64, 6)), rng.randint(2, 7, size=64)
x = tf.placeholder(tf.int32, [{rows}, 6])
y = tf.placeholder(tf.int32, [{rows}, 6])
lengths = tf.placeholder(tf.int32, [{rows}])
table = tf.get_variable('table', [10, 5])
logits = tf.layers.dense(tf.nn.embedding_lookup(table, x), 10)
losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
mask = tf.sequence_mask(lengths, 6, tf.float32)
tokens = tf.reduce_sum(mask)
total = tf.reduce_sum(losses * mask)
loss = total / tokens
of_each = tf.reduce_sum(losses * mask, 1) / tf.reduce_sum(mask, 1)
per_sentence = tf.reduce_mean(of_each)
right = tf.cast(tf.equal(tf.cast(tf.argmax(logits, 2), tf.int32), y), tf.float32) * mask
accuracy = tf.reduce_sum(right) / tf.reduce_sum(mask)
longest = tf.reduce_max(lengths)
position = tf.reduce_sum(losses * mask, 0)"""
    + TAIL.format(
        fetched="loss, tokens, total, of_each, per_sentence, accuracy, longest, position",
        feed="{{x: data[begin:end], y: data[begin:end, ::-1], lengths: lengths_of[begin:end]}}",
    )
)

# text of a program, the text of its conversion in front of which something is computed wrongly
UPDATE, GROUPS = "train_op = optimizer.apply", "d_vars = ["
PROGRAMS = {
    "classifier": (CLASSIFIER, UPDATE),
    "lstm": (LSTM, UPDATE),
    "gan": (GAN, GROUPS),
    "detection": (DETECTION, UPDATE),
    "metric": (EMBEDDING, UPDATE),
    "recommender": (RECOMMENDER, UPDATE),
    "masked": (MASKED, UPDATE),
}
WRONG = [
    ("classifier", "accuracy = accuracy * num_gpus"),
    ("classifier", "accuracy = accuracy / num_gpus"),
    ("classifier", "accuracy = tf.reduce_sum(right) / (batch_size // num_gpus)"),
    ("classifier", "error = 1.0 - num_gpus * tf.reduce_mean(right)"),
    ("classifier", "error = num_gpus * error"),
    ("classifier", "error = tf.add_n([1.0 - tf.reduce_sum(one) / batch_size for one in tf.split(right, num_gpus)])"),
    ("classifier", "wrong = wrong * num_gpus"),
    ("classifier", "wrong = (batch_size // num_gpus - tf.reduce_sum(right)) / batch_size"),
    ("classifier", "wrong = (batch_size - tf.reduce_sum(right)) / (batch_size // num_gpus)"),
    ("classifier", "confusion = confusion // num_gpus"),
    ("classifier", "confusion = tf.transpose(confusion)"),
    ("classifier", "confusion = tf.confusion_matrix(y[:8], tf.argmax(probs, 1)[:8], 3)"),
    ("classifier", "confidence = tf.reduce_max(tf.reduce_mean(probs, 1))"),
    ("classifier", "confidence = tf.reduce_max(probs)"),
    ("classifier", "confidence = confidence * num_gpus"),
    (
        "classifier",
        "spread = tf.add_n([tf.sqrt(tf.reduce_mean(tf.square(one - tf.reduce_mean(one, 0)))) for one in "
        "tf.split(probs, num_gpus)]) / num_gpus",
    ),
    (
        "classifier",
        "spread = tf.sqrt(tf.add_n([tf.reduce_mean(tf.square(one - tf.reduce_mean(one, 0))) for one in "
        "tf.split(probs, num_gpus)]) / num_gpus)",
    ),
    (
        "classifier",
        "spread = tf.add_n([tf.sqrt(tf.reduce_mean(tf.square(one - tf.reduce_mean(one, 0)))) for one in "
        "tf.split(probs, num_gpus)])",
    ),
    ("classifier", "loss = tf.add_n(tower_loss) * num_gpus"),
    ("classifier", "loss = tf.add_n([one for one in tower_loss] + [tower_loss[0]])"),
    ("lstm", "cost = cost * num_gpus"),
    ("lstm", "cost = cost / num_gpus"),
    ("lstm", "perplexity = tf.exp(loss / num_gpus)"),
    ("lstm", "perplexity = tf.add_n([tf.exp(one * num_gpus) for one in tower_loss])"),
    ("lstm", "probs = tf.concat(tf.split(probs, num_gpus)[::-1], 0)"),
    ("lstm", "probs = tf.reshape(tf.transpose(tf.reshape(probs, [batch_size, 5, 11]), [1, 0, 2]), [-1, 11])"),
    ("lstm", "norm = norm * num_gpus"),
    ("lstm", "norm = norm / num_gpus"),
    ("lstm", "steps = steps * num_gpus"),
    ("lstm", "steps = tf.reduce_mean(tf.reshape(losses, [5, batch_size]), 1)"),
    ("lstm", "steps = tf.reduce_max(tf.reshape(losses, [batch_size, 5]), 0)"),
    ("lstm", "steps = tf.reduce_mean(tf.reshape(tower_losses[0], [-1, 5]), 0)"),
    ("lstm", "hidden = tf.concat([one.h for one in tower_final[::-1]], 0)"),
    ("lstm", "hidden = tf.concat([tower_final[0].h] * num_gpus, 0)"),
    ("lstm", "final = tf.nn.rnn_cell.LSTMStateTuple(final.c, tf.concat([one.h for one in tower_final[::-1]], 0))"),
    ("lstm", "final = tf.nn.rnn_cell.LSTMStateTuple(final.h, final.c)"),
    ("gan", "d_right = d_right * num_gpus"),
    ("gan", "d_right = d_right / num_gpus"),
    ("gan", "gap = gap * num_gpus"),
    ("gan", "gap = tf.reduce_mean(real_logits) - tf.reduce_mean(tower_fake_logits[0])"),
    ("gan", "gap = tf.reduce_sum(real_logits) - tf.reduce_sum(fake_logits)"),
    ("gan", "centers = centers * num_gpus"),
    ("gan", "centers = tf.reduce_max(fake, 0)"),
    (
        "gan",
        "moments = tf.add_n([tf.reduce_mean(tf.square(one)) - tf.square(tf.reduce_mean(one)) for one in "
        "tower_fake]) / num_gpus",
    ),
    ("gan", "moments = num_gpus * moments"),
    ("gan", "fake = tf.concat(tower_fake[::-1], 0)"),
    ("gan", "d_loss = 2 * d_loss"),
    ("gan", "g_loss = 2 * g_loss"),
    (
        "detection",
        "box_loss = tf.add_n([tf.reduce_sum(a * b) / tf.maximum(tf.reduce_sum(b), 1.0) for a, b in "
        "zip(tower_location, tf.split(mask, num_gpus))]) / num_gpus",
    ),
    ("detection", "box_loss = box_loss * num_gpus"),
    ("detection", "found = found / num_gpus"),
    ("detection", "found = found * num_gpus"),
    (
        "detection",
        "recall = tf.add_n([tf.reduce_sum(b * tf.cast(a > tf.reduce_mean(scores), tf.float32)) / "
        "tf.reduce_sum(b) for a, b in zip(tower_scores, tf.split(mask, num_gpus))]) / num_gpus",
    ),
    ("detection", "recall = recall * num_gpus"),
    (
        "detection",
        "recall = tf.add_n([tf.reduce_sum(b * tf.cast(a > tf.reduce_mean(scores), tf.float32)) / "
        "tf.reduce_sum(b) for a, b in zip(tower_scores, tf.split(mask, num_gpus))])",
    ),
    ("detection", "per_image = tf.reverse(per_image, [0])"),
    ("detection", "most = tf.add_n([tf.reduce_max(one) for one in tf.split(per_image, num_gpus)]) / num_gpus"),
    ("detection", "most = tf.reduce_mean(per_image)"),
    ("detection", "best = tf.reduce_mean(scores, 1)"),
    ("detection", "mean_box = mean_box * num_gpus"),
    ("detection", "mean_box = tf.reduce_max(located, [0, 1])"),
    ("detection", "mean_box = tf.reduce_mean(tower_located[0], [0, 1])"),
    ("detection", "worst = tf.reduce_mean(location)"),
    ("detection", "worst = worst * num_gpus"),
    ("metric", "pull = tf.add_n([tf.reduce_mean(one) for one in tf.split(pull * tf.ones([2]), num_gpus)])"),
    ("metric", "pull = pull * 2"),
    ("metric", "push = push / 2"),
    ("metric", "near = near * num_gpus"),
    (
        "metric",
        "near = tf.add_n([tf.reduce_mean(tf.reduce_max(a * b, 1)) for a, b in [(distances[:batch_size // "
        "num_gpus, :batch_size // num_gpus], same[:batch_size // num_gpus, :batch_size // num_gpus])]])",
    ),
    ("metric", "near = tf.reduce_max(hardest)"),
    ("metric", "e = tf.concat(tower_e[::-1], 0)"),
    ("metric", "length = tf.add_n([tf.norm(tf.reduce_mean(one, 0)) for one in tower_e]) / num_gpus"),
    ("metric", "length = tf.norm(tf.reduce_sum(e, 0))"),
    ("metric", "center = tf.reduce_sum(e, 0)"),
    ("metric", "center = center * num_gpus"),
    ("recommender", "square = square / num_gpus"),
    ("recommender", "square = square * num_gpus"),
    ("recommender", "decay = decay * num_gpus"),
    ("recommender", "decay = decay / num_gpus"),
    ("recommender", "rmse = tf.add_n([tf.sqrt(tf.reduce_mean(tf.square(one))) for one in tower_diff]) / num_gpus"),
    ("recommender", "rmse = rmse * num_gpus"),
    ("recommender", "rmse = tf.sqrt(tf.reduce_sum(tf.square(diff)))"),
    ("recommender", "mae = mae * num_gpus"),
    ("recommender", "mae = tf.reduce_sum(tf.abs(diff)) / (num_gpus * batch_size)"),
    ("recommender", "hits = hits // num_gpus"),
    ("recommender", "bias = bias * num_gpus"),
    ("recommender", "bias = tf.reduce_sum(diff)"),
    ("recommender", "top = tf.nn.top_k(tower_guess[0], 3).values"),
    ("recommender", "top = tf.add_n([tf.nn.top_k(one, 3).values for one in tower_guess]) / num_gpus"),
    ("recommender", "top = tf.concat([tf.nn.top_k(one, 3).values for one in tower_guess], 0)"),
    ("recommender", "top = tf.add_n([tf.nn.top_k(one, 3).values for one in tower_guess])"),
    ("masked", "loss = tf.add_n(tower_loss) * num_gpus"),
    (
        "masked",
        "loss = tf.add_n([tf.reduce_sum(a * b) / tf.reduce_sum(b) for a, b in zip(tower_losses, "
        "tower_mask)]) / num_gpus",
    ),
    ("masked", "tokens = tokens / num_gpus"),
    ("masked", "total = total / num_gpus"),
    ("masked", "total = tf.add_n([tower_total[0]] * num_gpus)"),
    (
        "masked",
        "of_each = tf.concat([tf.reduce_sum(a * b, 1) / tf.reduce_sum(b, 1) for a, b in zip(tower_losses, "
        "tower_mask)][::-1], 0)",
    ),
    ("masked", "per_sentence = tf.reduce_sum(losses * mask) / tf.reduce_sum(mask)"),
    ("masked", "per_sentence = per_sentence * num_gpus"),
    (
        "masked",
        "accuracy = tf.add_n([tf.reduce_sum(a) / tf.reduce_sum(b) for a, b in zip(tf.split(right, num_gpus), "
        "tower_mask)]) / num_gpus",
    ),
    (
        "masked",
        "accuracy = tf.add_n([tf.reduce_sum(a) / tf.reduce_sum(b) for a, b in zip(tf.split(right, num_gpus), "
        "tower_mask)])",
    ),
    ("masked", "accuracy = tf.reduce_mean(right)"),
    ("masked", "longest = tf.reduce_max(lengths[:8])"),
    ("masked", "position = position / num_gpus"),
    ("masked", "position = tf.reduce_mean(losses * mask, 0)"),
]


def verdict(program: str, rows: str, wrong: str, python: str, folder: Path) -> tuple[str, set[str]]:
    """What verify says, and which checks fail, of a conversion in which something is computed wrongly."""
    text, place = PROGRAMS[program]
    (folder / "single.py").write_text(text.format(rows=rows))
    change = (place, f"{wrong}\n{place}") if wrong else ("", "")
    report = proof_of(folder / "single.py", python, folder, Options(line_length=160), change)
    return report.verdict, {check.name for check in report.checks if check.status == "failed"}


@pytest.mark.one_in(14)
@pytest.mark.tf1
@pytest.mark.parametrize("rows", ["batch_size", "None"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_right(program: str, rows: str, tmp_path: Path, tensorflow_python: str) -> None:
    assert verdict(program, rows, "", tensorflow_python, tmp_path) == ("passed", set())


@pytest.mark.one_in(250)
@pytest.mark.tf1
@pytest.mark.parametrize("rows", ["batch_size", "None"])
@pytest.mark.parametrize(("program", "wrong"), WRONG)
def test_wrong(program: str, wrong: str, rows: str, tmp_path: Path, tensorflow_python: str) -> None:
    assert "fetches" in verdict(program, rows, wrong, tensorflow_python, tmp_path)[1]
