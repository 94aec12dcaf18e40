"""Values of the towers are kept in a container that is not merged."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG208",
        title="values of the towers are kept in a container that is not merged",
        why="Lists, tuples, named tuples and dicts of tensors that are read after the loop are merged element by "
        "element and put together again, or as a whole where all their tensors have one row for each "
        "example (the states of recurrent cells, for one; lists whose length is not known). Here the "
        "length is not known, and the tensors are of several kinds: a mean beside the rows. What is read "
        "after the loop would be the last tower's part instead of the whole batch. Give each tensor that "
        "is read after the loss a name of its own.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
heads = [(tf.layers.dense(X, 10), tf.reduce_mean(X)) for _ in load_tasks()]
loss = tf.losses.sparse_softmax_cross_entropy(Y, tf.add_n([logits for logits, _ in heads]))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run([train_op, heads], {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
heads = [tf.layers.dense(X, 10) for _ in load_tasks()]
loss = tf.losses.sparse_softmax_cross_entropy(Y, tf.add_n(heads))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
mean = tf.reduce_mean(X)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run([train_op, heads, mean], {X: images, Y: labels})
""",
        references=("docs: TMG104, what is merged and how",),
    ),
)

WORDS = {
    Found.DIFFERENT_ROWS: Words(
        "TMG208",
        "{name} holds tensors with different numbers of rows",
        "give each tensor that is read after the loss a name of its own",
    ),
    Found.FORM_NOT_MERGED: Words(
        "TMG208",
        "{name} holds values of the towers in a form that is not merged",
        "give each tensor that is read after the loss a name of its own",
    ),
    Found.KEYED_BY_GRAPH_NAMES: Words(
        "TMG208",
        "{name} has the graph's names of tensors for keys, and these begin with the tower's scope in each tower",
        "use keys that do not come from the graph, such as the names of the layers",
    ),
}
