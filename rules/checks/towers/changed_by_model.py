"""The model changes a value that the loop cannot reset."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG231",
        title="the model changes a value that the loop cannot reset",
        why="Building the model changes a value and reads it again, so every tower has to begin with what stood "
        "there before. Where the loop stands, this value has no name: it belongs to another function or to another "
        "file. Keep it in a variable of the function that builds the model or of the module, or hand it over. The "
        "same holds for a function of the model that lists the variables made so far, before all are made.",
        before="""\
import tensorflow as tf

batch_size = 64


def numbered():
    count = 0

    def layer(x, size):
        nonlocal count
        count += 1
        return tf.layers.dense(x, size, name='layer%d' % count)

    return layer


layer = numbered()
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
logits = layer(tf.nn.relu(layer(X, 64)), 10)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])


def layer(x, size, number):
    return tf.layers.dense(x, size, name='layer%d' % number)


logits = layer(tf.nn.relu(layer(X, 64, 1)), 10, 2)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
        references=("docs: TMG131, what is set back",),
    ),
)

WORDS = {
    Found.LISTS_VARIABLES_SO_FAR: Words(
        "TMG231",
        "the model lists the variables made so far and makes more: the second tower would see all",
        "list them after the model, or give the list a name where the model is built",
    ),
    Found.SCOPE_AROUND_REUSED: Words(
        "TMG231",
        "the model sets a scope around the loop to be reused, and each tower has one of its own",
        "call tf.get_variable_scope().reuse_variables() there",
    ),
    Found.SCOPE_REUSED_INSIDE: Words(
        "TMG231",
        "this sets the scope around the model to be reused, and layers behind the loss need that: each tower has a "
        "scope of its own",
        "call it in a statement of its own, beside those that build the model",
    ),
    Found.ITERATOR_READ: Words(
        "TMG231",
        "the model reads the iterator {name} to its end: the second tower would find it empty",
        "make a list of it where it is made: list(...)",
    ),
    Found.GENERATOR_READ: Words(
        "TMG231",
        "the model takes values of the generator {name}: each tower would take the next ones",
        "take them before the model, next({name}), and let the model read their names; feed what is a batch",
    ),
    Found.CELL_COPIED: Words(
        "TMG231",
        "{name} makes a copy of this cell, which only a cell that is not built yet allows: the second tower would fail",
        "make the cell in front of that call, in the same function",
    ),
    Found.CHANGED_AND_READ_AGAIN: Words(
        "TMG231",
        "the model changes {name} and reads it again: each tower would go on from the previous tower's value",
        "keep it in a variable of the function that builds the model",
    ),
    Found.HEADER_BINDS_WHAT_IT_READS: Words(
        "TMG231",
        "{name} is read where this block begins and bound by it, and each tower opens the block again: it would begin "
        "with what the block bound before",
        "bind another name there, and read that in the block: with … as opened",
    ),
    Found.MODULE_CHANGED_AND_READ_AGAIN: Words(
        "TMG231",
        "the model changes {name} of the module {module} and reads it again: each tower would go on from the previous "
        "tower's value",
        "import the module at the top of {file}, where the towers are built: import {module}",
    ),
}
