"""Batches that nobody feeds: noise that is drawn in the graph, as many rows as the batch has."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG134",
        title="each tower draws its own rows of noise",
        why="A generator's loss often depends on no input at all: its examples are drawn in the graph, by a "
        "random operation with the batch size in its shape. Inside the loop the batch size counts one "
        "tower's rows, so that each tower draws its own and no noise goes between devices. How many rows "
        "a tower draws, and so its weight in the mean, follows from the batch size and not from what is "
        "fed: the generator can be trained in a step of its own that feeds nothing. A tower without a "
        "row draws one, with weight 0.",
        before="""\
import tensorflow as tf

batch_size = 64
X = tf.placeholder(tf.float32, [None, 784])
fake = tf.layers.dense(tf.random_normal([batch_size, 100]), 784, name='generator')
real_score = tf.layers.dense(X, 1, name='critic')
fake_score = tf.layers.dense(fake, 1, name='critic', reuse=True)
critic_loss = tf.reduce_mean(fake_score) - tf.reduce_mean(real_score)
generator_loss = -tf.reduce_mean(fake_score)
critic_vars = [v for v in tf.trainable_variables() if 'critic' in v.name]
generator_vars = [v for v in tf.trainable_variables() if 'generator' in v.name]
train_critic = tf.train.AdamOptimizer(0.001).minimize(critic_loss, var_list=critic_vars)
train_generator = tf.train.AdamOptimizer(0.001).minimize(generator_loss, var_list=generator_vars)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        sess.run(train_critic, {X: next_images(batch_size)})
        sess.run(train_generator)
""",
        after="""\
batch_size = 64 * num_gpus
X_batch, global_batch_size = X, batch_size
for gpu in range(num_gpus):
        (X,), rows, weight = shard([X_batch], gpu)
        batch_size = shard_size(global_batch_size, gpu)
        rows_drawn, weight_drawn = shard_drawn(global_batch_size, gpu)
        fake = tf.layers.dense(tf.random_normal([batch_size, 100]), 784, name='generator')
        tower_critic_loss.append(critic_loss * weight)
        tower_generator_loss.append(generator_loss * weight_drawn)
""",
        references=("tf.random_normal, tf.random_uniform, tf.truncated_normal (all versions)",),
    ),
)
