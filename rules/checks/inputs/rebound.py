"""An input or a batch size is read through something that the loop cannot re-bind."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG205",
        title="an input or a batch size is read through something that the loop cannot re-bind",
        why="Inside the loop the name under which the model reads an input stands for the tower's shard. "
        "That works for names, attributes and items that the loop's own block can write. This one is "
        "reached through a container or an object that has no name there, so the model would go on "
        "reading the whole batch, in every tower. Give it a name of its own before the model, or pass "
        "it to the function as an argument. Data that the model reads from arrays must not be read or "
        "changed by Python code between the model's statements, either: that code would see a shard.",
        before="""\
import tensorflow as tf

batch_size = 64
feeds = {'train': {'x': tf.placeholder(tf.float32, [None, 784]), 'y': tf.placeholder(tf.int64, [None])}}
logits = tf.layers.dense(feeds['train']['x'], 10)
loss = tf.losses.sparse_softmax_cross_entropy(feeds['train']['y'], logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {feeds['train']['x']: images, feeds['train']['y']: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
feeds = {'x': tf.placeholder(tf.float32, [None, 784]), 'y': tf.placeholder(tf.int64, [None])}
logits = tf.layers.dense(feeds['x'], 10)
loss = tf.losses.sparse_softmax_cross_entropy(feeds['y'], logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {feeds['x']: images, feeds['y']: labels})
""",
        references=("docs: TMG103, how names are re-bound",),
    ),
)
