"""The border of the tower loop: what goes in under its name, what comes out merged, and what cannot."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG104",
        title="values of the towers that are read after the loop are merged",
        why="After the loop a name means what it meant on one GPU. Tensors with one row for each example "
        "(logits, predictions) are put together in the original order, so that accuracy, summaries and "
        "everything else computed from them has the value for the whole batch. Means over the examples "
        "become the mean weighted by the towers' rows, sums the sum, the loss the weighted mean. A "
        "tensor that had a name in the graph leaves it to the merged one: get_tensor_by_name and "
        "summary tags go on working; where the model asks for a name (`x.op.name`), it is told that on one "
        "GPU. Only what the loss needs is built in the towers; metrics stand "
        "after the loop, as they are written. What only one branch of a condition makes is merged where it was "
        "made. A list stays a list, however long a flag makes it: `[tf.concat(parts, 0) for parts in "
        "zip(*tower_outs)]`.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 10)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=Y), name='loss')
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
accuracy = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(logits, 1), Y)))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        _, value = sess.run([train_op, accuracy], {X: images, Y: labels})
""",
        after="""\
        tower_loss.append(loss * weight)
        tower_logits.append(logits[:rows])
loss = tf.add_n(tower_loss, name='loss')
logits = tf.concat(tower_logits, 0)
accuracy = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(logits, 1), Y)))
""",
        references=("docs: TMG210, what cannot be merged",),
    ),
    Rule(
        code="TMG142",
        title="attributes that the towers set and nothing reads are deleted after the loop",
        why="A model that keeps each of its layers in an attribute would get a concat for each of them. Where no "
        "file of the project reads an attribute after the towers, by its name or by a string, nothing is merged. "
        "The attribute is deleted, so that code which is not seen fails where it reads it, and does not get one "
        "tower's share. Attributes are merged as before where the project reads names that are not written out "
        "(getattr, vars, __dict__), where the object goes to code that is not followed, where its class handles "
        "attributes itself, where the tensor has a name in the graph, where a condition or a loop sets the "
        "attribute, and where other scripts import the model.",
        before="""\
import tensorflow as tf

batch_size = 64


class Net(object):
    def __init__(self, images, labels):
        self.hidden = tf.layers.dense(images, 100, tf.nn.relu)
        self.logits = tf.layers.dense(self.hidden, 10)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=self.logits, labels=labels)
        self.loss = tf.reduce_mean(losses)


X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
net = Net(X, Y)
train_op = tf.train.AdamOptimizer(0.001).minimize(net.loss)
accuracy = tf.reduce_mean(tf.to_float(tf.equal(tf.argmax(net.logits, 1), Y)))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        _, value = sess.run([train_op, accuracy], {X: images, Y: labels})
""",
        after="""\
                tower_loss.append(self.loss * weight)
                tower_logits.append(self.logits[:rows])
        images, labels = images_batch, labels_batch
        self.loss = merge_loss(tower_loss)
        self.logits = tf.concat(tower_logits, 0)
        # each tower has its own, and nothing reads it
        del self.hidden
""",
    ),
    Rule(
        code="TMG116",
        title="values that cannot be merged are computed again after the loop",
        why="The root of a mean, a ratio of two sums or a maximum over the batch cannot be computed from the towers' "
        "own values of it. If such a value is read after the loop, in a summary or by a fetch, the statement that "
        "computes it is repeated there and reads merged values, so that the value is that of the whole batch, as "
        "on one GPU. The same holds for a number of examples that was read off a shard, and for what a run computes "
        "of a single value or example that it feeds to a placeholder without a shape (`sess.run(guess, {x: 5})`). "
        "Only statements that change nothing and draw no random numbers are repeated.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.float32, [None, 1])
prediction = tf.layers.dense(X, 1)
mse = tf.reduce_mean(tf.square(prediction - Y))
rmse = tf.sqrt(mse)
penalty = tf.reduce_mean(tf.nn.relu(prediction - 2.0 * tf.stop_gradient(rmse)))
loss = mse + 0.1 * penalty
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)
tf.summary.scalar('rmse', rmse)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, targets = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: targets})
""",
        after="""\
        rmse = tf.sqrt(mse)
        tower_mse.append(mse * weight)
mse = tf.add_n(tower_mse)
rmse = tf.sqrt(mse)
tf.summary.scalar('rmse', rmse)
""",
        references=("docs: TMG104, what is merged and how", "docs: TMG210, what is refused"),
    ),
)
