"""A classifier of texts: the mean of their words' embeddings goes through two layers."""
import argparse

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

parser = argparse.ArgumentParser()
parser.add_argument('--batch_size', type=int, default=64)
parser.add_argument('--steps', type=int, default=30)
args = parser.parse_args()


class TextClassifier:
    def __init__(self):
        self.words = tf.placeholder(tf.int32, [None, 40], name='words')
        self.labels = tf.placeholder(tf.int64, [None], name='labels')
        table = tf.get_variable('table', [20000, 64])
        self.embedded = tf.nn.embedding_lookup(table, self.words)
        self.mean = tf.reduce_mean(self.embedded, 1)
        self.hidden = tf.nn.relu(tf.matmul(self.mean, tf.get_variable('hidden_w', [64, 256])))
        self.scores = tf.matmul(self.hidden, tf.get_variable('out_w', [256, 20]))
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=self.scores, labels=self.labels)
        self.loss = tf.reduce_mean(losses)
        self.accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(self.scores, 1), self.labels), tf.float32))


model = TextClassifier()
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(model.loss)

rng = np.random.RandomState(1)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(args.steps):
        feed = {model.words: rng.randint(0, 20000, (args.batch_size, 40)),
                model.labels: rng.randint(0, 20, args.batch_size)}
        sess.run([train_op, model.loss], feed_dict=feed)
