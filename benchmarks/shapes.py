"""Scripts of the shapes that cost the most to read: long, deep, nested, and calling each other.

Each function gives the text of a script that trains; `lines`, `depth` and `terms` say how much of its shape it has.
"""

from __future__ import annotations

from collections.abc import Callable

from programs import classes, hourglass, two_gans

HEAD = """\
import tensorflow as tf

batch_size = 64
x = tf.placeholder(tf.float32, [None, 32])
y = tf.placeholder(tf.float32, [None, 32])
"""
TAIL = """\
loss = tf.reduce_mean(tf.square(h - y))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, feed_dict={x: xs, y: ys})
"""


def straight(lines: int) -> str:
    """A net of one layer a line, at the top level of the script."""
    layers = max(1, lines - HEAD.count("\n") - TAIL.count("\n") - 1)
    return HEAD + "h = x\n" + "h = tf.layers.dense(h, 32, activation=tf.nn.relu)\n" * layers + TAIL


def nested(lines: int) -> str:
    """The same with the layers in scopes, conditions and loops inside functions that hold functions."""
    part = '''\
def part_{n}(h, wide):
    def block(h, width):
        with tf.variable_scope('block'):
            for i in range(2):
                with tf.variable_scope('turn_%d' % i):
                    h = tf.layers.dense(h, width)
                    if wide:
                        with tf.name_scope('wide'):
                            h = tf.nn.relu(h)
                            h = h * 2.0
                    else:
                        h = tf.nn.tanh(h)
        return h
    with tf.variable_scope('part_{n}'):
        if wide is not None:
            h = block(h, 32)
    return h


'''
    call = "h = part_{n}(h, wide)\n"
    parts = max(1, round((lines - 20) / (part.count("\n") + 1)))
    functions = "".join(part.format(n=n) for n in range(parts))
    calls = "".join(call.format(n=n) for n in range(parts))
    head = HEAD.replace("batch_size = 64\n", "batch_size = 64\nwide = len(__import__('sys').argv) > 1\n")
    head = head.replace("import tensorflow as tf\n\n", "import tensorflow as tf\n\n\n" + functions)
    return f"{head}h = x\n{calls}{TAIL}"


def residual(blocks: int) -> str:
    """A segmentation net of residual blocks that functions build: batch norm, skip connections, nested scopes."""
    stages = "".join(
        f"        h = stage(h, {64 * 2 ** min(3, 40 * n // blocks)}, {min(10, blocks - n)}, 1, 'stage_{n // 10}', "
        "is_training, ends)\n"
        for n in range(0, blocks, 10)
    )
    return f'''\
import tensorflow as tf

batch_size = 4
num_classes = 21
is_training = True
weight_decay = 1e-4


def batch_norm(x, is_training, scope):
    with tf.variable_scope(scope):
        return tf.layers.batch_normalization(x, training=is_training, momentum=0.99)


def conv(x, filters, size, stride, scope, rate=1):
    with tf.variable_scope(scope):
        channels = x.get_shape()[-1]
        kernel = tf.get_variable('kernel', [size, size, channels, filters],
                                 initializer=tf.truncated_normal_initializer(stddev=0.02))
        tf.add_to_collection('decay', tf.nn.l2_loss(kernel))
        if rate > 1:
            return tf.nn.atrous_conv2d(x, kernel, rate, padding='SAME')
        return tf.nn.conv2d(x, kernel, [1, stride, stride, 1], padding='SAME')


def bottleneck(x, filters, stride, scope, is_training, rate=1):
    with tf.variable_scope(scope):
        with tf.variable_scope('branch1'):
            if stride != 1 or x.get_shape()[-1] != 4 * filters:
                shortcut = conv(x, 4 * filters, 1, stride, 'shortcut')
                shortcut = batch_norm(shortcut, is_training, 'bn')
            else:
                shortcut = x
        with tf.variable_scope('branch2'):
            h = conv(x, filters, 1, stride, 'a')
            h = tf.nn.relu(batch_norm(h, is_training, 'bn_a'))
            h = conv(h, filters, 3, 1, 'b', rate)
            h = tf.nn.relu(batch_norm(h, is_training, 'bn_b'))
            h = conv(h, 4 * filters, 1, 1, 'c')
            h = batch_norm(h, is_training, 'bn_c')
        return tf.nn.relu(h + shortcut)


def stage(x, filters, blocks, stride, scope, is_training, ends):
    with tf.variable_scope(scope):
        for i in range(blocks):
            x = bottleneck(x, filters, stride if i == 0 else 1, 'unit_%d' % i, is_training)
            ends['%s/unit_%d' % (scope, i)] = x
    return x


def inference(images, is_training):
    ends = {{}}
    with tf.variable_scope('net'):
        h = conv(images, 64, 7, 2, 'conv1')
        h = tf.nn.relu(batch_norm(h, is_training, 'bn1'))
        h = tf.nn.max_pool(h, [1, 3, 3, 1], [1, 2, 2, 1], 'SAME')
{stages}        h = conv(h, num_classes, 1, 1, 'score')
        h = tf.image.resize_bilinear(h, tf.shape(images)[1:3])
    return h, ends


images = tf.placeholder(tf.float32, [None, 256, 256, 3])
labels = tf.placeholder(tf.int32, [None, 256, 256])
logits, ends = inference(images, is_training)
prediction = tf.argmax(logits, 3)
entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
decay = weight_decay * tf.add_n(tf.get_collection('decay'))
loss = tf.reduce_mean(entropy) + decay
update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
with tf.control_dependencies(update_ops):
    train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
correct = tf.reduce_mean(tf.cast(tf.equal(tf.cast(prediction, tf.int32), labels), tf.float32))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1000):
        xs, ys = next_batch(batch_size)
        _, value, accuracy = sess.run([train_op, loss, correct], feed_dict={{images: xs, labels: ys}})
        print(step, value, accuracy)
'''


def loops(depth: int) -> str:
    """`for` loops inside each other that build nothing, and such that do, in front of the training loop."""
    lines = ["h = x", "total = 0"]
    lines += ["    " * at + f"for i_{at} in range(3):" for at in range(depth)]
    lines += ["    " * depth + "total += 1"]
    lines += ["    " * at + f"for j_{at} in range(2):" for at in range(depth)]
    lines += ["    " * depth + "h = tf.layers.dense(h, 32)"]
    return HEAD + "\n".join(lines) + "\n" + TAIL


def training_loops(depth: int) -> str:
    """Loops inside each other around the run of a step."""
    head, run = TAIL.split("    for step in range(100):\n")
    lines = ["    " * (at + 1) + f"for s_{at} in range(3):" for at in range(depth)]
    body = "\n".join("    " * (depth - 1) + line for line in run.splitlines())
    return HEAD + "h = tf.layers.dense(x, 32)\n" + head + "\n".join(lines) + "\n" + body + "\n"


def mutual(functions: int) -> str:
    """Functions that call each other in loops."""
    made = "".join(
        f"def f_{n}(a, k):\n    for i in range(3):\n"
        + "".join(f"        a = f_{m}(a, k - 1)\n" for m in range(functions) if m != n)
        + "    return a\n\n\n"
        for n in range(functions)
    )
    head = HEAD.replace("import tensorflow as tf\n\n", "import tensorflow as tf\n\n\n" + made)
    return head + "offset = f_0(1, 3)\nh = tf.layers.dense(x, 32)\n" + TAIL


def twice(functions: int) -> str:
    """Functions that call the next one twice and build nothing."""
    return _twice(functions, "    return a + 1\n", "offset = f_0(1)\nh = tf.layers.dense(x, 32)\n")


def twice_built(functions: int) -> str:
    """The same, and the last one builds a layer."""
    return _twice(functions, "    return tf.nn.relu(a)\n", "h = f_0(x)\n")


def _twice(functions: int, last: str, use: str) -> str:
    bodies = [f"    return f_{n + 1}(f_{n + 1}(a))\n" for n in range(functions - 1)] + [last]
    made = "".join(f"def f_{n}(a):\n{body}\n\n" for n, body in enumerate(bodies))
    return HEAD.replace("import tensorflow as tf\n\n", "import tensorflow as tf\n\n\n" + made) + use + TAIL


def elifs(terms: int) -> str:
    """A chain of `elif`."""
    chain = "".join(f"elif kind == {n}:\n    width = {n}\n" for n in range(1, terms))
    return HEAD + f"kind = int(input())\nif kind == 0:\n    width = 0\n{chain}else:\n    width = 32\n" + _model("x")


def sums(terms: int) -> str:
    """A sum of many terms in the model."""
    return HEAD + _model("x" + " + x" * (terms - 1))


def methods(terms: int) -> str:
    """A chain of method calls, beside the model and on a tensor."""
    return HEAD + "made = builder" + ".add(1)" * terms + "\n" + _model("x")


def attributes(terms: int) -> str:
    """A chain of attributes."""
    return HEAD + "import config\n" + "made = config" + ".a" * terms + "\n" + _model("x")


def parentheses(terms: int) -> str:
    """Parentheses inside each other."""
    return HEAD + _model("(" * terms + "x" + ")" * terms)


def _model(value: str) -> str:
    return f"h = tf.layers.dense({value}, 32)\n" + TAIL


_ALL = (
    straight,
    nested,
    residual,
    loops,
    training_loops,
    mutual,
    twice,
    twice_built,
    elifs,
    sums,
    methods,
    attributes,
    parentheses,
    classes,
    two_gans,
    hourglass,
)
SHAPES: dict[str, Callable[[int], str]] = {shape.__name__: shape for shape in _ALL}
