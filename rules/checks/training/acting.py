"""Reinforcement learning: the data of a step come from what the model did before."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule
from rules.checks.batches.size_not_found import GOES_ON

RULES = (
    Rule(
        code="TMG311",
        title="the model acts between the training steps",
        why="The examples of a training step come from an environment that reacts to the model's actions. Such a "
        "step is shared among the towers like any other, and acting goes on with the merged results, so the steps "
        "are right. But an environment gives one state at a time whatever the number of GPUs: acting gets no faster, "
        "and where a batch size was found, learning takes N times as many examples for each action. Collect from "
        "several environments at once to give every GPU as much to do, and check that the algorithm tolerates larger "
        "batches.",
        before="""\
import gym
import tensorflow as tf

env = gym.make('CartPole-v0')
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(X, 2)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for episode in range(100):
        state, states, actions = env.reset(), [], []
        for _ in range(200):
            action = sess.run(logits, {X: [state]}).argmax()
            states.append(state)
            actions.append(action)
            state, reward, done, _ = env.step(action)
        sess.run(train_op, {X: states, Y: actions})
""",
        after="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
Y = tf.placeholder(tf.int64, [None])
w = tf.Variable(tf.zeros([784, 10]))
logits = tf.matmul(X, w)
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {X: images, Y: labels})
""",
    ),
)

WORDS = {
    Found.ACTING: Words(
        "TMG311",
        "this training step is fed with the results of the model's own actions" + GOES_ON,
        "collect from several environments at once to give every GPU as much to do",
    ),
    Found.ACTING_SCALED: Words(
        "TMG311",
        "this training step is fed with the results of the model's own actions: it takes N times as many examples as "
        "before for each action",
        "collect from several environments at once to give every GPU as much to do",
    ),
}
