"""A run that feeds a value which the model computes: each tower gets its rows of it."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG143",
        title="a run that feeds a value of the model feeds each tower its rows",
        why="An autoencoder generates by a run that feeds its code, which the model computes from the images in "
        "training. After the loop the code's name means the merged value of all towers, and feeding that would "
        "reach none of them: each tower's decoder reads its own. merge_fed keeps the towers' own tensors at the "
        "merged one, and feed_towers gives each its rows of what is fed, with their number, as the inputs by which "
        "rows are counted are not fed then. Any number of rows can be fed where the model takes any. Done for "
        "values with one row for each example, in runs that do not train; others are refused (TMG223).",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
mean, deviation = tf.layers.dense(X, 10), tf.layers.dense(X, 10, tf.exp)
code = mean + deviation * tf.random_normal(tf.shape(mean))
image = tf.layers.dense(code, 784)
divergence = tf.square(mean) + tf.square(deviation) - 2.0 * tf.log(deviation)
loss = tf.reduce_mean(tf.square(image - X)) + tf.reduce_mean(divergence)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_op, {X: next_images(batch_size)})
    generated = sess.run(image, {code: random_codes(5)})
""",
        after="""\
        tower_image.append(image[:rows])
        tower_code.append((code, rows, weight))
image = tf.concat(tower_image, 0)
code = merge_fed(tower_code)
    generated = sess.run(image, feed_towers({code: random_codes(5)}))
""",
        references=("docs: TMG104, values that are merged", "docs: TMG223, other values that are fed"),
    ),
)
