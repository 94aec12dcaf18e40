"""The nets that slim brings along: each example by itself, with layers that a script reads by name."""

from __future__ import annotations

import pytest

from tests.scripts import STEP, body, codes

SCRIPT = (
    """\
import tensorflow as tf
from tensorflow.contrib import slim
from tensorflow.contrib.slim.nets import alexnet, inception, resnet_utils, resnet_v1, resnet_v2, vgg

batch_size = 32
X = tf.placeholder(tf.float32, [None, 224, 224, 3])
Y = tf.placeholder(tf.int64, [None])
{model}
loss = tf.losses.sparse_softmax_cross_entropy(Y, logits)
"""
    + STEP
    + """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(10):
        images, labels = next_batch(batch_size)
        sess.run(train_op, {{X: images, Y: labels}})
        {read}
"""
)
RESNET = "net, layers = {}\nlogits = slim.fully_connected(tf.squeeze(net, [1, 2]), 3)"
BLOCKS = "[resnet_v1.resnet_v1_block('one', base_depth=8, num_units=2, stride=2)]"
PARTS = """\
with slim.arg_scope(resnet_v1.resnet_arg_scope()):
    root = resnet_utils.conv2d_same(X, 8, 3, stride=2)
    net, _ = resnet_v1.resnet_v1(root, {blocks}, include_root_block=False, scope='small')
logits = slim.fully_connected(tf.reduce_mean(net, [1, 2]), 3)"""


def script(model: str, read: str = "pass") -> str:
    return SCRIPT.format(model=model, read=read)


@pytest.mark.parametrize(
    "model",
    [
        "logits, _ = vgg.vgg_16(X, 10)",
        "with slim.arg_scope(vgg.vgg_arg_scope()):\n    logits, layers = vgg.vgg_19(X, num_classes=10)",
        "logits, _ = alexnet.alexnet_v2(X, 10)",
        "with slim.arg_scope(inception.inception_v3_arg_scope()):\n    logits, _ = inception.inception_v3(X, 10)",
        "logits = slim.fully_connected(slim.flatten(inception.inception_v1_base(X)[0]), 10)",
        RESNET.format("resnet_v1.resnet_v1_50(X)"),
        RESNET.format("resnet_v2.resnet_v2_101(X, None, True)"),
        "logits = tf.squeeze(resnet_v1.resnet_v1_50(X, 10)[0], [1, 2])",
        PARTS.format(blocks=BLOCKS),
        "logits = tf.reduce_mean(resnet_v1.bottleneck(X, 10, 5, 1), [1, 2])",
    ],
)
def test_nets_in_towers(model: str) -> None:
    lines = [line.strip() for line in body(script(model))]
    assert "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)" in lines
    assert not {code for code in codes(script(model)) if code.startswith("TMG2")}


def test_a_layer_by_its_name() -> None:
    text = script("logits, layers = vgg.vgg_16(X, 10)", "keep(sess.run(layers['vgg_16/fc7'], {X: images}))")
    lines = [line.strip() for line in body(text)]
    assert "layers['vgg_16/fc7'] = tf.concat(tower_vgg_16_fc7, 0)" in lines


@pytest.mark.parametrize(
    ("model", "read", "code"),
    [
        ("logits, layers = vgg.vgg_16(X, 10)", "keep(sess.run(layers['vgg_16/pool5'], {X: images}))", "TMG209"),
        ("logits, layers = alexnet.alexnet_v2(X, 10)", "keep(sess.run(layers['alexnet_v2/pool2']))", "TMG209"),
        ("logits, layers = vgg.vgg_16(X, 10)", "keep(sess.run(layers, {X: images}))", "TMG208"),
        ("logits, _ = vgg.vgg_16(tf.transpose(X, [1, 2, 0, 3]), 10)", "pass", "TMG302"),
        ("logits, _ = resnet_v1.resnet_v1_152_beta(X, 10)", "pass", "TMG302"),
    ],
    ids=["pool", "pool of another net", "all layers", "batch in another axis", "another net"],
)
def test_what_is_refused_or_warned_of(model: str, read: str, code: str) -> None:
    assert code in codes(script(model, read))


@pytest.mark.parametrize(
    "model",
    [
        PARTS.format(blocks=BLOCKS),
        RESNET.format("resnet_v2.resnet_v2_50(X)"),
        "with slim.arg_scope(inception.inception_v3_arg_scope()):\n    logits, _ = inception.inception_v3(X, 10)",
    ],
)
def test_statistics_of_shares_under_total(model: str) -> None:
    assert codes(script(model)) == [] and codes(script(model), batch="total") == ["TMG302"]
