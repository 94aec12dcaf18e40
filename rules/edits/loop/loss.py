"""tf.losses and the collections that losses are kept in."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG107",
        title="each tower sees only what it adds to the collections itself",
        why="Losses (tf.losses.*, tf.add_to_collection), update ops and summaries are kept in collections "
        "of the graph. Every tower adds its own, so the second tower's tf.losses.get_total_loss() would "
        "count the first one's loss again, the third both: gradients would no longer be an average. "
        "Each tower starts from what the collections held before the loop, and after the loop they hold "
        "what the first tower put there: as many losses, summaries and update ops as on one GPU. Losses that "
        "the script reads there after the loop are merged first, under the names that they have on one GPU. "
        "Collections that grow only when a variable is made (variables, regularisation losses) are the "
        "same for all towers, so weight decay counts once.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
tf.losses.sparse_softmax_cross_entropy(labels=Y, logits=logits)
loss = tf.losses.get_total_loss()
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
class TowerCollections(object):
tower_collections = TowerCollections()
for gpu in range(num_gpus):
            tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0), \\
            tower_collections.tower(gpu):
        tf.losses.sparse_softmax_cross_entropy(labels=Y, logits=logits)
        loss = tf.losses.get_total_loss()
""",
        references=(
            "tf.losses.get_total_loss: the losses of tf.GraphKeys.LOSSES and REGULARIZATION_LOSSES "
            "(tensorflow/python/ops/losses/util.py, 1.15)",
        ),
    ),
)
