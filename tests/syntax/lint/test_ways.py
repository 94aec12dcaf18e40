"""Scripts that use several GPUs already: the refusal says how they are told to use N."""

from __future__ import annotations

import pytest

from converter.conversion import convert
from converter.options import Options
from converter.source import from_bytes

DEPLOY = """\
import tensorflow as tf
from deployment import model_deploy
slim = tf.contrib.slim
tf.app.flags.DEFINE_integer('num_clones', 1, 'clones')
tf.app.flags.DEFINE_integer('batch_size', 32, 'batch')
FLAGS = tf.app.flags.FLAGS

def main(_):
    deploy_config = model_deploy.DeploymentConfig(num_clones=FLAGS.num_clones, clone_on_cpu=False)
    with tf.device(deploy_config.inputs_device()):
        images, labels = tf.train.batch([read(), read_label()], batch_size=FLAGS.batch_size)
        queue = slim.prefetch_queue.prefetch_queue([images, labels])

    def clone_fn(queue):
        x, y = queue.dequeue()
        logits = net(x)
        tf.losses.softmax_cross_entropy(y, logits)
    clones = model_deploy.create_clones(deploy_config, clone_fn, [queue])
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    loss, grads = model_deploy.optimize_clones(clones, optimizer)
    train_op = optimizer.apply_gradients(grads)
    slim.learning.train(train_op, 'dir')
tf.app.run()
"""
HVD = """\
import tensorflow as tf
import horovod.tensorflow as hvd
hvd.init()
x = tf.placeholder(tf.float32, [None, 4])
loss = tf.reduce_mean(tf.layers.dense(x, 1))
opt = hvd.DistributedOptimizer(tf.train.AdamOptimizer(0.001 * hvd.size()))
train = opt.minimize(loss)
with tf.train.MonitoredTrainingSession(hooks=[hvd.BroadcastGlobalVariablesHook(0)]) as sess:
    while True:
        sess.run(train, {x: batch(32)})
"""
KERASMG = """\
import tensorflow as tf
from tensorflow.keras.utils import multi_gpu_model
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model = multi_gpu_model(model, gpus=4)
model.compile('sgd', 'mse')
model.fit(x, y, batch_size=32)
"""
PACKAGE = """\
import tensorflow as tf
from keras.utils import multi_gpu_model
from keras.models import Sequential
from keras.layers import Dense
model = multi_gpu_model(Sequential([Dense(1)]), gpus=2)
model.compile('sgd', 'mse')
model.fit(x, y, batch_size=32)
"""
KMIRROR = """\
import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile('sgd', 'mse')
model.fit(x, y, batch_size=32)
"""
MIRROR = """\
import tensorflow as tf
strategy = tf.distribute.MirroredStrategy()
def input_fn():
    return tf.data.TFRecordDataset('a').batch(32)
def model_fn(features, labels, mode):
    loss = tf.reduce_mean(tf.layers.dense(features, 1))
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
est = tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(train_distribute=strategy))
est.train(input_fn, steps=10)
"""
TOWERS = """\
import tensorflow as tf
tf.app.flags.DEFINE_integer('num_gpus', 2, 'gpus')
FLAGS = tf.app.flags.FLAGS
def average_gradients(tower_grads):
    average = []
    for gv in zip(*tower_grads):
        average.append((tf.reduce_mean(tf.stack([g for g, _ in gv]), 0), gv[0][1]))
    return average
x = tf.placeholder(tf.float32, [None, 4])
opt = tf.train.AdamOptimizer()
grads = []
xs = tf.split(x, FLAGS.num_gpus)
with tf.variable_scope(tf.get_variable_scope()):
    for i in range(FLAGS.num_gpus):
        with tf.device('/gpu:%d' % i), tf.name_scope('tower_%d' % i):
            loss = tf.reduce_mean(tf.layers.dense(xs[i], 1, name='d'))
            tf.get_variable_scope().reuse_variables()
            grads.append(opt.compute_gradients(loss))
train = opt.apply_gradients(average_gradients(grads))
with tf.Session() as sess:
    sess.run(train, {x: batch(32 * FLAGS.num_gpus)})
"""
TOWERS2 = """\
import tensorflow as tf
x = tf.placeholder(tf.float32, [None, 4])
opt = tf.train.AdamOptimizer()
grads = []
for i, d in enumerate(['/gpu:0', '/gpu:1']):
    with tf.device(d), tf.variable_scope('', reuse=i > 0):
        loss = tf.reduce_mean(tf.layers.dense(x[i * 32:(i + 1) * 32], 1, name='d'))
        grads.append(opt.compute_gradients(loss))
train = opt.apply_gradients(average_gradients(grads))
with tf.Session() as sess:
    sess.run(train, {x: batch(64)})
"""


def refusal(text: str) -> tuple[str, str]:
    done = convert(from_bytes("train.py", text.encode()), Options())
    assert done.status == "refused"
    return done.diagnostics[0].code, done.diagnostics[0].hint


@pytest.mark.parametrize(
    ("text", "code", "advice"),
    [
        (DEPLOY, "TMG216", "start it with --num_clones=N"),
        (HVD, "TMG217", "horovodrun -np N python SCRIPT"),
        (KERASMG, "TMG216", "it uses 4: change the number in line 4"),
        (KMIRROR, "TMG216", "CUDA_VISIBLE_DEVICES=0,1 python SCRIPT\nthe GPUs share the batch"),
        (MIRROR, "TMG216", "each GPU takes a batch of the input function"),
        (TOWERS, "TMG216", "start it with --num_gpus=N\n`tf-multigpu lint`"),
        (TOWERS2, "TMG216", "it builds one tower for each round of the loop in line 5"),
        (DEPLOY.replace("num_clones=FLAGS.num_clones, ", ""), "TMG216", "it builds one clone: write "),
        (DEPLOY.replace("FLAGS.num_clones,", "3,"), "TMG216", "it uses 3: change the number in line 9"),
        (DEPLOY.replace("'num_clones', 1", "'clones', 1"), "TMG216", "as many as FLAGS.num_clones says (line 9)"),
        (DEPLOY.replace("_cpu=False", "_cpu=True"), "TMG216",
         "start it with --num_clones=N; its clones are on the CPU: leave clone_on_cpu out in line 9, to use GPUs\n"),
        (DEPLOY.replace("_cpu=False", "_cpu=FLAGS.cpu"), "TMG216", "start it with --num_clones=N\neach clone"),
        (PACKAGE, "TMG216", "it uses 2: change the number in line 5\nthe GPUs share the batch of fit()"),
        (KERASMG.replace("gpus=4", "gpus=count"), "TMG216", "it uses as many as count says (line 4)"),
        (KERASMG.replace("model = multi", "count = 8\nmodel = multi").replace("gpus=4", "gpus=count"), "TMG216",
         "it uses 8: change count in line 4"),
        (KERASMG.replace(", gpus=4", ""), "TMG216", "it takes all GPUs (line 4)"),
        (KMIRROR.replace("Strategy()", "Strategy(['/gpu:0', '/gpu:1'])"), "TMG216", "its GPUs are named in line 2"),
    ],
)  # fmt: skip
def test_how_a_script_is_told_the_number_of_gpus(text: str, code: str, advice: str) -> None:
    found, hint = refusal(text)
    assert found == code and advice in hint


@pytest.mark.parametrize("text", [DEPLOY, HVD, KERASMG, MIRROR, TOWERS])
def test_the_other_way_is_named_too(text: str) -> None:
    assert refusal(text)[1].endswith("\nor convert the script as it was for one GPU")


def test_other_refusals_stay_as_they_are() -> None:
    text = "import tensorflow as tf\nx = tf.placeholder(tf.float32, [None, 4])\nprint(x)\n"
    code, hint = refusal(text)
    assert code == "TMG201" and "GPU" not in hint


def test_a_model_that_is_spread_over_gpus_gets_no_advice() -> None:
    text = TOWERS2.replace("enumerate(['/gpu:0', '/gpu:1'])", "enumerate([0, 1])").replace(
        "tf.device(d)", "tf.device('/gpu:1')"
    )
    text = text.replace("grads = []\n", "grads = []\nwith tf.device('/gpu:0'):\n    y = x + 1\n")
    assert refusal(text) == ("TMG216", "convert the script as it was for one GPU")
