"""Scripts of which a conversion was wrong once; each is converted rightly now, or refused."""

from __future__ import annotations

import textwrap

HEAD = """\
import tensorflow as tf
batch_size = 16
x = tf.placeholder(tf.float32, [None, 12])
y = tf.placeholder(tf.float32, [None, 1])
"""
TAIL = """\
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(len(data) // batch_size):
        sess.run(train_op, {x: data[i * batch_size:(i + 1) * batch_size], y: labels[i * batch_size:(i + 1) * batch_size]})
    MORE
"""  # noqa: E501


def script(model: str, more: str = "pass", head: str = HEAD, tail: str = TAIL) -> str:
    return head + textwrap.dedent(model).lstrip("\n") + tail.replace("MORE", more)


SCRIPTS: dict[str, str] = {}


def case(name: str, text: str) -> None:
    SCRIPTS[name] = text


case(
    "numbered layer in front",
    script(
        """
    h = tf.layers.dense(x, 3)
    side = tf.layers.dense(tf.ones([2, 5]), 4)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - y))
    """,
        "print(sess.run(side))",
    ),
)
case(
    "numbered layer behind",
    script(
        """
    h = tf.layers.dense(x, 3)
    side = tf.layers.dense(h, 4)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - y))
    """,
        "print(sess.run(side, {x: data}))",
    ),
)
case(
    "decoder made behind reuse",
    script(
        """
    z_in = tf.placeholder(tf.float32, [None, 3])
    mean = tf.layers.dense(x, 3, name='mean')
    with tf.variable_scope('decoder'):
        side = tf.layers.dense(z_in, 12, name='out')
    with tf.variable_scope('decoder', reuse=True):
        out = tf.layers.dense(mean, 12, name='out')
    loss = tf.reduce_mean(tf.square(out - x)) + tf.reduce_mean(y)
    """,
        "print(sess.run(side, {z_in: codes}))",
    ),
)
case(
    "side merged as if cut",
    script(
        """
    z_in = tf.placeholder(tf.float32, [None, 3])
    def decoder(z, reuse=None):
        with tf.variable_scope('decoder', reuse=reuse):
            return tf.layers.dense(z, 12, name='out')
    mean = tf.layers.dense(x, 3, name='mean')
    side = decoder(z_in)
    out = decoder(mean, reuse=True)
    loss = tf.reduce_mean(tf.square(out - x)) + tf.reduce_mean(y)
    """,
        "print(sess.run(side, {z_in: codes}))",
    ),
)
case(
    "collection of rows",
    script(
        """
    h = tf.layers.dense(x, 3)
    tf.add_to_collection('rows', h)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - y))
    """,
        "print(sess.run(rows_mean, {x: data}))",
        tail="rows_mean = tf.reduce_mean(tf.get_collection('rows')[0])\n" + TAIL,
    ),
)
case(
    "counter",
    script(
        """
    count = [0]
    names = []
    def layer(h, n):
        count[0] += 1
        names.append(n)
        return tf.layers.dense(h, n, name='layer%d' % count[0])
    h = layer(x, 3)
    loss = tf.reduce_mean(tf.square(layer(h, 1) - y))
    """,
        "print(count[0], len(names))",
    ),
)
case(
    "class attribute counter",
    script(
        """
    class Net(object):
        made = 0
        def layer(self, h, n):
            Net.made += 1
            return tf.layers.dense(h, n, name='layer%d' % Net.made)
    net = Net()
    h = net.layer(x, 3)
    loss = tf.reduce_mean(tf.square(net.layer(h, 1) - y))
    """,
        "print(Net.made)",
    ),
)
case(
    "cached attribute",
    script(
        """
    class Net(object):
        out = None
        def build(self):
            if self.out is None:
                self.out = tf.layers.dense(x, 1)
            return self.out
    net = Net()
    loss = tf.reduce_mean(tf.square(net.build() - y))
    """,
        "print(sess.run(net.out, {x: data}))",
    ),
)
case(
    "weight decay list",
    script("""
    decay = []
    def layer(h, n):
        w = tf.get_variable('w%d' % n, [h.get_shape()[1], n])
        decay.append(tf.nn.l2_loss(w))
        return tf.matmul(h, w)
    p = layer(layer(x, 3), 1)
    loss = tf.reduce_mean(tf.square(p - y)) + 0.1 * tf.add_n(decay)
    """),
)
case(
    "weight decay collection",
    script("""
    def layer(h, n):
        w = tf.get_variable('w%d' % n, [h.get_shape()[1], n])
        tf.add_to_collection('losses', tf.nn.l2_loss(w))
        return tf.matmul(h, w)
    p = layer(layer(x, 3), 1)
    tf.add_to_collection('losses', tf.reduce_mean(tf.square(p - y)))
    loss = tf.add_n(tf.get_collection('losses'))
    """),
)
case(
    "summary of loss",
    script(
        """
    p = tf.layers.dense(x, 1)
    with tf.name_scope('loss'):
        loss = tf.reduce_mean(tf.square(p - y))
    with tf.name_scope('summaries'):
        tf.summary.scalar('loss', loss)
        tf.summary.histogram('p', p)
    merged = tf.summary.merge_all()
    """,
        "print(sess.run(merged, {x: data, y: labels}))",
    ),
)
case(
    "accuracy of one tower",
    script(
        """
    p = tf.layers.dense(x, 1)
    hit = tf.equal(tf.round(p), y)
    accuracy = tf.reduce_mean(tf.cast(hit, tf.float32))
    loss = tf.reduce_mean(tf.square(p - y))
    """,
        "print(sess.run(accuracy, {x: data, y: labels}))",
    ),
)
case(
    "two sizes of a class",
    """\
import tensorflow as tf
class Model(object):
    def __init__(self, batch_size, reuse):
        with tf.variable_scope('m', reuse=reuse):
            self.batch_size = batch_size
            self.x = tf.placeholder(tf.float32, [batch_size, 12])
            self.y = tf.placeholder(tf.float32, [batch_size, 1])
            self.loss = tf.reduce_mean(tf.square(tf.layers.dense(self.x, 1, name='d') - self.y))
            self.train_op = tf.train.AdamOptimizer(0.01).minimize(self.loss)
train = Model(16, None)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(len(data) // 16):
        sess.run(train.train_op, {train.x: data[i * 16:(i + 1) * 16], train.y: labels[i * 16:(i + 1) * 16]})
""",
)
case(
    "epoch not followed",
    script(
        """
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
    """,
        tail="""\
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(10):
        for i in range(len(data) // batch_size):
            xs, ys = next_batch(batch_size)
            sess.run(train_op, {x: xs, y: ys})
""",
    ),
)
case(
    "mean of epoch",
    script(
        """
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
    """,
        tail="""\
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
n_batches = int(len(data) / batch_size)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(10):
        total = 0.
        for i in range(n_batches):
            xs, ys = next_batch(batch_size)
            _, c = sess.run([train_op, loss], {x: xs, y: ys})
            total += c / n_batches
        print(total)
""",
    ),
)
case(
    "decay steps",
    script(
        """
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
    step = tf.Variable(0, trainable=False)
    rate = tf.train.exponential_decay(0.1, step, 640 // batch_size, 0.9)
    """,
        tail=TAIL.replace("0.01", "rate").replace("minimize(loss)", "minimize(loss, global_step=step)"),
    ),
)
case(
    "dataset batch",
    """\
import tensorflow as tf
batch_size = 16
data = tf.data.Dataset.from_tensor_slices(arrays).shuffle(100).batch(batch_size).repeat()
x, y = data.make_one_shot_iterator().get_next()
p = tf.layers.dense(x, 1)
loss = tf.reduce_mean(tf.square(p - y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(640 // batch_size):
        sess.run(train_op)
""",
)
case(
    "literal sizes",
    """\
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 12])
y = tf.placeholder(tf.float32, [None, 1])
p = tf.layers.dense(x, 1)
loss = tf.reduce_mean(tf.square(p - y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(10):
        for i in range(len(data) // 64):
            xs, ys = mnist.train.next_batch(64)
            sess.run(train_op, {x: xs, y: ys})
        print(sess.run(loss, {x: test[:64], y: test_y[:64]}))
""",
)
case(
    "static size in model",
    """\
import tensorflow as tf
batch_size = 16
x = tf.placeholder(tf.float32, [batch_size, 12])
y = tf.placeholder(tf.float32, [batch_size, 1])
cell = tf.nn.rnn_cell.GRUCell(8)
state = cell.zero_state(batch_size, tf.float32)
out, last = tf.nn.dynamic_rnn(cell, tf.reshape(x, [batch_size, 4, 3]), initial_state=state)
p = tf.layers.dense(last, 1)
loss = tf.reduce_sum(tf.square(p - y)) / batch_size
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {x: xs, y: ys})
""",
)
case(
    "session config",
    script("""
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
    """),
)
case(
    "clipped",
    script(
        """
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
    opt = tf.train.AdamOptimizer(0.01)
    pairs = opt.compute_gradients(loss)
    pairs = [(tf.clip_by_norm(g, 1.0), v) for g, v in pairs]
    """,
        tail=TAIL.replace("tf.train.AdamOptimizer(0.01).minimize(loss)", "opt.apply_gradients(pairs)"),
    ),
)
case(
    "global step",
    script(
        """
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
    step = tf.Variable(0, trainable=False)
    """,
        tail=TAIL.replace("minimize(loss)", "minimize(loss, global_step=step)"),
    ),
)
case(
    "update ops",
    script(
        """
    h = tf.layers.batch_normalization(tf.layers.dense(x, 4), training=True)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - y))
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    """,
        tail="with tf.control_dependencies(updates):\n    train_op = tf.train.AdamOptimizer(0.01).minimize(loss)\n"
        + TAIL.split("\n", 1)[1],
    ),
)
case(
    "assign op by hand",
    script("""
    mean = tf.get_variable('mean', [12], trainable=False)
    update = tf.assign(mean, 0.9 * mean + 0.1 * tf.reduce_mean(x, 0))
    with tf.control_dependencies([update]):
        h = x - tf.identity(mean)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - y))
    """),
)
case(
    "saver in between",
    script(
        """
    h = tf.layers.dense(x, 3, name='a')
    saver = tf.train.Saver()
    p = tf.layers.dense(h, 1, name='b')
    loss = tf.reduce_mean(tf.square(p - y))
    """,
        "saver.save(sess, 'm')",
    ),
)
case(
    "saver after",
    script(
        """
    h = tf.layers.dense(x, 3, name='a')
    p = tf.layers.dense(h, 1, name='b')
    loss = tf.reduce_mean(tf.square(p - y))
    """,
        "saver.save(sess, 'm')",
        tail="train_op = tf.train.AdamOptimizer(0.01).minimize(loss)\nsaver = tf.train.Saver()\n"
        + TAIL.split("\n", 1)[1],
    ),
)
case(
    "raw variables",
    script("""
    w = tf.Variable(tf.random_normal([12, 1]))
    with tf.name_scope('second'):
        h = tf.matmul(x, w)
        b = tf.Variable(tf.zeros([1]))
    loss = tf.reduce_mean(tf.square(h + b - y))
    """),
)
case(
    "two losses",
    script(
        """
    h = tf.layers.dense(x, 3, name='a')
    other = tf.reduce_mean(tf.abs(tf.layers.dense(h, 1, name='c') - y))
    loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1, name='b') - y))
    second = tf.train.AdamOptimizer(0.1).minimize(other)
    """,
        "sess.run(second, {x: data, y: labels})",
    ),
)
case(
    "seed",
    script("""
    tf.set_random_seed(7)
    h = tf.nn.dropout(tf.layers.dense(x, 3), 0.5, seed=3)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1) - y))
    """),
)
case(
    "fed batch size",
    script(
        """
    n = tf.placeholder(tf.int32, [])
    cell = tf.nn.rnn_cell.GRUCell(8)
    out, last = tf.nn.dynamic_rnn(cell, tf.reshape(x, [-1, 4, 3]), initial_state=cell.zero_state(n, tf.float32))
    loss = tf.reduce_mean(tf.square(tf.layers.dense(last, 1) - y))
    """,
        tail=TAIL.replace("sess.run(train_op, {", "sess.run(train_op, {n: batch_size, "),
    ),
)
case(
    "attribute bound to input",
    """\
import tensorflow as tf
batch_size = 16
class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 12])
        self.y = tf.placeholder(tf.float32, [None, 1])
        self.inputs = self.x
        self.p = tf.layers.dense(self.inputs, 1)
        self.loss = tf.reduce_mean(tf.square(self.p - self.y))
        self.train_op = tf.train.AdamOptimizer(0.01).minimize(self.loss)
net = Net()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(net.train_op, {net.inputs: xs, net.y: ys})
    print(sess.run(net.p, {net.inputs: test}))
""",
)
case(
    "model elsewhere",
    """\
import tensorflow as tf
batch_size = 16
x = tf.placeholder(tf.float32, [None, 12])
y = tf.placeholder(tf.float32, [None, 1])
def net(h, reuse=None):
    with tf.variable_scope('net', reuse=reuse):
        return tf.layers.dense(h, 1, name='d')
p = net(x)
loss = tf.reduce_mean(tf.square(p - y))
z = tf.placeholder(tf.float32, [None, 12])
shown = net(z, True)
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {x: xs, y: ys})
    print(sess.run(shown, {z: test}))
""",
)
case(
    "time major",
    """\
import tensorflow as tf
batch_size = 16
x = tf.placeholder(tf.float32, [None, None, 3])
y = tf.placeholder(tf.float32, [None, 1])
cell = tf.nn.rnn_cell.GRUCell(8)
out, last = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, time_major=True)
loss = tf.reduce_mean(tf.square(tf.layers.dense(last, 1) - y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {x: xs, y: ys})
""",
)
case(
    "loss by turns",
    script("""
    p = tf.layers.dense(x, 3)
    loss = 0.
    for k in range(3):
        loss += tf.reduce_mean(tf.square(p[:, k:k + 1] - y))
    """),
)
case(
    "loss in branch",
    script(
        """
    wide = tf.app.flags.FLAGS.wide
    p = tf.layers.dense(x, 1)
    loss = tf.reduce_mean(tf.square(p - y))
    if wide:
        loss += tf.reduce_mean(tf.abs(p))
    """,
        head="import tensorflow as tf\ntf.app.flags.DEFINE_boolean('wide', False, '')\n" + HEAD.split("\n", 1)[1],
    ),
)
case(
    "attribute of one branch",
    """\
import tensorflow as tf
import argparse
parser = argparse.ArgumentParser()
parser.add_argument('--wide', action='store_true')
args = parser.parse_args()
batch_size = 16
class Net(object):
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 12])
        self.y = tf.placeholder(tf.float32, [None, 1])
        h = tf.layers.dense(self.x, 4)
        if args.wide:
            self.more = tf.layers.dense(h, 1)
        self.p = tf.layers.dense(h, 1)
        self.loss = tf.reduce_mean(tf.square(self.p - self.y))
        if args.wide:
            self.loss += tf.reduce_mean(self.more)
        self.train_op = tf.train.AdamOptimizer(0.01).minimize(self.loss)
net = Net()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(net.train_op, {net.x: xs, net.y: ys})
    if args.wide:
        print(sess.run(net.more, {net.x: test}))
""",
)
case(
    "returned dict",
    script(
        """
    def build(h):
        p = tf.layers.dense(h, 1)
        loss = tf.reduce_mean(tf.square(p - y))
        return {'p': p, 'loss': loss}
    model = build(x)
    loss = model['loss']
    """,
        "print(sess.run(model['p'], {x: test}))",
    ),
)
case(
    "list of layers",
    script(
        """
    layers = [x]
    for n in (4, 3, 1):
        layers.append(tf.layers.dense(layers[-1], n))
    loss = tf.reduce_mean(tf.square(layers[-1] - y))
    """,
        "print(sess.run(layers[1], {x: test}))",
    ),
)
case(
    "name rebound print",
    script("""
    h = tf.layers.dense(x, 3)
    print('h', h.shape)
    h = tf.layers.dense(h, 1)
    loss = tf.reduce_mean(tf.square(h - y))
    """),
)
case(
    "scores",
    script(
        """
    u = tf.layers.dense(x, 3)
    scores = tf.matmul(u, u, transpose_b=True)
    p = tf.layers.dense(u, 1)
    loss = tf.reduce_mean(tf.square(p - y))
    """,
        "print(sess.run(scores, {x: test}))",
    ),
)
case(
    "flag size twice",
    """\
import tensorflow as tf
import argparse
parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default=16)
args = parser.parse_args()
class Config(object):
    pass
config = Config()
config.batch_size = args.batch_size
x = tf.placeholder(tf.float32, [None, 12])
y = tf.placeholder(tf.float32, [None, 1])
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(640 // config.batch_size):
        xs, ys = next_batch(config.batch_size)
        sess.run(train_op, {x: xs, y: ys})
""",
)
case(
    "learning rate of batch",
    script(
        """
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
    """,
        tail=TAIL.replace("0.01", "0.1 * batch_size / 256"),
    ),
)
case(
    "counted examples",
    script(
        """
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1) - y))
    """,
        tail="""\
train_op = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    step = 1
    while step * batch_size < 10000:
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {x: xs, y: ys})
        print('examples', step * batch_size)
        step += 1
""",
    ),
)
case(
    "unnamed layers of a model that is built again",
    script(
        """
    def net(h, reuse):
        with tf.variable_scope('net', reuse=reuse):
            return tf.layers.dense(tf.layers.dense(h, 3), 1)


    loss = tf.reduce_mean(tf.square(net(x, False) - y))
    shown = net(x, True)
    """,
        "print(sess.run(shown, {x: data}))",
    ),
)
case(
    "numbered layer between the model's statements",
    script(
        """
    h = tf.layers.dense(x, 3)
    shown = tf.layers.dense(h, 4)
    loss = tf.reduce_mean(tf.square(tf.layers.dense(h, 1, name='out') - y))
    """,
        "print(sess.run(shown, {x: data}))",
    ),
)
case(
    "lists of a model that is built twice",
    script(
        """
    class Net(object):
        def __init__(self, width):
            self.layers = [tf.zeros([1, 3])]
            for name in ('a', 'b'):
                self.layers.append(tf.layers.dense(x, width, name='%s%d' % (name, width)))
            self.loss = tf.reduce_mean(tf.square(tf.layers.dense(self.layers[-1], 1) - y))
            self.train_op = tf.train.AdamOptimizer(0.01).minimize(self.loss)


    one, two = Net(3), Net(4)
    """,
        "print(sess.run(one.layers, {x: data}))",
        tail=TAIL.split("\n", 1)[1].replace("sess.run(train_op", "sess.run([one.train_op, two.train_op]"),
    ),
)
