"""Where the batch is in the result of an operation, and what was done to its examples: a table.

An outcome reads "free" (no batch in it), "example A" (one entry for each example along axis A), with
"major" or "minor" where each example has several (see `Batch.packed`), "mean", "sum" or "other" for
reductions, "opaque" where nothing is known.
"""

from __future__ import annotations

import ast

import pytest

from converter.analysis import read_facts
from converter.analysis.counts.size_names import named_batch
from converter.analysis.values import Count, Number, Tensor, Value
from converter.options import Options

SCRIPT = """
import numpy as np
import tensorflow as tf
from tensorflow.python.ops import control_flow_ops

batch_size = 8
features, kinds = data.shape[0], len(data)
x = tf.placeholder(tf.float32, [None, 6])
y = tf.placeholder(tf.float32, [None, 1])
v = tf.placeholder(tf.float32, [None])
n = tf.placeholder(tf.int64, [None])
z = tf.placeholder(tf.int64, [None, None])
s = tf.placeholder(tf.float32, [None, 5, 6])
t = tf.placeholder(tf.float32, [5, batch_size, 6])
f = tf.placeholder(tf.float32, [batch_size, 6])
image = tf.placeholder(tf.float32, [None, 28, 28, 3])
k = tf.placeholder(tf.float32)
w = tf.get_variable("w", [6, 4])
q = tf.get_variable("q", [6])
e = tf.get_variable("e", [100, 6])
filters = tf.get_variable("filters", [3, 3, 3, 8])
cell = tf.nn.rnn_cell.GRUCell(4)
array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
many = tf.shape(x)[0]
each, less, cast = lambda i, a: i < many, lambda i, a: tf.less(i, many), lambda i, a: i < tf.cast(many, tf.int32)
half, beyond, beside = lambda i, a: i < many // 2, lambda i, a: i <= many, lambda i, h, a: i < many
numbers = tf.reshape(tf.range(tf.shape(image)[0]), tf.concat([[tf.shape(image)[0]], [1], [1], [1]], 0))
own, added = numbers * tf.ones_like(image), tf.zeros_like(image) + numbers
flat, turned = tf.reshape(image, [tf.size(image)]), tf.reshape(tf.transpose(image, [1, 0, 2, 3]), [-1])
wide = tf.reshape(tf.transpose(tf.layers.dense(s, features), [1, 0, 2]), [-1, features * 2])  # or wider
result = {expression}
"""


def evaluate(expression: str) -> Value:
    tree = ast.parse(SCRIPT.replace("{expression}", expression))
    return read_facts("script.py", tree, Options()).module.locals["result"]


def outcome(expression: str) -> str:
    value = evaluate(expression)
    assert isinstance(value, Tensor), value
    batch = value.batch
    if batch.kind == "example":
        return f"example {batch.axis} {batch.packed}".strip()
    if batch.over is not None:
        return f"{batch.how} over {batch.over.how}"
    return batch.how if batch.kind == "reduced" else batch.kind


def table(text: str) -> list[object]:
    """One case a line: expression and outcome."""
    rows = [[part.strip() for part in line.split(" -> ")] for line in text.strip().splitlines()]
    return [pytest.param(expression, wanted, id=expression) for expression, wanted in rows]


DISTRIBUTIONS = """
tf.distributions.Normal(x, 1.0).sample()                              -> example 0
tf.distributions.Normal(x, 1.0).sample(())                            -> example 0
tf.distributions.Normal(loc=x, scale=q).sample(7)                     -> example 1
tf.distributions.Normal(x, q).sample([2, 3])                          -> example 2
tf.distributions.Normal(q, 1.0).sample(batch_size)                    -> example 0
tf.distributions.Normal(q, 1.0).sample([3, batch_size])               -> example 1
tf.distributions.Normal(q, 1.0).sample(tf.shape(x)[0])                -> example 0
tf.distributions.Normal(q, 1.0).sample(100)                           -> free
tf.distributions.Normal(x, 1.0).sample(tf.shape(x)[0])                -> opaque
tf.distributions.Normal(x, 1.0).sample(anything())                    -> opaque
tf.distributions.Normal(x, 1.0).log_prob(x)                           -> example 0
tf.distributions.Normal(q, 1.0).log_prob(x)                           -> example 0
tf.distributions.Normal(x, 1.0).log_prob(q)                           -> example 0
tf.distributions.Normal(x, 1.0).log_prob(tf.distributions.Normal(x, 1.0).sample(5)) -> example 1
tf.distributions.Normal(x, 1.0).stddev()                              -> example 0
tf.distributions.Normal(x, 1.0).loc                                   -> example 0
tf.distributions.Normal(v, 1.0).log_prob(x)                           -> other
tf.distributions.Normal(q, 1.0).entropy()                             -> free
tf.distributions.Bernoulli(logits=x).probs                            -> example 0
tf.contrib.distributions.Bernoulli(probs=tf.sigmoid(x)).entropy()     -> example 0
tf.distributions.Categorical(logits=x).sample()                       -> example 0
tf.distributions.Categorical(logits=x).sample(3)                      -> example 1
tf.distributions.Categorical(logits=x).log_prob(n)                    -> example 0
tf.distributions.Categorical(logits=s).log_prob(z)                    -> example 0
tf.distributions.Categorical(logits=tf.transpose(x)).sample()         -> opaque
tf.distributions.Categorical(logits=v).entropy()                      -> opaque
tf.contrib.distributions.MultivariateNormalDiag(x, q).log_prob(x)     -> example 0
tf.contrib.distributions.MultivariateNormalDiag(x, q).sample()        -> example 0
tf.contrib.distributions.MultivariateNormalDiag(v, v).log_prob(v)     -> opaque
tf.distributions.Normal(x, 1.0).kl_divergence(tf.distributions.Normal(0.0, 1.0)) -> example 0
tf.distributions.kl_divergence(tf.distributions.Normal(q, 1.0), tf.distributions.Normal(x, 1.0)) -> example 0
tf.distributions.kl_divergence(tf.distributions.Normal(q, 1.0), tf.distributions.Normal(w, 1.0)) -> free
tf.distributions.kl_divergence(tf.distributions.Normal(x, 1.0), anything()) -> opaque
tf.reduce_mean(tf.distributions.Normal(x, 1.0).log_prob(x))           -> mean
tf.matrix_band_part(s, -1, 0)                                         -> example 0
tf.matrix_band_part(x, -1, 0)                                         -> opaque
tf.matrix_band_part(w, -1, 0)                                         -> free
tf.linalg.LinearOperatorLowerTriangular(tf.ones_like(s)).to_dense()   -> example 0
tf.contrib.linalg.LinearOperatorTriL(tf.ones([5, 5])).to_dense()      -> free
tf.contrib.linalg.LinearOperatorTriL(x).to_dense()                    -> opaque
tf.multinomial(x, 3)                                                  -> example 0
tf.random.categorical(x, 1)                                           -> example 0
tf.multinomial(tf.transpose(x), 1)                                    -> opaque
tf.nn.zero_fraction(x)                                                -> mean
tf.nn.zero_fraction(w)                                                -> free
tf.dtypes.cast(x, tf.int32)                                           -> example 0
tf.nn.rnn_cell.LSTMStateTuple(x, 2 * x).h                             -> example 0
"""
ELEMENTWISE = """
w + 1                                                 -> free
x + 1                                                 -> example 0
1 - x                                                 -> example 0
-x                                                    -> example 0
x ** 2                                                -> example 0
x > 0                                                 -> example 0
x * q                                                 -> example 0
q * x                                                 -> example 0
x * k                                                 -> example 0
x + y                                                 -> example 0
x * tf.expand_dims(v, 1)                              -> example 0
x * v[:, None]                                        -> example 0
v * v                                                 -> example 0
v * y                                                 -> other
v - x                                                 -> other
tf.layers.dense(tf.placeholder(tf.float32, [None] + list(data.shape[1:])), 1) - v -> other
tf.square(tf.placeholder(tf.float32, [None] + list(data.shape[1:]))) - v -> example 0
y - tf.transpose(y)                                   -> other
v - tf.squeeze(y, 1)                                  -> example 0
v - tf.squeeze(y)                                     -> example 0
tf.expand_dims(v, 0) - tf.expand_dims(v, 1)           -> other
t + q                                                 -> example 1
t * t                                                 -> example 1
s - t                                                 -> other
s - tf.transpose(t, [1, 0, 2])                        -> example 0
s * tf.expand_dims(x, 1)                              -> example 0
t * x                                                 -> example 1
image * tf.reshape(v, [-1, 1, 1, 1])                  -> example 0
tf.add(x, 1.0)                                        -> example 0
tf.maximum(0.1 * x, x)                                -> example 0
tf.cast(n, tf.float32)                                -> example 0
tf.nn.dropout(x, k)                                   -> example 0
tf.nn.softmax(x)                                      -> example 0
tf.nn.softmax(t)                                      -> example 1
tf.clip_by_value(x, 0, 1)                             -> example 0
tf.where(x > 0, x, -x)                                -> example 0
tf.expand_dims(tf.where(tf.sequence_mask(k * n), s, -s), -2) -> example 0
tf.zeros_like(x)                                      -> example 0
tf.ones_like(w)                                       -> free
tf.equal(tf.argmax(x, 1), n)                          -> example 0
tf.add_n([x, x])                                      -> example 0
tf.add_n([w, w])                                      -> free
sum([x, x])                                           -> example 0
x - tf.reduce_mean(x, 0)                              -> example 0
x / tf.reduce_sum(x, 1, keepdims=True)                -> example 0
x / tf.norm(x, axis=1, keepdims=True)                 -> example 0
x if batch_size > 4 else w                            -> example 0
tf.nn.l2_normalize(x, 1)                              -> example 0
tf.nn.l2_normalize(x, 0)                              -> opaque
tf.nn.l2_normalize(x, tf.range(1, 2))                 -> example 0
tf.nn.l2_normalize(x, tf.range(x.shape.ndims - 1, x.shape.ndims)) -> example 0
tf.nn.l2_normalize(x, tf.range(limit=2, start=1, dtype=tf.int32)) -> example 0
tf.nn.l2_normalize(s, tf.range(1, 3, delta=1))        -> example 0
tf.nn.l2_normalize(t, tf.range(1, 3))                 -> opaque
tf.nn.l2_normalize(x, tf.range(1, tf.rank(x)))        -> example 0
tf.nn.l2_normalize(x, tf.range(2))                    -> opaque
tf.nn.l2_normalize(x, tf.range(start=2))              -> opaque
tf.nn.l2_normalize(x, tf.range(2, delta=2))           -> opaque
tf.nn.l2_normalize(x, tf.range(1, -1, -1))            -> opaque
tf.nn.l2_normalize(x, tf.range(1, tf.rank(k)))        -> opaque
tf.nn.l2_normalize(x, tf.range(1, 3, tf.size(w)))     -> opaque
tf.nn.l2_normalize(x, tf.range(1, 3, 0))              -> opaque
tf.nn.softmax(x, 0)                                   -> opaque
tf.cumsum(x, 1)                                       -> example 0
tf.clip_by_norm(x, 5.0)                               -> opaque
tf.clip_by_norm(x, 5.0, 1)                            -> example 0
tf.clip_by_norm(x, 5.0, axes=[0, 1])                  -> opaque
tf.clip_by_norm(q, 5.0)                               -> free
tf.clip_by_average_norm(x, 5.0)                       -> opaque
tf.cumsum(x)                                          -> opaque
"""

MATRICES = """
tf.matrix_diag_part(s)                                -> example 0
tf.matrix_diag_part(tf.matmul(s, s, transpose_b=True)) -> example 0
tf.linalg.diag_part(t)                                -> opaque
tf.linalg.diag_part(tf.matmul(x, x, transpose_b=True)) -> opaque
tf.matrix_diag_part(x)                                -> opaque
tf.matrix_diag_part(w)                                -> free
tf.matrix_diag(x)                                     -> example 0
tf.linalg.diag(v)                                     -> opaque
tf.linalg.diag(q)                                     -> free
tf.matrix_set_diag(s, tf.ones([5]))                   -> example 0
tf.matrix_set_diag(s, tf.zeros_like(s[:, :, 0]))      -> example 0
tf.matrix_inverse(s)                                  -> example 0
tf.linalg.inv(x)                                      -> opaque
tf.cholesky(s)                                        -> example 0
tf.linalg.logdet(s)                                   -> example 0
tf.trace(s)                                           -> example 0
tf.trace(x)                                           -> opaque
tf.matrix_determinant(tf.transpose(t, [1, 0, 2]))     -> example 0
tf.matrix_solve(s, s)                                 -> example 0
tf.matrix_solve(s, x)                                 -> opaque
tf.linalg.matvec(s, x)                                -> example 0
tf.linalg.matvec(w, x)                                -> example 0
tf.linalg.matvec(x, q)                                -> opaque
tf.self_adjoint_eig(s)[0]                             -> example 0
tf.svd(s, compute_uv=False)                           -> example 0
tf.svd(s)[1]                                          -> example 0
tf.qr(s)[0]                                           -> example 0
tf.linalg.norm(x, axis=1)                             -> example 0
tf.linalg.l2_normalize(x, 1)                          -> example 0
tf.math.l2_normalize(x, 0)                            -> opaque
tf.fft(tf.to_complex64(x))                            -> example 0
tf.signal.rfft(x)                                     -> example 0
tf.signal.rfft(v)                                     -> opaque
tf.fft2d(tf.complex(s, s))                            -> example 0
tf.roll(x, 1, axis=1)                                 -> example 0
tf.roll(x, 1, axis=0)                                 -> opaque
tf.sort(x)                                            -> example 0
tf.sort(v)                                            -> opaque
tf.argsort(x, axis=0)                                 -> opaque
tf.batch_gather(x, z)                                 -> example 0
tf.batch_gather(x, n)                                 -> opaque
tf.transpose(tf.batch_gather(s, z), [1, 0, 2])        -> example 1
tf.expand_dims(tf.batch_gather(image, z), 1) + image  -> other
tf.expand_dims(tf.batch_gather(s, z), 0) + s          -> example 1
tf.nn.max_pool_with_argmax(image, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME')[0] -> example 0
tf.nn.max_pool_with_argmax(image, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME').argmax -> example 0
tf.nn.max_pool_with_argmax(image, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME', include_batch_in_index=True)[0] -> example 0
tf.nn.max_pool_with_argmax(image, [1, 2, 2, 1], [1, 2, 2, 1], 'SAME', include_batch_in_index=True)[1] -> opaque
tf.nn.max_pool1d(s, 2, 2, 'SAME')                     -> example 0
tf.contrib.layers.pool(image, [2, 2], 'AVG', stride=2) -> example 0
tf.contrib.slim.pool(image, [2, 2], 'MAX')            -> example 0
tf.contrib.layers.pool(tf.reduce_mean(image, 0, keepdims=True), 2, 'AVG') -> mean
tf.contrib.layers.pool(tf.reduce_mean(image, 0, keepdims=True), 2, 'MAX') -> other
tf.nn.pool(tf.reduce_mean(image, 0, keepdims=True), [2, 2], pooling_type='AVG', padding='SAME') -> mean
tf.nn.pool(tf.reduce_mean(image, 0, keepdims=True), [2, 2], pooling_type='MAX', padding='SAME') -> other
tf.layers.separable_conv1d(s, 4, 3)                   -> example 0
tf.layers.average_pooling3d(image[..., None], 2, 2)   -> example 0
tf.math.top_k(x, 2)[0]                                -> example 0
tf.math.zero_fraction(x)                              -> mean
tf.math.xlogy(x, y)                                   -> example 0
tf.math.divide_no_nan(tf.reduce_sum(x * y), tf.reduce_sum(y)) -> mean over value
tf.cosh(x) * tf.erfc(y)                               -> example 0
tf.ensure_shape(x, [None, 6])                         -> example 0
tf.nn.log_poisson_loss(x, x)                          -> example 0
tf.strings.to_number(tf.as_string(x))                 -> example 0
tf.where_v2(x > 0, x, q)                              -> example 0
tf.losses.mean_pairwise_squared_error(x, x)           -> sum
"""

REDUCTIONS = """
tf.reduce_mean(w)                                     -> free
tf.reduce_mean(x)                                     -> mean
tf.reduce_mean(x, 0)                                  -> mean
tf.reduce_mean(x, 1)                                  -> example 0
tf.reduce_mean(x, -1)                                 -> example 0
tf.reduce_mean(x, -2)                                 -> mean
tf.reduce_mean(x, [0, 1])                             -> mean
tf.reduce_mean(x, axis=[1])                           -> example 0
tf.reduce_mean(x, reduction_indices=[1])              -> example 0
tf.reduce_mean(x, None)                               -> mean
tf.reduce_mean(x, axis=int(k))                        -> opaque
tf.reduce_mean(image, [1, 2])                         -> example 0
tf.reduce_mean(image, [0, 1, 2])                      -> mean
tf.reduce_mean(image, [-3, -2, -1])                   -> example 0
tf.reduce_mean(s, 1, keepdims=True)                   -> example 0
tf.reduce_mean(t, 0)                                  -> example 0
tf.reduce_mean(t, 0, keepdims=True)                   -> example 1
tf.reduce_mean(t, 1)                                  -> mean
tf.reduce_mean(t, [0, 2])                             -> example 0
tf.reduce_mean(t, -1)                                 -> example 1
tf.reduce_mean(t, -2)                                 -> mean
tf.reduce_sum(x)                                      -> sum
tf.reduce_sum(x, 0)                                   -> sum
tf.reduce_sum(x, 1)                                   -> example 0
tf.reduce_sum(image, range(1, features))              -> example 0
tf.reduce_sum(image, list(range(1, image.shape.ndims))) -> example 0
tf.reduce_sum(image, range(0, features))              -> opaque
tf.reduce_sum(image, range(features, 4))              -> opaque
tf.reduce_sum(image, range(3, features, -1))          -> opaque
tf.reduce_sum(t, range(1, features))                  -> opaque
tf.reduce_sum(t, range(2, features))                  -> example 1
tf.reduce_mean(tf.reduce_sum(x, 1))                   -> mean
tf.reduce_sum(tf.reduce_mean(x, 1))                   -> sum
tf.reduce_sum(tf.reduce_mean(x, 0))                   -> mean
tf.reduce_mean(tf.reduce_sum(x, 0))                   -> sum
tf.reduce_max(tf.reduce_mean(x, 0))                   -> other
tf.reduce_max(x)                                      -> other
tf.reduce_max(x, 1)                                   -> example 0
tf.reduce_max(w)                                      -> free
tf.reduce_prod(x, 0)                                  -> other
tf.reduce_logsumexp(x, 1)                             -> example 0
tf.argmax(x, 1)                                       -> example 0
tf.argmax(x, -1)                                      -> example 0
tf.argmax(x, axis=0)                                  -> other
tf.argmax(x)                                          -> other
tf.argmax(s, 2)                                       -> example 0
tf.argmax(t, 0)                                       -> example 0
tf.nn.l2_loss(x)                                      -> sum
tf.nn.l2_loss(w)                                      -> free
tf.count_nonzero(x)                                   -> sum
tf.norm(x)                                            -> other
tf.norm(x, axis=1)                                    -> example 0
tf.nn.moments(x, [0])[0]                              -> mean
tf.nn.moments(x, [0])[1]                              -> other
tf.nn.moments(x, [1])[1]                              -> example 0
tf.nn.moments(image, [0, 1, 2])[0]                    -> mean
tf.confusion_matrix(n, n)                             -> sum
tf.reduce_mean(tf.concat([x, x], 0))                  -> mean
tf.reduce_sum(tf.reshape(x, [-1]))                    -> sum
tf.reduce_mean(tf.reshape(t, [-1, 6]))                -> mean
"""

LINEAR = """
-tf.reduce_mean(x)                                    -> mean
0.5 * tf.reduce_mean(x)                               -> mean
tf.reduce_mean(x) / 2                                 -> mean
tf.reduce_mean(x) * k                                 -> mean
tf.identity(tf.reduce_mean(x))                        -> mean
control_flow_ops.with_dependencies([tf.assert_greater(x, 0.0)], x) -> example 0
control_flow_ops.with_dependencies([tf.reduce_max(x)], tf.reduce_mean(x)) -> mean
control_flow_ops.with_dependencies([tf.reduce_max(x)], w) -> free
control_flow_ops.with_dependencies([], output_tensor=tf.reduce_max(x)) -> other
tf.reduce_mean(x) + tf.reduce_mean(y)                 -> mean
tf.reduce_mean(x) - 0.1 * tf.reduce_mean(y)           -> mean
tf.reduce_mean(x) + 0.1 * tf.nn.l2_loss(w)            -> mean
tf.add(tf.reduce_mean(x), tf.nn.l2_loss(w))           -> mean
tf.add_n([tf.reduce_mean(x), tf.nn.l2_loss(w)])       -> mean
sum([tf.reduce_mean(x), tf.nn.l2_loss(w)])            -> mean
tf.where(k > 0, tf.reduce_mean(x), 0.0)               -> mean
tf.where(k > 0, tf.reduce_mean(x), tf.reduce_mean(y)) -> mean
tf.where(k > 0, tf.reduce_sum(x), 0.0)                -> sum
tf.where(k > 0, tf.reduce_sum(x), tf.reduce_mean(x))  -> other
tf.where(tf.reduce_mean(x) > 0, tf.reduce_mean(x), 0.0) -> other
tf.where(k > 0, tf.exp(tf.reduce_mean(x)), 0.0)       -> other
tf.reduce_mean(tf.stack([tf.reduce_mean(x), tf.reduce_mean(y)])) -> mean
tf.matmul(tf.reduce_mean(x, 0, keepdims=True), w)     -> mean
tf.cast(tf.reduce_mean(x), tf.float64)                -> mean
0.5 * tf.reduce_sum(x)                                -> sum
tf.reduce_sum(x) / 2                                  -> sum
tf.reduce_sum(x) - tf.reduce_sum(y)                   -> sum
tf.reduce_sum(x) + tf.nn.l2_loss(w)                   -> sum
tf.reduce_sum(x) / tf.to_float(tf.shape(x)[0])        -> mean
tf.reduce_sum(x) / tf.cast(tf.shape(x)[0], tf.float32) -> mean
tf.divide(tf.reduce_sum(x), tf.to_float(tf.shape(x)[0])) -> mean
tf.divide(tf.reduce_sum(x), tf.shape(x)[0])           -> mean
tf.reduce_sum(f) / int(f.get_shape()[0])              -> mean
tf.reduce_sum(x) / tf.to_float(tf.size(x))            -> mean
tf.reduce_mean(x) * tf.to_float(tf.size(x))           -> sum
tf.reduce_mean(x) * tf.cast(tf.shape(x)[0], tf.float32) -> sum
tf.multiply(tf.to_float(tf.shape(x)[0]), tf.reduce_mean(x)) -> sum
tf.reduce_mean(x) * tf.to_float(tf.size(x)) / 4.0     -> sum
tf.reduce_mean(x) * tf.to_float(tf.size(x)) / tf.to_float(tf.size(x)) -> mean
tf.reduce_mean(x) * tf.to_float(tf.size(q))           -> mean
tf.reduce_mean(x) * tf.to_float(tf.shape(x)[1])       -> mean
tf.reduce_mean(x) / tf.to_float(tf.size(x))           -> other
tf.reduce_sum(x) / batch_size                         -> mean
tf.reduce_sum(x) / float(batch_size)                  -> mean
tf.reduce_sum(x) / (2 * batch_size)                   -> mean
tf.reduce_sum(x) * (1.0 / batch_size)                 -> mean
1.0 / batch_size * tf.reduce_sum(x)                   -> mean
tf.reduce_mean(x) / batch_size                        -> mean
tf.reduce_mean(x) + tf.reduce_sum(x)                  -> other
tf.reduce_mean(x) * tf.reduce_mean(y)                 -> other
tf.reduce_mean(x) ** 2                                -> other
tf.square(tf.reduce_mean(x))                          -> other
tf.sqrt(tf.reduce_mean(x))                            -> other
tf.exp(tf.reduce_mean(x))                             -> other
tf.maximum(tf.reduce_mean(x), 0.0)                    -> other
1.0 / tf.reduce_mean(x)                               -> other
tf.reduce_sum(x * y) / tf.reduce_sum(y)               -> mean over value
tf.div(tf.reduce_sum(x), tf.reduce_sum(y))            -> mean over value
tf.reduce_mean(x) / tf.reduce_mean(y)                 -> mean over mean
tf.reduce_sum(x * y) / (tf.reduce_sum(y) + 1e-8)      -> mean over value
tf.reduce_sum(x) / tf.maximum(tf.reduce_sum(y), 1e-6) -> mean over value
tf.reduce_sum(x * y) / (tf.reduce_sum(y) + 1.0)       -> other
tf.reduce_sum(x) / tf.maximum(tf.reduce_sum(y), 1.0)  -> other
tf.reduce_sum(x) / tf.reduce_sum(tf.sigmoid(y))       -> other
tf.reduce_sum(x) / tf.reduce_mean(y)                  -> other
tf.reduce_mean(tf.boolean_mask(x, v > 0))             -> mean over rows
tf.reduce_sum(tf.boolean_mask(x, v > 0))              -> sum
0.5 * tf.sqrt(tf.reduce_mean(x))                      -> other
tf.reduce_mean(x) + tf.sqrt(tf.reduce_mean(y))        -> other
"""

RESHAPE = """
tf.reshape(w, [-1])                                   -> free
tf.reshape(x, [-1, 6])                                -> example 0
tf.reshape(x, (-1, 3, 2))                             -> example 0
tf.reshape(x, [-1, 1, 6])                             -> example 0
tf.reshape(image, [-1, 28 * 28 * 3])                  -> example 0
tf.reshape(image, [-1, 28, 84])                       -> example 0
tf.reshape(v, [-1])                                   -> example 0
tf.reshape(v, [-1, 1])                                -> example 0
tf.reshape(y, [-1])                                   -> example 0
tf.reshape(x, [batch_size, 6])                        -> example 0
tf.reshape(x, [batch_size, -1])                       -> example 0
tf.reshape(x, [tf.shape(x)[0], 6])                    -> example 0
tf.reshape(x, [tf.shape(x)[0], -1])                   -> example 0
tf.reshape(x, tf.shape(x))                            -> example 0
tf.reshape(x, tf.stack([tf.shape(x)[0], 6]))          -> example 0
tf.reshape(s, [-1, tf.shape(s)[1], 6])                -> example 0
tf.reshape(f, [f.get_shape()[0], -1])                 -> example 0
tf.reshape(image, [-1, int(image.shape[1]) * 28 * 3]) -> example 0
tf.reshape(x, [-1])                                   -> example 0 major
tf.reshape(x, [-1, 1])                                -> example 0 major
tf.reshape(x, [-1, 2])                                -> example 0 major
tf.reshape(s, [-1, 6])                                -> example 0 major
tf.reshape(s, [batch_size * 5, 6])                    -> example 0 major
tf.reshape(x, [tf.shape(x)[0] * 2, 3])                -> example 0 major
tf.reshape(tf.layers.dense(tf.reshape(x, [1, -1, 6]), 2), [1 * tf.shape(x)[0], features]) -> example 0
tf.reshape(tf.layers.dense(tf.reshape(x, [1, -1, 6]), 2), [3 * tf.shape(x)[0], features]) -> opaque
tf.reshape(tf.reshape(x, [1, -1, 6]), [2 * tf.shape(x)[0], 3]) -> example 0 major
tf.reshape(tf.reshape(x, [2, -1, 3]), [2 * tf.shape(x)[0], 3]) -> opaque
tf.reshape(z, [-1])                                   -> example 0 major
tf.reshape(tf.reshape(s, [-1, 6]), [-1, 5, 6])        -> example 0
tf.reshape(wide, [tf.shape(z)[1], tf.shape(s)[0], 4]) -> example 1
tf.reshape(wide, [tf.shape(s)[0], tf.shape(z)[1], 4]) -> opaque
tf.reshape(wide, [tf.shape(s)[0], tf.shape(s)[0], 4]) -> opaque
tf.reshape(wide, [-1, tf.shape(z)[1], 4]) -> example 0 minor
tf.reshape(tf.reshape(s, [-1, 6]), [batch_size, 5, 6]) -> example 0
tf.reshape(tf.reshape(x, [-1]), [-1, 6])              -> example 0
tf.reshape(tf.matmul(tf.reshape(s, [-1, 6]), w), [-1, 5, 4]) -> example 0
tf.transpose(s, tf.concat([[1, 0], tf.range(2, tf.rank(s))], 0)) -> example 1
tf.transpose(s, tf.concat(([1, 0], tf.range(2, tf.rank(s))), axis=0)) -> example 1
tf.transpose(k * v, tf.concat([[1, 0], tf.range(2, tf.rank(k * v))], 0)) -> opaque
tf.transpose(s, tf.concat([[1, 0], tf.range(2, tf.rank(x))], 0)) -> opaque
tf.transpose(s, tf.concat([[1, 0], tf.range(1, tf.rank(s))], 0)) -> opaque
tf.transpose(s, tf.concat([[2, 0], tf.range(2, tf.rank(s))], 0)) -> opaque
tf.transpose(s, tf.concat([[1, 0], tf.range(2, tf.rank(s), 2)], 0)) -> opaque
tf.compat.v2.where(tf.greater(x, 0.0), x, -1.0)                  -> example 0
tf.compat.v2.where(tf.greater(w, 0.0), w, -1.0)                  -> free
tf.diag(v)                                                       -> opaque
tf.diag(q)                                                       -> free
tf.matrix_diag(v)                                                -> opaque
tf.matrix_diag(x)                                                -> example 0
tf.contrib.framework.nest.pack_sequence_as(x, [s])               -> example 0
tf.contrib.framework.nest.pack_sequence_as((x, w), [t, w])[0]    -> example 1
tf.contrib.framework.nest.pack_sequence_as(4, [s])               -> example 0
tf.contrib.framework.nest.pack_sequence_as((4, 5), [t, w])[0]    -> example 1
tf.contrib.framework.nest.pack_sequence_as((4, 5), [t, w])[1]    -> free
tf.expand_dims(unknown(tf.tile(w, [batch_size, 1])), 1)          -> opaque
tf.expand_dims(unknown(w, batch_size), 1)                        -> free
tf.reshape(tf.transpose(t, [1, 0, 2]), [-1, 6])       -> example 0 major
tf.reshape(t, [-1, 6])                                -> example 0 minor
tf.reshape(tf.reduce_mean(x, 0), [1, -1])             -> mean
tf.reshape(x, [-1, 12])                               -> opaque
tf.reshape(x, [-1, 4])                                -> opaque
tf.reshape(x, [6, -1])                                -> opaque
tf.reshape(x, [1, -1])                                -> example 1 major
tf.reshape(x, k)                                      -> opaque
tf.layers.flatten(image)                              -> example 0
tf.contrib.layers.flatten(s)                          -> example 0
tf.reshape(x, [1, -1, 6])                             -> example 1
tf.reshape(x, [batch_size // 2, -1])                  -> opaque
tf.reshape(tf.layers.dense(x, 16), [-1, 2, batch_size]) -> example 0
tf.reshape(tf.layers.dense(x, 12), [-1, 2, batch_size]) -> opaque
tf.reshape(tf.tile(x, [3, 1]), [3, -1, 6])            -> example 1
tf.random_shuffle(w)                                  -> free
tf.random_shuffle(t)                                  -> example 1
tf.transpose(tf.random_shuffle(tf.transpose(x)))      -> example 0
tf.transpose(tf.random_shuffle(tf.transpose(x)))[:, :2] -> example 0
tf.reshape(tf.tile(x, [3, 1]), [3, -1, 6])[0]         -> example 0
tf.reshape(tf.tile(x, [3, 1]), [-1, 3, 6])            -> opaque
tf.reshape(tf.tile(x, [6, 1]), [3, -1, 6])            -> example 1 minor
tf.reshape(tf.tile(x, [3, 1]), [batch_size, -1])      -> opaque
tf.transpose(tf.reshape(tf.tile(x, [3, 1]), [3, -1, 6]), [1, 0, 2]) -> example 0
tf.reshape(tf.concat([x, x], 0), [2, -1, 6])[1]       -> example 0
tf.reshape(tf.concat([x, x], 0), [2, batch_size, 6])[1] -> example 0
tf.reshape(tf.concat([x, x, x], 0), [2, -1, 6])       -> opaque
tf.reshape(tf.stack([x, x]), [-1, 6])                 -> example 0 minor
tf.reshape(tf.stack([x, x], 1), [-1, 6])              -> example 0 major
tf.reshape(tf.tile(tf.expand_dims(x, 1), [1, 4, 1]), [-1, 6]) -> example 0 major
tf.reshape(tf.reshape(tf.tile(tf.expand_dims(x, 1), [1, 4, 1]), [-1, 6]), [-1, 4, 6]) -> example 0
tf.reshape(tf.transpose(s, [1, 0, 2]), [-1, 6])       -> example 0 minor
tf.reshape(tf.transpose(s, [1, 0, 2]), [batch_size, -1]) -> opaque
tf.reshape(tf.reshape(tf.transpose(s, [1, 0, 2]), [-1, 6]), [5, -1, 6]) -> example 1
tf.reshape(tf.reshape(tf.transpose(s, [1, 0, 2]), [-1, 6]), [-1, 5, 6]) -> opaque
tf.reshape(tf.transpose(tf.reshape(s, [-1, 5, 2, 3]), [0, 2, 1, 3]), [-1, 5, 3]) -> example 0 major
tf.reshape(tf.reshape(z, [-1]), [-1, tf.shape(z)[1]]) -> example 0
tf.reshape(tf.reshape(z, [-1]), [-1, tf.shape(s)[1]]) -> example 0 major
tf.reshape(tf.reshape(z, [-1]), tf.shape(z))          -> example 0
tf.reshape(tf.one_hot(tf.reshape(z, [-1]), 7), [-1, tf.shape(z)[1], 7]) -> example 0
tf.reshape(tf.nn.embedding_lookup(e, tf.reshape(z, [-1])), [-1, tf.shape(z)[1], 6]) -> example 0
tf.reshape(tf.layers.dense(tf.reshape(s, [-1, 6]), 7), [-1, 5, 7]) -> example 0
tf.reshape(tf.layers.dense(tf.reshape(s, [-1, 6]), features), [-1, 5, features]) -> example 0 major
tf.reshape(tf.nn.xw_plus_b(tf.reshape(s, [-1, 6]), w, q), [-1, 5, 4]) -> example 0
tf.reshape(tf.tensordot(s, w, [[2], [0]]), [-1, 20])  -> example 0
tf.reshape(tf.tensordot(s, w, 1), [-1, 20])           -> example 0
tf.reshape(tf.contrib.layers.layer_norm(tf.reshape(s, [-1, 6])), [-1, 5, 6]) -> example 0
tf.reshape(tf.reduce_sum(tf.reshape(s, [-1, 6]), 1), [-1, 5]) -> example 0
tf.reshape(s, [-1, 6]) + tf.reshape(tf.transpose(s, [1, 0, 2]), [-1, 6]) -> opaque
tf.tile(x, [2, 1]) + tf.tile(x, [3, 1])               -> opaque
"""

AXES = """
tf.split(tf.reshape(tf.transpose(s[:, ::-1], [1, 0, 2]), [-1, 6]), 5, 0)[0] -> example 0
tf.split(tf.reshape(tf.transpose(s[:, ::-2], [1, 0, 2]), [-1, 6]), 5, 0)[0] -> opaque
s[:, ::-1]                                            -> example 0
s[::-1]                                               -> opaque
tf.transpose(w)                                       -> free
tf.transpose(x)                                       -> example 1
tf.transpose(tf.transpose(x))                         -> example 0
tf.transpose(s, [1, 0, 2])                            -> example 1
tf.transpose(s, [2, 1, 0])                            -> example 2
tf.transpose(t, [1, 0, 2])                            -> example 0
tf.transpose(image, perm=[0, 3, 1, 2])                -> example 0
tf.transpose(tf.reduce_mean(x, 0, keepdims=True))     -> mean
tf.transpose(x, k)                                    -> opaque
tf.matrix_transpose(s)                                -> example 0
tf.matrix_transpose(x)                                -> example 1
tf.expand_dims(x, 0)                                  -> example 1
tf.expand_dims(x, 1)                                  -> example 0
tf.expand_dims(x, -1)                                 -> example 0
tf.expand_dims(x, -3)                                 -> example 1
tf.expand_dims(v, axis=1)                             -> example 0
tf.expand_dims(v, dim=0)                              -> example 1
tf.squeeze(y)                                         -> example 0
tf.squeeze(y, 1)                                      -> example 0
tf.squeeze(y, [-1])                                   -> example 0
tf.squeeze(y, squeeze_dims=[1])                       -> example 0
tf.squeeze(tf.expand_dims(x, 0), 0)                   -> example 0
tf.squeeze(tf.expand_dims(x, 0))                      -> example 0
tf.squeeze(y, 0)                                      -> opaque
x[:]                                                  -> example 0
x[:, 0]                                               -> example 0
x[:, 1:3]                                             -> example 0
x[:, None]                                            -> example 0
x[..., tf.newaxis]                                    -> example 0
x[tf.newaxis]                                         -> example 1
x[None, :, 2]                                         -> example 1
s[:, -1]                                              -> example 0
s[:, -1, :]                                           -> example 0
s[:, ::-1]                                            -> example 0
s[..., 0]                                             -> example 0
t[-1]                                                 -> example 0
t[0, :, 2]                                            -> example 0
t[1:]                                                 -> example 1
image[:, :, :, 0]                                     -> example 0
image[..., 0]                                         -> example 0
w[0]                                                  -> free
x[0]                                                  -> opaque
x[-1]                                                 -> opaque
x[:3]                                                 -> opaque
x[1:]                                                 -> opaque
x[::2]                                                -> opaque
t[:, 0]                                               -> opaque
t[..., 0, :]                                          -> opaque
tf.slice(x, [0, 0], [-1, 2])                          -> example 0
tf.slice(x, [0, 2], [batch_size, 2])                  -> example 0
tf.slice(x, [0, 0], [2, 6])                           -> opaque
tf.slice(x, [1, 0], [-1, 6])                          -> opaque
tf.strided_slice(x, [0, 0], [batch_size, -1], [1, 1]) -> example 0
tf.strided_slice(x, [0, 0], [4, -1], [1, 1])          -> opaque
tf.reverse(x, [1])                                    -> example 0
tf.reverse(x, [0])                                    -> opaque
tf.reverse(t, axis=[0])                               -> example 1
tf.pad(x, [[0, 0], [1, 1]])                           -> example 0
tf.pad(x, [[1, 1], [0, 0]])                           -> opaque
"""

JOINS = """
tf.concat([w, w], 0)                                  -> free
tf.concat([x, y], 1)                                  -> example 0
tf.concat([tf.zeros([0, 6]), x], 0)                   -> example 0
tf.concat([tf.zeros([1, 6]), x], 0)                   -> example 0 minor
tf.concat([x, y], axis=-1)                            -> example 0
tf.concat(1, [x, y])                                  -> example 0
tf.concat([s, tf.expand_dims(x, 1)], 1)               -> example 0
tf.concat([x, tf.zeros([tf.shape(x)[0], 2])], 1)      -> example 0
tf.reduce_sum(tf.concat([s, tf.gather(data, z)], 2), -1) -> example 0
tf.matmul(tf.concat([tf.gather(data, z), s], 2), tf.concat([s, tf.gather(data, z)], 2)) -> example 0
tf.matmul(tf.concat([tf.gather(data, z), tf.gather(data, z)], 2), tf.gather(data, z)) -> opaque
tf.concat([x, tf.zeros([batch_size, 2])], 1)          -> example 0
tf.concat([t, t], 0)                                  -> example 1
tf.concat([x, x], 0)                                  -> example 0 minor
tf.concat([t, t], 1)                                  -> example 1 minor
tf.concat([x, x], -2)                                 -> example 0 minor
tf.concat([tf.reduce_mean(x, 0), tf.reduce_mean(f, 0)], 0) -> mean
tf.layers.dense(tf.concat([x, x], 0), 4)              -> example 0 minor
tf.concat([x, x], 0) * x                              -> opaque
tf.concat([tf.concat([x, y], 0), y], 0)               -> example 0 minor
tf.concat([tf.concat([x, y], 0), y], 0)[batch_size:]  -> example 0 minor
tf.concat([tf.concat([x, y], 0), y], 0) - tf.concat([x, x, y], 0) -> example 0 minor
tf.concat([tf.concat([x, y], 0), y], 0) * x           -> opaque
tf.concat([tf.concat([x, y], 0), y], 0) - tf.concat([x, x], 0) -> opaque
tf.split(tf.concat([tf.concat([x, y], 0), y], 0), 2)[0] -> opaque
tf.concat([tf.concat([x, x], 0), y], 1)               -> opaque
tf.concat([tf.reshape(s, [-1, 6]), x], 0)[:batch_size] -> opaque
tf.reduce_mean(tf.concat([tf.concat([x, y], 0), y], 0)) -> mean
tf.reduce_sum(tf.concat([tf.concat([x, y], 0), y], 0)) -> sum
tf.concat([x, x], 0) - tf.concat([x, x], 0)           -> example 0 minor
tf.stack([x, x])                                      -> example 1
tf.stack([x, x], axis=1)                              -> example 0
tf.stack([v, v], 1)                                   -> example 0
tf.stack([v, v], axis=-1)                             -> example 0
tf.stack(x)                                           -> example 0
tf.stack(tf.map_fn(tf.nn.relu, t))                    -> example 1
tf.stack([w, w])                                      -> free
tf.stack([tf.reduce_mean(x), tf.reduce_mean(y)])      -> mean
tf.stack([tf.reduce_mean(x), 1.0])                    -> mean
tf.stack([tf.reduce_mean(x), tf.reduce_sum(y)])       -> other
tf.reduce_max(tf.stack([tf.reduce_mean(x), tf.reduce_mean(y)])) -> other
tf.reduce_sum([tf.reduce_sum(x), tf.reduce_sum(y)])   -> sum
tf.reduce_mean(tf.norm(x, axis=1, keep_dims=True))    -> mean
tf.pack([v, v])                                       -> example 1
tf.unstack(s, axis=1)[0]                              -> example 0
tf.unstack(x, axis=-1)[0]                             -> example 0
tf.unstack(t)[0]                                      -> example 0
tf.unstack(t, 5, 0)[4]                                -> example 0
tf.unstack(w)[0]                                      -> free
tf.unstack(x)[0]                                      -> opaque
tf.stack(tf.unstack(s, axis=1), 1)                    -> example 0
tf.split(tf.concat([x, x], 0), 2)[0]                  -> example 0
tf.split(tf.tile(x, [4, 1]), 2)[0]                    -> example 0 minor
tf.split(tf.split(tf.tile(x, [4, 1]), 2)[0], 2)[1]    -> example 0
tf.concat([x], 0)                                     -> example 0
tf.concat([x, x], 0)[:batch_size]                     -> example 0
tf.concat([x, x], 0)[batch_size:]                     -> example 0
tf.concat([x, x], 0)[:tf.shape(x)[0]]                 -> example 0
tf.concat([x, x, x], 0)[batch_size:]                  -> example 0 minor
tf.concat([x, x], 0)[:batch_size // 2]                -> opaque
tf.concat([x, x], 0)[:2 * batch_size]                 -> opaque
tf.concat([x, x], 0)[1:batch_size]                    -> opaque
tf.concat([x, x], 0)[:8]                              -> opaque
tf.reshape(s, [-1, 6])[:batch_size]                   -> opaque
tf.slice(tf.concat([x, x], 0), [0, 0], [batch_size, -1]) -> example 0
tf.slice(tf.reshape(s, [-1, 6]), [0, 0], [batch_size, -1]) -> opaque
tf.pad(s, tf.convert_to_tensor([[0, 0], [1, 1], [0, 0]])) -> example 0
tf.pad(s, tf.stack([[0, 0], [1, 1], [0, 0]]))         -> example 0
tf.pad(s, tf.stack([[1, 0], [1, 1], [0, 0]]))         -> opaque
tf.pad(s, tf.convert_to_tensor(anything()))           -> opaque
tf.split(tf.concat([x, x], 0), 3)[0]                  -> opaque
tf.split(tf.tile(x, [2, 1]) * tf.concat([x, x], 0), 2)[0] -> example 0
tf.split(tf.tile(x, [2, 1]), 3)[0]                    -> opaque
tf.concat([x, x], 0) * tf.tile(tf.ones([1, 6]), [2 * tf.shape(x)[0], 1]) -> example 0 minor
tf.concat([s, s], 0) * tf.tile(tf.ones_like(s[0])[None], [tf.shape(tf.concat([s, s], 0))[0], 1, 1]) -> example 0 minor
tf.matmul(tf.concat([s, s], 0), tf.concat(tf.split(s, 2, axis=2), 0), transpose_b=True) -> example 0 minor
tf.concat([s, s], 0) + tf.tile(s, [tf.shape(tf.concat([s, s], 0))[0] // tf.shape(x)[0], 1, 1]) -> example 0 minor
tf.concat([x, x], 0) + tf.tile(x, [tf.shape(tf.concat([s, s], 0))[0] / tf.shape(x)[0], 1]) -> example 0 minor
tf.concat([x, x], 0) + tf.tile(x, [tf.shape(tf.concat([s, s], 0))[-3] // tf.shape(x)[0], 1]) -> example 0 minor
tf.concat([x, x], 0) + tf.tile(x, [tf.shape(tf.concat([s, s, s], 0))[0] // tf.shape(x)[0], 1]) -> opaque
tf.concat([x, x], 0) + tf.tile(x, [tf.shape(tf.concat([s, s], 0))[1] // tf.shape(x)[0], 1]) -> example 0 minor
tf.concat([x, x], 0) + tf.tile(x, [tf.shape(x)[0] // tf.shape(tf.concat([s, s], 0))[0], 1]) -> opaque
tf.tile(x, [tf.shape(tf.concat([s, s], 0))[0] // tf.shape(x)[0], 1]) + x -> opaque
tf.split(tf.tile(x, [tf.shape(tf.concat([s, s], 0))[0] // tf.shape(x)[0], 1]), 2)[0] -> example 0
tf.split(tf.tile(x, [tf.shape(tf.concat([s, s], 0))[0] // tf.shape(x)[0], 1]), 3)[0] -> opaque
x * tf.get_variable("g", x.get_shape()[-1:])          -> example 0
tf.matmul(s, s * tf.get_variable("g", s.get_shape()[-1:]), transpose_b=True) -> example 0
x / np.sqrt(x.get_shape().as_list()[-1])              -> example 0
x / np.sqrt(x.get_shape().as_list()[0])               -> opaque
tf.reduce_max(tf.reduce_sum(tf.sign(z), 1))           -> free
tf.split(x, 2, 1)[0]                                  -> example 0
tf.split(x, 2, axis=-1)[0]                            -> example 0
tf.split(x, [2, 4], axis=1)[1]                        -> example 0
tf.split(1, 2, x)[0]                                  -> example 0
tf.split(t, 5, 0)[0]                                  -> example 1
tf.split(x, 2)[0]                                     -> opaque
tf.split(tf.concat([x, x], 0), 2)[0]                  -> example 0
tf.split(tf.concat([x, x, x], 0), 2)[0]               -> opaque
tf.split(tf.reshape(tf.concat([s, s], 0), [-1, 30]), 2)[0] -> example 0
tf.split(tf.reshape(tf.concat([s, s], 0), [-1, 6, 5]), 2)[1] -> example 0
tf.split(tf.reshape(tf.reshape(tf.concat([s, s], 0), [-1, 30]), [-1, 5, 6]), 2)[0] -> example 0
tf.split(tf.reshape(tf.concat([s, s], 0), [-1, 6]), 2)[0] -> example 0 major
tf.split(tf.reshape(tf.reshape(tf.concat([s, s], 0), [-1, 6]), [-1, 30]), 2)[0] -> example 0
tf.split(tf.reshape(tf.concat([s, s], 0), [-1, features]), 2)[0] -> example 0 major
tf.split(tf.reshape(tf.concat([s, s], 0), [-1, 60]), 2)[0] -> opaque
tf.split(tf.reshape(tf.concat([s, s], 0), [-1, 7]), 2)[0] -> opaque
tf.split(tf.reshape(tf.concat([s, s, s], 0), [-1, 30]), 2)[0] -> opaque
tf.split(tf.reshape(tf.tile(s, [2, 1, 1]), [-1, 6]), 2)[0] -> example 0 major
tf.reshape(tf.concat([s, s], 0), [-1, 30])            -> example 0 minor
tf.split(tf.concat([tf.concat([x, x], 0), x], 0), 2)[0] -> opaque
tf.split(tf.concat([tf.concat([x, x], 0), x], 0), 3)[0] -> example 0
tf.split(tf.concat([tf.concat([x, x], 0), tf.concat([x, x], 0)], 0), 2)[0] -> example 0 minor
tf.split(tf.concat([x, tf.reshape(s, [-1, 6])], 0), 2)[0] -> opaque
tf.split(tf.concat([x, q[tf.newaxis]], 0), 2)[0]      -> opaque
tf.split(tf.concat([tf.reshape(s, [-1, 6]), tf.reshape(s, [-1, 6])], 0), 2)[0] -> example 0 major
tf.split(tf.concat([tf.reshape(s, [-1, 6]), tf.reshape(s, [-1, 3])[:, :2]], 0), 2)[0] -> opaque
tf.split(tf.concat([x, tf.reshape(s, [-1, features])], 0), 2)[0] -> example 0
tf.reshape(tf.concat([x, x], 0), [2 * tf.shape(x)[0], -1]) -> example 0 minor
tf.split(tf.reshape(tf.concat([s, s], 0), [2 * tf.shape(x)[0], 30]), 2)[0] -> example 0
tf.reshape(tf.concat([f, f], 0), [2 * batch_size, 6]) -> example 0 minor
tf.reshape(tf.concat([f, f], 0), [batch_size, 12])    -> opaque
tf.reshape(tf.reshape(s, [-1, 6]), [tf.shape(s)[0], 30]) -> example 0
tf.split(tf.concat([x, x], 0), 2, 1)[0]               -> example 0 minor
tf.tile(w, [2, 2])                                    -> free
tf.tile(x, [1, 3])                                    -> example 0
tf.tile(x, [3, 1])                                    -> example 0 minor
tf.tile(x, k)                                         -> opaque
tf.tile(tf.expand_dims(q, 0), [tf.shape(x)[0], 1])    -> example 0
tf.tile(tf.expand_dims(q, 0), [batch_size, 1])        -> example 0
"""

PRODUCTS = """
tf.matmul(w, w, transpose_b=True)                     -> free
tf.matmul(x, w)                                       -> example 0
x @ w                                                 -> example 0
tf.matmul(w, x, transpose_a=True, transpose_b=True)   -> example 1
tf.matmul(w, tf.transpose(x), transpose_a=True)       -> example 1
tf.matmul(tf.transpose(x), w, transpose_a=True)       -> example 0
tf.transpose(tf.matmul(w, x, True, True))             -> example 0
tf.matmul(tf.reshape(s, [-1, 6]), w)                  -> example 0 major
tf.matmul(tf.reshape(t, [-1, 6]), w)                  -> example 0 minor
tf.matmul(x, x, transpose_b=True)                     -> opaque
tf.matmul(x, tf.transpose(x))                         -> opaque
tf.matmul(x, x, transpose_a=True)                     -> other
tf.matmul(tf.transpose(x), y)                         -> other
tf.matmul(s, s, transpose_b=True)                     -> example 0
tf.matmul(s, tf.transpose(s, [0, 2, 1]))              -> example 0
tf.matmul(t, t, transpose_b=True)                     -> other
tf.nn.xw_plus_b(x, w, w[0])                           -> example 0
tf.tensordot(s, w, 1)                                 -> example 0
tf.tensordot(s, w, [[2], [0]])                        -> example 0
tf.tensordot(x, x, 1)                                 -> opaque
tf.tensordot(x, w, [[0], [0]])                        -> opaque
tf.tensordot(w, s, [[0], [2]])                        -> example 1
tf.tensordot(w, s, [[0], [0]])                        -> opaque
tf.tensordot(t, w, [[0], [1]])                        -> example 0
tf.reshape(tf.tensordot(s, w, [[-1], [0]]), [-1, 20]) -> example 0
tf.tensordot(x, w, axes())                            -> opaque
tf.matmul(tf.tensordot(x, w, 1), tf.transpose(w))     -> example 0
tf.concat([tf.expand_dims(q, 0) for _ in range(batch_size)], 0) -> example 0
tf.concat([tf.expand_dims(q, 1) for _ in range(batch_size)], 1) -> example 1
tf.concat([w for _ in range(batch_size)], 0)          -> example 0 major
tf.stack([q for _ in range(batch_size)])              -> example 0
tf.stack([tf.tanh(q) for _ in range(batch_size)], 1)  -> example 1
tf.stack([tf.zeros([i]) for i in range(batch_size)])  -> free
tf.stack([q * i for i in range(batch_size)])          -> free
tf.stack([tf.get_variable("r", [4]) for _ in range(batch_size)]) -> free
tf.stack([q for _ in range(5)])                       -> free
tf.stack([q for _ in range(batch_size + 1)])          -> free
tf.constant(np.ones([batch_size, 5]) * 0.1)           -> example 0
tf.constant(1 - np.ones([5, batch_size]))             -> free
tf.einsum('ij,jk->ik', x, w)                          -> example 0
tf.einsum('bi,bi->b', x, x)                           -> example 0
tf.einsum('bti,ij->btj', s, w)                        -> example 0
tf.einsum('tbi->bti', t)                              -> example 0
tf.einsum('bi,bj->ij', x, x)                          -> sum
tf.einsum('bti,ti->', s, e[:5])                       -> sum
tf.einsum('bi,ij', x, w)                              -> example 0
tf.einsum('ji,bj', w, x)                              -> example 0
tf.einsum('ib,ij', tf.transpose(x), w)                -> example 0
tf.einsum('zi,ij', x, w)                              -> example 1
tf.einsum('bi,bj', x, x)                              -> sum
tf.einsum('...i,ij->...j', x, w)                      -> example 0
tf.einsum('...i,ij->...j', t, w)                      -> example 1
tf.einsum('...ti,ij->t...j', s, w)                    -> example 1
tf.einsum('...i,ij', s, w)                            -> example 0
tf.einsum('b...,b->...', x, v)                        -> sum
tf.einsum('i...,ij->j...', tf.transpose(x), w)        -> example 1
tf.einsum('b...,bc->...c', x, x)                      -> sum
tf.einsum('...i,...i->...', x, x)                     -> example 0
tf.einsum('...,...->...', x, w)                       -> example 0
tf.einsum(equation(), x, w)                           -> opaque
tf.einsum('bi,ij->bj', x[0:1], w)                     -> opaque
tf.reduce_sum(x / tf.cast(tf.shape(x)[0], tf.float32)) -> mean
tf.reduce_sum(v / tf.to_float(tf.shape(x)[0]))        -> mean
tf.reduce_sum(-2. * v / tf.to_float(tf.shape(x)[0]))  -> mean
tf.reduce_sum(v / tf.to_float(tf.shape(x)[0]) * 3.)   -> mean
tf.reduce_sum(1. / tf.to_float(tf.shape(x)[0]) * v)   -> mean
tf.reduce_sum(v / tf.to_float(tf.shape(x)[0]) + v / tf.to_float(tf.shape(x)[0])) -> mean
tf.reduce_sum(v / tf.to_float(tf.shape(x)[0]) + v)    -> sum
tf.reduce_sum(tf.square(v / tf.to_float(tf.shape(x)[0]))) -> sum
tf.reduce_sum(v / tf.to_float(tf.shape(x)[0]) / tf.to_float(tf.shape(x)[0])) -> sum
tf.reduce_sum(v / tf.to_float(tf.shape(x)[1]))        -> sum
tf.reduce_sum(tf.to_float(tf.shape(x)[0]) / v)        -> sum
tf.reduce_sum(v / 8.)                                 -> sum
tf.reduce_sum(x / tf.to_float(tf.shape(x)[0]), 1)     -> example 0
tf.einsum('bi,ci->bc', x, x)                          -> opaque
"""

LOOKUPS = """
tf.contrib.lookup.index_table_from_tensor(["a", "b"]).lookup(tf.as_string(x)) -> example 0
tf.contrib.lookup.HashTable(pairs(), -1).lookup(tf.transpose(n[:, None])) -> example 1
tf.lookup.StaticHashTable(pairs(), -1).lookup(w)      -> free
tf.lookup.StaticHashTable(pairs(), -1).lookup(tf.reduce_mean(x)) -> other
tf.identity(tf.contrib.lookup.MutableDenseHashTable(pairs(), -1).lookup(n)) -> opaque
tf.nn.embedding_lookup(e, n)                          -> example 0
tf.nn.embedding_lookup(e, z)                          -> example 0
tf.nn.embedding_lookup(e, [1, 2])                     -> free
tf.nn.embedding_lookup(x, n)                          -> opaque
tf.nn.embedding_lookup(x, [0, 2])                     -> opaque
tf.nn.embedding_lookup([e, x], n)                     -> opaque
tf.nn.embedding_lookup(w[0], z) + tf.to_float(z)      -> example 0
tf.nn.embedding_lookup(tf.zeros(unknown().shape[0]), z) + tf.to_float(z) -> example 0
tf.gather(e, n)                                       -> example 0
tf.gather(e, 3)                                       -> free
tf.gather(x, [0, 2], axis=1)                          -> example 0
tf.gather(t, 4)                                       -> example 0
tf.gather(x, [0, 2])                                  -> opaque
tf.gather(x, n)                                       -> opaque
tf.gather_nd(x, z)                                    -> opaque
tf.gather_nd(w, z)                                    -> example 0
tf.gather_nd(w, n[:, None])                           -> example 0
tf.reduce_sum(tf.gather_nd(w, n[:, None]))            -> sum
tf.gather_nd(w, n)                                    -> opaque
tf.gather_nd(w, tf.stack([tf.range(batch_size), n], 1)) -> opaque
tf.gather_nd(w, tf.transpose(n[:, None]))             -> opaque
tf.reshape(tf.slice(s, [0, 1, 0], [-1, 1, -1]), [1, -1, 6]) -> example 1
tf.reshape(tf.slice(s, [0, 1, 1], [-1, 1, -1]), [1, -1, 6]) -> opaque
tf.reshape(tf.concat([tf.reshape(s, [-1, 6]) for _ in range(kinds)], 0), [kinds, -1, 5, 6]) -> example 1
tf.reshape(tf.concat([tf.reshape(s, [-1, 6]) for _ in range(2, kinds)], 0), [kinds, -1, 5, 6]) -> opaque
tf.reshape(tf.concat([tf.reshape(s, [-1, 6]) for _ in range(kinds) if more()], 0), [kinds, -1, 5, 6]) -> opaque
tf.reshape(tf.concat([tf.reshape(s, [-1, 6]) for _ in data], 0), [kinds, -1, 5, 6]) -> opaque
tf.matmul(tf.reshape(s, [-1, 5, 6]), tf.Variable(np.zeros([features, 6, 3]))[0]) -> example 0
tf.reshape(tf.gather(tf.Variable(np.zeros((9, 5, 6))), n), [1, -1, 5, 6]) -> example 1
tf.reshape(tf.gather(tf.Variable(np.zeros((9, 5, 6))), n), [1, -1, 15]) -> example 1 major
tf.one_hot(n, 10)                                     -> example 0
tf.one_hot(z, 10)                                     -> example 0
tf.one_hot(n, 10, axis=0)                             -> example 1
tf.one_hot([1, 2], 10)                                -> free
tf.placeholder(tf.float32, [None, None, 3])           -> example 0
tf.placeholder(tf.float32, [1, None])                 -> free
tf.placeholder(tf.float32, [5, None, None])           -> free
tf.placeholder(tf.float32, [5, 3, None])              -> free
tf.convert_to_tensor(x)                               -> example 0
tf.convert_to_tensor([x, x])                          -> example 1
tf.convert_to_tensor(tf.reduce_mean(x))               -> mean
tf.convert_to_tensor([1.0, 2.0])                      -> free
tf.dynamic_partition(x, n, 2)[1]                      -> example 0 major
tf.dynamic_partition(w, [0, 1, 0, 1, 0, 1], 2)[0]     -> free
tf.dynamic_partition(tf.transpose(x), n, 2)[0]        -> opaque
tf.dynamic_partition(x, n, classes())                 -> opaque
tf.dynamic_stitch([n, n], [x, x])                     -> opaque
tf.segment_sum(x, n)                                  -> opaque
tf.math.segment_mean(w, [0, 0, 1, 1, 2, 2])           -> free
tf.unsorted_segment_sum(x, n, 5)                      -> sum
tf.math.unsorted_segment_sum(x, n, batch_size)        -> opaque
tf.unsorted_segment_sum(tf.transpose(x), n, 5)        -> opaque
tf.unsorted_segment_max(x, n, 5)                      -> opaque
tf.unsorted_segment_sum(w, [0, 1, 0, 1, 0, 1], 2)     -> free
tf.reduce_mean(tf.unsorted_segment_sum(x, n, 5))      -> sum
tf.unique(n)                                          -> opaque
tf.identity_n([x, w])[0]                              -> example 0
tf.identity_n([x, w])[1]                              -> free
tf.keras.layers.Dot(1)([x, x])                        -> example 0
tf.keras.layers.Dot(axes=[2, 1])([s, x])              -> example 0
tf.keras.layers.dot([s, s], -1)                       -> example 0
tf.keras.layers.dot([x, x], -2)                       -> opaque
tf.keras.layers.dot([x, x], axis())                   -> opaque
tf.keras.layers.Dot(1)([x, tf.transpose(x)])          -> opaque
tf.keras.layers.Attention()([s, s])                   -> example 0
tf.keras.layers.AdditiveAttention()([s, s, s])        -> example 0
tf.boolean_mask(x, v > 0)                             -> example 0 major
tf.gather(x, tf.squeeze(tf.where(v > 0), 1))          -> example 0 major
tf.gather(x, tf.cast(tf.reshape(tf.where(v > 0), [-1]), tf.int32)) -> example 0 major
tf.reduce_mean(tf.gather(x, tf.squeeze(tf.where(v > 0), 1))) -> mean over rows
tf.reduce_sum(tf.gather(v, tf.squeeze(tf.where(v > 0), 1))) -> sum
tf.gather(tf.reshape(s, [-1, 6]), tf.squeeze(tf.where(tf.reshape(s[:, :, 0], [-1]) > 0), 1)) -> example 0 major
tf.gather(tf.reshape(s, [-1, 2]), tf.squeeze(tf.where(tf.reshape(s[:, :, 0], [-1]) > 0), 1)) -> opaque
tf.gather(x, tf.squeeze(tf.where(tf.reshape(s[:, :, 0], [-1]) > 0), 1)) -> opaque
tf.gather(tf.concat([x, x], 0), tf.squeeze(tf.where(tf.concat([v, v], 0) > 0), 1)) -> opaque
tf.gather(x, tf.squeeze(tf.where(x > 0), 1))          -> opaque
tf.gather(x, tf.squeeze(tf.where(v > 0), 1) + 1)      -> opaque
tf.gather(x, tf.squeeze(tf.where(v > 0), 1)[:4])      -> opaque
tf.gather(x, tf.tile(tf.squeeze(tf.where(v > 0), 1), [2])) -> opaque
tf.gather(x, tf.squeeze(tf.where(v > 0, n, n), 1))    -> opaque
tf.gather(x, tf.squeeze(tf.where(v > 0), 1), axis=1)  -> opaque
tf.gather_nd(x, tf.where(x > 0))                      -> example 0 major
tf.reduce_mean(tf.gather_nd(s, tf.where(x[:, :5] > 0))) -> mean over rows
tf.gather_nd(t, tf.where(v > 0))                      -> opaque
tf.gather_nd(x, tf.to_int32(tf.where(x > 0)))         -> example 0 major
tf.gather_nd(x, tf.identity(tf.cast(tf.where(x > 0), tf.int32))) -> example 0 major
tf.gather_nd(x, tf.cast(tf.where(x > 0), tf.int32) + 1) -> opaque
tf.gather_nd(x, tf.squeeze(tf.where(v > 0)))          -> opaque
tf.gather_nd(x, tf.reshape(tf.where(x > 0), [-1, 1])) -> opaque
tf.sequence_mask(n, 5)                                -> example 0
tf.sequence_mask([1, 2], 5)                           -> free
tf.nn.in_top_k(x, n, 1)                               -> example 0
tf.nn.top_k(x, 2)[0]                                  -> example 0
tf.nn.top_k(x, k=2, sorted=False).indices             -> example 0
tf.reshape(tf.nn.top_k(s, 2).values, [-1, 10])        -> example 0
tf.nn.top_k(v, 2).values                              -> opaque
tf.concat([x] * unknown(), 1)                         -> example 0
tf.add_n(unknown() * [x])                             -> example 0
tf.py_func(len, [x], tf.float32)                      -> opaque
tf.map_fn(tf.nn.relu, x)                              -> example 0
tf.map_fn(lambda r: tf.reduce_sum(r), x)              -> example 0
tf.map_fn(lambda r: r - tf.reduce_mean(x, 0), x)      -> opaque
tf.map_fn(lambda r: r + 1, tf.transpose(s, [1, 0, 2])) -> example 1
tf.scan(lambda h, r: h + r, tf.transpose(s, [1, 0, 2])) -> example 1
tf.scan(lambda h, r: h + r, x)                        -> opaque
tf.scan(lambda h, r: r * 2, x)                        -> example 0
tf.scan(lambda h, r: r * 2, x, tf.zeros([6]))         -> example 0
tf.scan(lambda h, r: r * 2, tf.reshape(s, [-1, 6]))   -> example 0 major
tf.scan(lambda h, r: r * 2, tf.reshape(t, [-1, 6]))   -> opaque
tf.scan(lambda h, r: r - tf.reduce_mean(x, 0), x)     -> opaque
tf.scan(lambda h, r: r[0] + r[1], (x, q))             -> opaque
tf.foldl(lambda h, r: r * 2, x)                       -> opaque
tf.foldl(lambda h, r: h + r, tf.transpose(s, [1, 0, 2])) -> example 0
tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, h * 2), [0, x])[1] -> example 0
tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, h + tf.reduce_mean(x)), [0, 0.0])[1] -> mean
tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, h * 2), [0, x])[0] -> free
tf.while_loop(less, lambda i, a: (i + 1, a.write(i, x[i] * 2)), [0, array])[1].stack() -> example 0
tf.while_loop(each, lambda i, a: [tf.add(i, 1), a.write(i, x[i, ...])], [0, array])[1].stack() -> example 0
tf.while_loop(cast, lambda i, a: (i + 1, a.write(i, tf.gather(x, i))), [tf.constant(0), array])[1].stack() -> example 0
tf.while_loop(beside, lambda i, h, a: (i + 1, h, a.write(i, h[i])), [0, x, array])[2].stack() -> example 0
tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x[i])), [0, array])[1].stack() -> opaque
tf.while_loop(half, lambda i, a: (i + 1, a.write(i, x[i])), [0, array])[1].stack() -> opaque
tf.while_loop(beyond, lambda i, a: (i + 1, a.write(i, x[i])), [0, array])[1].stack() -> opaque
tf.while_loop(each, lambda i, a: (i + 1, a.write(i, x[i])), [1, array])[1].stack() -> opaque
tf.while_loop(each, lambda i, a: (i + 2, a.write(i, x[i])), [0, array])[1].stack() -> opaque
tf.while_loop(each, lambda i, a: (i + 1, a.write(0, x[i])), [0, array])[1].stack() -> opaque
tf.while_loop(each, lambda i, a: (i + 1, a.write(i, x[0])), [0, array])[1].stack() -> opaque
tf.while_loop(each, lambda i, a: (i + 1, a.write(i, x[i] - x)), [0, array])[1].stack() -> opaque
tf.while_loop(each, lambda i, a: (i + 1, a.write(i, x[i] + a.read(i - 1))), [0, array])[1].stack() -> opaque
tf.while_loop(beside, lambda i, h, a: (i + 1, h + x[i], a.write(i, h)), [0, q, array])[2].stack() -> opaque
tf.while_loop(each, lambda i, a: (i + 1, a.write(i, x[i])), [0, array])[1].read(0) -> opaque
tf.gather_nd(x, tf.stack([tf.range(batch_size), n], 1)) -> example 0
tf.gather_nd(x, tf.stack([tf.range(2 * many), tf.concat([n, n], 0)], 1)) -> opaque
tf.gather_nd(tf.reshape(s, [-1, 6]), tf.stack([tf.range(many), n], 1)) -> opaque
tf.gather_nd(x, tf.stack([tf.range(batch_size), n], -1)) -> example 0
tf.gather_nd(s, tf.stack([tf.tile(tf.expand_dims(tf.range(batch_size), 1), [1, 3]), z], 2)) -> example 0
tf.gather_nd(s, tf.stack([tf.tile(tf.expand_dims(tf.range(batch_size), 1), [1, 3]), z], 1)) -> opaque
tf.gather_nd(x, tf.stack([n, n], 1))                  -> opaque
tf.scatter_nd(tf.stack([tf.range(batch_size), tf.cast(n, tf.int32)], 1), v, [batch_size, 7]) -> example 0
tf.scatter_nd(tf.transpose(tf.reshape(tf.stack([own, image]), [2, tf.size(image)])), flat, [batch_size, 7]) -> example 0
tf.scatter_nd(tf.transpose(tf.reshape(tf.stack([added, image]), [2, -1])), flat, [batch_size, 7]) -> example 0
tf.scatter_nd(tf.reshape(tf.stack([own, image], 4), [-1, 2]), flat, [batch_size, 7]) -> example 0
tf.gather_nd(x, tf.reshape(tf.stack([own, image], 4), [-1, 2])) -> example 0 major
tf.scatter_nd(tf.transpose(tf.reshape(tf.stack([image, image]), [2, -1])), flat, [batch_size, 7]) -> opaque
tf.scatter_nd(tf.transpose(tf.reshape(tf.stack([own * image, image]), [2, -1])), flat, [batch_size, 7]) -> opaque
tf.scatter_nd(tf.transpose(tf.reshape(tf.stack([own + 1, image]), [2, -1])), flat, [batch_size, 7]) -> opaque
tf.scatter_nd(tf.transpose(tf.reshape(tf.stack([image, own]), [2, -1])), flat, [batch_size, 7]) -> opaque
tf.scatter_nd(tf.transpose(tf.reshape(tf.stack([own, image]), [4, -1])), flat, [batch_size, 7]) -> opaque
tf.scatter_nd(tf.reshape(tf.stack([own, image]), [-1, 2]), flat, [batch_size, 7]) -> opaque
tf.scatter_nd(tf.reshape(tf.stack([own, image], 4), [-1, 2]), turned, [batch_size, 7]) -> opaque
tf.scatter_nd(tf.reshape(tf.stack([own, image], 4), [-1, 2]), flat, [100, 7]) -> opaque
tf.reshape(image, tf.concat([tf.shape(image)[:1], [28 * 28 * 3]], 0)) -> example 0
tf.reshape(image, tf.concat([[tf.shape(image)[0]], [28 * 28 * 3]], 0)) -> example 0
tf.reshape(image, tf.concat([unknown, [28 * 28 * 3]], 0)) -> opaque
tf.reshape(tf.stack([image, image]), [2, tf.size(image)]) -> example 1 major
tf.reshape(tf.stack([image, image]), [2, tf.size(x), tf.size(v)]) -> opaque
tf.reshape(tf.stack([image, image]), [3, tf.size(image)]) -> opaque
tf.reshape(image, [tf.size(image)]) -> example 0 major
tf.reshape(v, [tf.size(v), 1]) -> example 0
tf.reshape(image, [tf.cast(tf.shape(image), tf.int32)[0], -1]) -> example 0
tf.reshape(image, [tf.cast(tf.shape(image), tf.int32)[1], -1]) -> opaque
tf.reshape(image, [tf.size(v), -1]) -> example 0
tf.shape(image)[1:3] / tf.shape(image)[1:3]           -> free
x * tf.cast(tf.shape(image)[1:2] // tf.shape(s)[1:2], tf.float32) -> example 0
tf.where(x > 0)                                       -> opaque
tf.matmul(w, x)                                       -> other
tf.random_shuffle(x)                                  -> example 0
tf.random_shuffle(tf.nn.relu(x))                      -> opaque
"""

FILLED = """
tf.zeros([3, 4])                                      -> free
tf.zeros([batch_size, 4])                             -> example 0
tf.zeros([tf.shape(x)[0], 4])                         -> example 0
tf.zeros([f.shape[0], 4])                             -> example 0
tf.zeros([int(f.get_shape()[0]), 4])                  -> example 0
tf.zeros([f.get_shape().as_list()[0], 4])             -> example 0
tf.zeros([f.get_shape()[0].value, 4])                 -> example 0
tf.zeros([x.get_shape()[1], 4])                       -> free
tf.zeros([tf.shape(x)[1], 4])                         -> free
tf.ones(shape=[5, batch_size])                        -> example 1
tf.zeros(batch_size)                                  -> example 0
tf.fill([batch_size], 1.0)                            -> example 0
tf.fill([6], 1.0)                                     -> free
tf.random_normal(tf.shape(x))                         -> example 0
tf.random_uniform((batch_size, 2), -1, 1)             -> example 0
tf.random_normal([6, 4])                              -> free
tf.constant(0.0, shape=[batch_size, 2])               -> example 0
tf.constant(0.0, shape=[6, 2])                        -> free
tf.constant([0] * batch_size)                         -> example 0
tf.constant(batch_size * [[0, 1]])                    -> example 0
tf.nn.embedding_lookup(w, tf.constant([0] * batch_size)) -> example 0
tf.constant([0, 1] * batch_size)                      -> free
tf.constant([0] * 6)                                  -> free
tf.range(10)                                          -> free
tf.range(tf.shape(x)[0])                              -> example 0
tf.range(0, tf.shape(x)[0])                           -> example 0
tf.range(batch_size)                                  -> example 0
tf.zeros([2 * tf.shape(x)[0], 4])                     -> example 0 major
tf.ones([3, tf.shape(x)[0] // 2])                     -> example 1 major
tf.random_normal([tf.size(x)])                        -> example 0 major
tf.random_normal([tf.size(v)])                        -> example 0
tf.range(2 * tf.shape(x)[0])                          -> example 0 major
tf.range(tf.shape(tf.reshape(s, [-1, 6]))[0])         -> example 0 major
tf.ones([tf.shape(tf.reshape(s, [-1, 6]))[0]])        -> example 0 major
tf.range(tf.size(x))                                  -> example 0 major
tf.range(tf.size(v))                                  -> example 0
tf.gather(x, tf.range(tf.size(x)) // 4)               -> opaque
tf.gather(tf.concat([x, x], 0), tf.range(2 * tf.shape(x)[0])) -> opaque
tf.gather(tf.concat([x, x], 0), tf.range(tf.shape(x)[0])) -> example 0
tf.eye(batch_size)                                    -> opaque
cell.zero_state(batch_size, tf.float32)               -> example 0
cell.zero_state(tf.shape(x)[0], tf.float32)           -> example 0
cell.zero_state(2 * tf.shape(x)[0], tf.float32)       -> example 0 major
cell.zero_state(1, tf.float32)                        -> free
"""

LAYERS = """
tf.layers.dense(x, 4)                                 -> example 0
tf.layers.dense(t, 4)                                 -> example 1
tf.layers.dense(q, 4)                                 -> free
tf.layers.conv2d(image, 4, 3)                         -> example 0
tf.layers.max_pooling2d(image, 2, 2)                  -> example 0
tf.layers.batch_normalization(x, training=True)       -> example 0
tf.contrib.layers.fully_connected(x, 4)               -> example 0
tf.nn.conv2d(image, filters, [1, 1, 1, 1], 'SAME')    -> example 0
tf.nn.bias_add(tf.matmul(x, w), w[0])                 -> example 0
tf.image.resize_images(image, [14, 14])               -> example 0
tf.keras.layers.Dense(4)(x)                           -> example 0
tf.keras.layers.ZeroPadding2D()(image)                -> example 0
tf.keras.layers.Add()([x, x])                         -> example 0
tf.keras.layers.add([x, x])                           -> example 0
tf.keras.layers.Concatenate()([x, x])                 -> example 0
tf.keras.layers.Concatenate(axis=0)([x, x])           -> example 0 minor
tf.keras.layers.Average()([tf.reduce_mean(x), tf.reduce_mean(y)]) -> mean
tf.keras.layers.Multiply()([tf.reduce_mean(x), tf.reduce_mean(y)]) -> other
tf.keras.layers.Lambda(lambda a: tf.reduce_mean(a))(x) -> mean
tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(4))(s) -> example 0
tf.keras.layers.LSTM(4, return_state=True)(s)[1]      -> example 0
tf.reduce_mean(tf.keras.layers.LSTM(4, return_sequences=True)(s), [1, 2]) -> example 0
tf.reduce_mean(tf.keras.backend.binary_crossentropy(x, x)) -> mean
tf.keras.backend.mean(tf.keras.backend.square(x - y), axis=-1) -> example 0
tf.case([(tf.equal(k, 0), lambda: x)], default=lambda: x * 2) -> example 0
tf.case({tf.equal(k, 0): lambda: tf.reduce_mean(x)}, default=lambda: tf.reduce_mean(y)) -> mean
tf.case([(tf.equal(k, 0), lambda: tf.reduce_mean(x))], default=lambda: tf.reduce_sum(y)) -> opaque
tf.case([(tf.equal(k, 0), lambda: (x, tf.reduce_mean(y)))], default=lambda: (x, tf.reduce_mean(x)))[1] -> mean
tf.switch_case(tf.cast(k, tf.int32), [lambda: x, lambda: x * 2]) -> example 0
tf.vectorized_map(lambda r: r * 2, x)                 -> example 0
tf.expand_dims(tf.cond(k, lambda: x, lambda: v), 1) - tf.expand_dims(tf.cond(k, lambda: x, lambda: v), 0) -> other
tf.expand_dims(tf.cond(k, lambda: x, lambda: v), 1) - tf.expand_dims(tf.cond(k, lambda: x, lambda: v), 1) -> example 0
tf.broadcast_to(x, [2, batch_size, 6])                -> example 1
tf.broadcast_to(q, tf.shape(x))                       -> example 0
tf.broadcast_to(q, [3, 6])                            -> free
tf.broadcast_to(v, [batch_size, 6])                   -> opaque
tf.contrib.signal.stft(x, 4, 2)                       -> example 0
tf.signal.stft(v, 4, 2)                               -> opaque
tf.signal.frame(x, 4, 2, axis=0)                      -> opaque
tf.debugging.check_numerics(x, 'm')                   -> example 0
tf.Print(tf.reduce_mean(x), [x], 'x')                 -> mean
tf.stop_gradient(tf.reduce_sum(x))                    -> sum
tf.Print(tf.exp(tf.reduce_mean(x)), [v])              -> other
tf.cross(s, s)                                        -> example 0
tf.contrib.layers.convolution1d(s, 3, 2)              -> example 0
tf.nn.rnn_cell._linear(x, 4, True)                    -> example 0
tf.contrib.rnn.python.ops.core_rnn_cell._linear([x, y], 4, True) -> example 0
tf.contrib.rnn.core_rnn_cell.GRUCell(4)(x, tf.zeros([batch_size, 4]))[0] -> example 0
tf.contrib.rnn.python.ops.core_rnn_cell_impl._linear([x, y], 4, False) -> example 0
tf.python.layers.core.Dense(4)(x) -> example 0
tf.python.layers.core.dense(x, 4) -> example 0
tf.nn.rnn_cell._linear(tf.concat([x, x], 0), 4, True) -> example 0 minor
tf.nn.rnn_cell._linear(tf.reshape(s, [-1, 6]), 4, True) -> example 0 major
tf.nn.rnn_cell._linear(tf.transpose(x), 4, True)      -> opaque
tf.nn.rnn_cell._linear([w, w], 4, True)               -> free
tf.nn.dynamic_rnn(cell, s, dtype=tf.float32)[0]       -> example 0
tf.nn.dynamic_rnn(cell, s, dtype=tf.float32)[1]       -> example 0
tf.nn.dynamic_rnn(cell, (s, s), dtype=tf.float32)[0]  -> example 0
tf.nn.dynamic_rnn(cell, (s, s), dtype=tf.float32)[1]  -> example 0
tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell(cells=[cell, cell]), s, dtype=tf.float32)[1][1] -> example 0
tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell(cells=[tf.nn.rnn_cell.LSTMCell(2)]), s)[1][0].h -> example 0
tf.nn.relu(tf.nn.dynamic_rnn(anything(), s)[1].h)     -> example 0
tf.nn.relu(w.h)                                       -> free
tf.contrib.rnn.LSTMBlockFusedCell(4)(t)[0]                       -> example 1
tf.contrib.rnn.LSTMBlockFusedCell(4)(t)[1].c                     -> example 0
tf.contrib.rnn.LSTMBlockFusedCell(4)(s)[0]                       -> opaque
tf.contrib.rnn.LSTMBlockFusedCell(4)([s[:, 0], s[:, 1]])[0]      -> opaque
tf.contrib.rnn.TimeReversedFusedRNN(tf.contrib.rnn.LSTMBlockFusedCell(4))(t)[1].h -> example 0
tf.contrib.rnn.FusedRNNCellAdaptor(cell, use_dynamic_rnn=True)(t)[1] -> example 0
tf.contrib.cudnn_rnn.CudnnGRU(1, 4)(t)[0]                        -> example 1
tf.contrib.cudnn_rnn.CudnnGRU(1, 4)(t)[1][0]                     -> example 1
tf.contrib.cudnn_rnn.CudnnLSTM(1, 4)(t)[1][1]                    -> example 1
tf.contrib.cudnn_rnn.CudnnLSTM(1, 4)(s, None, n, False)[1][0]    -> example 0
tf.contrib.cudnn_rnn.CudnnGRU(1, 4)(s)[0]                        -> opaque
tf.nn.dynamic_rnn(tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(4), s, dtype=tf.float32)[1] -> example 0
tf.nn.dynamic_rnn(cell, t, dtype=tf.float32, time_major=True)[0] -> example 1
tf.nn.dynamic_rnn(cell, t, dtype=tf.float32, time_major=True)[1] -> example 0
tf.nn.static_rnn(cell, tf.unstack(s, axis=1), dtype=tf.float32)[0][-1] -> example 0
tf.nn.softmax_cross_entropy_with_logits(labels=x, logits=x) -> example 0
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=n, logits=x) -> example 0
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=z, logits=s) -> example 0
tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=x) -> example 0
tf.nn.nce_loss(e, e[:, 0], tf.expand_dims(n, 1), x, 5, 100) -> example 0
tf.losses.mean_squared_error(y, y)                    -> mean
tf.losses.mean_squared_error(w, w)                    -> free
tf.keras.losses.MeanSquaredError()(y, y * 2)          -> mean
tf.keras.losses.MeanSquaredError()(tf.ones_like(y), y) -> mean
tf.keras.losses.MeanSquaredError()(v, v * 2)          -> mean
tf.keras.losses.BinaryCrossentropy(True)(tf.ones_like(x), x) -> mean
tf.keras.losses.BinaryCrossentropy(from_logits=True, reduction='sum_over_batch_size')(x, x) -> mean
tf.keras.losses.CategoricalCrossentropy()(x, x * 2)   -> mean
tf.keras.losses.CategoricalCrossentropy()(v, v * 2)   -> opaque
tf.keras.losses.MeanSquaredError()(w, w)              -> free
tf.keras.losses.MeanSquaredError(reduction='sum')(y, y) -> sum
tf.keras.losses.MeanSquaredError('none')(y, y)        -> example 0
tf.keras.losses.MeanSquaredError(reduction=kind)(y, y) -> opaque
tf.keras.losses.MeanSquaredError()(y, y, v)           -> mean
tf.keras.losses.MeanSquaredError()(v, y)              -> other
tf.keras.losses.MeanSquaredError()(x, tf.transpose(x)) -> other
tf.losses.sparse_softmax_cross_entropy(n, x)          -> mean
tf.losses.mean_squared_error(y, y, reduction=tf.losses.Reduction.SUM) -> sum
tf.losses.mean_squared_error(y, y, reduction=tf.losses.Reduction.NONE) -> example 0
"""

IMAGES = """
tf.image.resize_images(image, [14, 14])               -> example 0
tf.image.flip_left_right(image)                       -> example 0
tf.image.flip_left_right(filters)                     -> free
tf.image.random_contrast(image, 0.5, 1.5)             -> example 0
tf.image.flip_left_right(s)                           -> opaque
tf.image.flip_left_right(tf.transpose(image, [1, 0, 2, 3])) -> opaque
tf.image.total_variation(image)                       -> example 0
tf.reduce_mean(tf.image.total_variation(image))       -> mean
tf.image.ssim(image, image, 1.0)                      -> example 0
tf.image.ssim(filters, image, 1.0)                    -> example 0
tf.image.image_gradients(image)[1]                    -> example 0
tf.image.extract_glimpse(image, [3, 3], x[:, :2])     -> example 0
tf.extract_image_patches(image, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID") -> example 0
tf.contrib.image.dense_image_warp(image, image[:, :, :, :2]) -> example 0
tf.contrib.image.rotate(image, v)                     -> example 0
tf.contrib.image.rotate(image, 0.5)                   -> example 0
tf.contrib.image.rotate(filters, v)                   -> example 0
tf.contrib.image.rotate(image, tf.reduce_mean(v))     -> example 0
tf.contrib.image.rotate(filters, tf.reduce_mean(v))   -> opaque
tf.contrib.image.rotate(tf.reshape(image, [-1, 28, 28, 1]), 0.5) -> example 0 major
tf.pad(image, tf.constant([[0, 0], [3, 3], [3, 3], [0, 0]])) -> example 0
tf.pad(image, tf.constant([[1, 1], [3, 3], [3, 3], [0, 0]])) -> opaque
tf.pad(image, anything())                             -> opaque
tf.pad(image, np.array([[0, 0], [3, 3], [3, 3], [0, 0]])) -> example 0
tf.pad(image, np.array([[1, 1], [3, 3], [3, 3], [0, 0]])) -> opaque
tf.pad(image, tf.constant(np.asarray([[0, 0], [3, 3], [3, 3], [0, 0]], np.int32))) -> example 0
tf.pad(image, np.zeros((4, 2)))                       -> opaque
"""

BRANCHES = """
x if anything() else f                                -> example 0
x if anything() else q                                -> example 0
x if anything() else tf.reshape(s, [-1, 6])           -> example 0 major
tf.reshape(s, [-1, 6]) if anything() else x           -> example 0 major
tf.reshape(t, [-1, 6]) if anything() else x           -> opaque
x if anything() else tf.transpose(x)                  -> opaque
tf.reduce_mean(x) if anything() else tf.reduce_mean(y) -> mean
tf.reduce_mean(x) if anything() else tf.reduce_sum(x) -> opaque
tf.cond(k > 0, lambda: x, lambda: tf.reshape(s, [-1, 6])) -> example 0 major
"""


def test_what_is_not_followed_in_one_branch_is_the_reason() -> None:
    reason = "tf.foldl goes over the batch in a way that is not followed"
    unknown = "tf.foldl(lambda h, r: h + r, x)"
    for expression in (f"{unknown} if anything() else x", f"x if anything() else {unknown}"):
        value = evaluate(expression)
        assert isinstance(value, Tensor) and value.batch.reason == reason


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        case
        for text in (
            ELEMENTWISE,
            MATRICES,
            REDUCTIONS,
            LINEAR,
            RESHAPE,
            AXES,
            JOINS,
            PRODUCTS,
            LOOKUPS,
            FILLED,
            LAYERS,
            DISTRIBUTIONS,
            BRANCHES,
            IMAGES,
        )
        for case in table(text)
    ],
)
def test_outcome(expression: str, wanted: str) -> None:
    assert outcome(expression) == wanted


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("tf.shape(x)[0]", "count"),
        ("x.get_shape()[0]", "count"),
        ("x.shape[0]", "count"),
        ("f.get_shape()[0]", "count"),
        ("int(f.get_shape()[0])", "count"),
        ("f.shape.as_list()[0]", "count"),
        ("tf.shape(t)[1]", "count"),
        ("tf.shape(s)[-3]", "count"),
        ("tf.size(n)", "count"),
        ("tf.shape(x)[1]", 6),
        ("int(x.get_shape()[1])", 6),
        ("x.get_shape().as_list()[-1]", 6),
        ("tf.shape(t)[0]", 5),
        ("s.shape[2]", 6),
        ("int(tf.reshape(image, [-1, 28 * 28 * 3]).shape[1])", 2352),
        ("int(tf.layers.flatten(image).shape[1])", 2352),
        ("int(tf.layers.flatten(tf.layers.max_pooling2d(image, 2, 2)).shape[1])", 588),
        ("int(tf.layers.flatten(tf.layers.conv2d(image, 4, 3)).shape[1])", 2704),
        ("int(tf.layers.flatten(tf.nn.conv2d(image, filters, [1, 2, 2, 1], 'SAME')).shape[1])", 1568),
        ("int(tf.concat([x, y], 1).shape[1])", 7),
        ("tf.shape(z)[1]", None),
        ("len([x, y])", 2),
        ("len(image.get_shape())", 4),
        ("len(image.shape.as_list())", 4),
        ("len(tf.reshape(image, [-1, features, 3]).shape.as_list())", 3),
        ("len(tf.reshape(s, [-1, 6]).get_shape()._dims)", 2),
        ("len(x.shape.dims)", 2),
        ("tf.unstack(tf.shape(s))[0]", "count"),
        ("tf.unstack(tf.shape(s))[2]", 6),
        ("len(tf.unstack(tf.shape(anything())))", None),
        ("len(anything().get_shape())", None),
    ],
)
def test_numbers(expression: str, wanted: object) -> None:
    value = evaluate(expression)
    found = "count" if isinstance(value, Count) else value.value if isinstance(value, Number) else value
    assert found == wanted


@pytest.mark.parametrize(
    ("expression", "affine"),
    [
        ("tf.reduce_sum(x)", False),
        ("tf.reduce_sum(x) - tf.reduce_sum(y)", False),
        ("0.5 * tf.reduce_sum(x)", False),
        ("tf.reduce_sum(x) / 10", False),
        ("tf.reduce_sum(x) + tf.nn.l2_loss(w)", True),
        ("tf.reduce_sum(x) + 1.0", True),
        ("1.0 - tf.reduce_sum(x)", True),
        ("0.5 * (tf.reduce_sum(x) + tf.nn.l2_loss(w))", True),
        pytest.param(
            "tf.add_n([tf.reduce_sum(x), tf.nn.l2_loss(w)])",
            True,
        ),
    ],
)
def test_terms_beside_a_sum(expression: str, affine: bool) -> None:
    value = evaluate(expression)
    assert isinstance(value, Tensor) and value.batch.how == "sum"
    assert value.batch.affine is affine


@pytest.mark.parametrize(
    "name",
    [
        "batch",
        "batch_size",
        "BATCH_SIZE",
        "batchSize",
        "batchsize",
        "minibatch",
        "mini_batch_size",
        "train_batch_size",
        "min_batch_size",
        "total_batch_size",
        "n_batch_size",
        "samples_per_batch",
        "BatchSize",
        "batch_dim",
        "bs",
        "mb",
    ],
)
def test_names_of_a_batch_size(name: str) -> None:
    assert named_batch([name])


@pytest.mark.parametrize(
    "name",
    [
        "n_batch",
        "num_batches",
        "batches",
        "batch_num",
        "batch_idx",
        "batch_index",
        "batchIndex",
        "batch_i",
        "batch_start",
        "batch_end_idx",
        "batch_count",
        "batches_per_epoch",
        "batch_per_epoch",
        "use_batch_norm",
        "batch_loss",
        "batch_step",
        "epochs",
        "size",
        "batch_id2",
    ],
)
def test_names_of_something_else(name: str) -> None:
    assert not named_batch([name])


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("losses.categorical_crossentropy(x, x * 2)", "example 0"),
        ("losses.sparse_categorical_crossentropy(n, x)", "example 0"),
        ("losses.binary_crossentropy(s, s)", "example 0"),
        ("losses.mean_squared_error(t, t)", "example 1"),
        ("tf.reduce_mean(losses.mse(y, x))", "mean"),
        ("tf.reduce_mean(metrics.categorical_accuracy(x, x))", "mean"),
        ("losses.mean_squared_error(v, v)", "opaque"),
        ("losses.mean_squared_error(tf.transpose(x), tf.transpose(x))", "opaque"),
        ("losses.mse(w, w)", "free"),
    ],
)
@pytest.mark.parametrize("library", ["tensorflow.keras", "keras"])
def test_keras_on_tensors(expression: str, wanted: str, library: str) -> None:
    tree = ast.parse(f"from {library} import losses, metrics\n" + SCRIPT.replace("{expression}", expression))
    value = read_facts("script.py", tree, Options()).module.locals["result"]
    assert isinstance(value, Tensor)
    batch = value.batch
    found = f"example {batch.axis}" if batch.kind == "example" else batch.how if batch.kind == "reduced" else batch.kind
    assert found == wanted


CUSTOM = """
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 4])
{decorator}
def function(a):
    def grad(*dy):
        return {gradient}
    return {returned}, grad
{wrapped}
result = function(x){picked}
"""


@pytest.mark.parametrize("decorated", [True, False], ids=["decorator", "call"])
@pytest.mark.parametrize(
    ("returned", "gradient", "picked", "kind"),
    [
        ("2 * a", "2 * dy[0]", "", "example"),
        ("(2 * a, a + 1)", "dy[0] + dy[1]", "[1]", "example"),
        ("tf.reduce_mean(a)", "dy[0] * tf.ones_like(a)", "", "reduced"),
        ("2 * a", "dy[0] * tf.reduce_mean(a)", "", "opaque"),  # a mean over a shard
    ],
)
def test_a_function_with_a_gradient_of_its_own(
    decorated: bool, returned: str, gradient: str, picked: str, kind: str
) -> None:
    wrapped = "" if decorated else "function = tf.custom_gradient(function)"
    decorator = "@tf.custom_gradient" if decorated else ""
    script = CUSTOM.format(decorator=decorator, gradient=gradient, returned=returned, wrapped=wrapped, picked=picked)
    value = read_facts("script.py", ast.parse(script), Options()).module.locals["result"]
    assert isinstance(value, Tensor) and value.batch.kind == kind


HEADS = """
import json
import tensorflow as tf

class Settings(object):
    def __init__(self, path):
        for name, value in json.load(open(path)).items():
            setattr(self, name, value)

settings, others = Settings("a.json"), Settings("b.json")
heads = settings.heads
x = tf.placeholder(tf.float32, [None, 5, 6])
result = tf.concat(tf.split(tf.concat(tf.split(x, heads, 2), 0), {number}, 0), 2)
"""


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        ("heads", "example"),
        ("settings.heads", "example"),
        ("settings.layers", "opaque"),
        ("others.heads", "opaque"),
        ("heads * 2", "opaque"),
    ],
)
def test_as_many_pieces_as_an_attribute_says_that_is_not_followed(number: str, kind: str) -> None:
    value = read_facts("script.py", ast.parse(HEADS.format(number=number)), Options()).module.locals["result"]
    assert isinstance(value, Tensor) and value.batch.kind == kind
