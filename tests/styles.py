"""What trains in the scripts of the field, and what becomes of each for every target."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from converter.conversion import Conversion
from converter.options import Options
from converter.rule import all_rules
from converter.source import from_bytes, read
from converter.source.header import find_header
from tests.conversions import conversion_of

ROOT = Path(__file__).resolve().parent.parent
TORCH = next(rule.before for rule in all_rules() if rule.code == "TMG177")
TARGETS = ("auto", "towers", "mirrored", "cluster", "ddp")


@dataclass(frozen=True)
class Style:
    """One way to train.

    name: in a few words. script: a fixture, or a text. outcomes: for each of TARGETS `converted`, or the codes of
    the refusal; without --target which target was taken. row: the row of docs/targets.md that says so, for a script
    that is no fixture.
    """

    name: str
    script: str
    outcomes: tuple[str, str, str, str, str]
    row: str = ""

    def converted(self, target: str, **options: object) -> Conversion:
        """What becomes of the script."""
        path = ROOT / "fixtures" / self.script / "single.py"
        source = from_bytes("train.py", self.script.encode()) if "\n" in self.script else read(str(path))
        return conversion_of(source, Options(target=target, **options))  # type: ignore[arg-type]

    def outcome(self, target: str) -> str:
        """As `outcomes` has it."""
        done = self.converted(target)
        if done.status == "refused":
            return ", ".join(dict.fromkeys(one.code for one in done.diagnostics if one.severity == "error"))
        header = find_header(done.text or "")
        taken = header.options.target.replace("auto", "towers") if header is not None else ""
        return f"`{taken}`" if target == "auto" else done.status


SESSION = """\
import numpy as np
import tensorflow as tf

batch_size = 32
images = np.random.RandomState(1).rand(640, 4).astype('float32')
labels = np.random.RandomState(2).randint(3, size=640)
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.int64, [None])
logits = tf.layers.dense(x, 3)
loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
optimizer = tf.train.AdamOptimizer(0.01)
train_op = optimizer.minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(len(images) // batch_size):
        begin = step * batch_size
        feed = {x: images[begin:begin + batch_size], y: labels[begin:begin + batch_size]}
        sess.run(train_op, feed_dict=feed)
"""
ESTIMATOR = """\
import numpy as np
import tensorflow as tf


def input_fn():
    data = {'x': np.zeros([640, 4], np.float32)}, np.zeros([640], np.int32)
    return tf.data.Dataset.from_tensor_slices(data).repeat().batch(32)


columns = [tf.feature_column.numeric_column('x', [4])]
estimator = tf.estimator.DNNClassifier([8], columns)
estimator.train(input_fn, steps=20)
"""
KERAS = """\
import numpy as np
import tensorflow as tf

x, y = np.zeros([640, 4], np.float32), np.zeros([640], np.int32)
model = tf.keras.Sequential([tf.keras.layers.Dense(3, 'softmax', input_shape=(4,))])
model.compile('sgd', 'sparse_categorical_crossentropy')
model.fit(x, y, batch_size=32)
"""


def edited(text: str, *pairs: str) -> str:
    """A script with some texts in place of others: old, new, old, new."""
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new)
    return text


CLIPPED = """\
pairs = optimizer.compute_gradients(loss)
train_op = optimizer.apply_gradients([(tf.clip_by_norm(g, 1.0), v) for g, v in pairs])
"""
TAPE = """\
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(x))
tf.keras.optimizers.SGD().apply_gradients(zip(tape.gradient(loss, model.weights), model.weights))
"""
GAN = "other = nn.Linear(784, 10)\nother_optimizer = torch.optim.Adam(other.parameters())\n"
TRAINER = """\
class Trainer:
    def train(self):
        for images, labels in train_loader:
            loss = criterion(net(images.to('cuda')), labels.to('cuda'))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


trainer = Trainer()
for epoch in range(10):
    trainer.train()
"""
LOOP = TORCH[TORCH.index("for epoch in") : TORCH.index("    print(epoch")]
BY_HAND = "for images, labels in zip(x.split(64), y.split(64)):"
TOWERS = """\
optimizer = tf.train.AdamOptimizer(0.01)
grads = []
for gpu in range(2):
    with tf.device('/gpu:%d' % gpu), tf.variable_scope('net', reuse=gpu > 0):
        logits = tf.layers.dense(tf.split(x, 2)[gpu], 3)
        loss = tf.losses.sparse_softmax_cross_entropy(tf.split(y, 2)[gpu], logits)
        grads.append(optimizer.compute_gradients(loss))
train_op = optimizer.apply_gradients([(sum(g for g, _ in some) / 2, some[0][1]) for some in zip(*grads)])
"""
MODEL = SESSION[SESSION.index("logits =") : SESSION.index("\nwith tf.Session")]
FED = """\
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.int64, [None])
"""
FEEDS = SESSION[SESSION.index("        begin =") :]
RUNS = "        sess.run(train_op)\n"
QUEUE = "x, y = tf.train.batch(tf.train.slice_input_producer([images, labels]), batch_size)\n"
STREAM = """
class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        yield from zip(x, y)


"""
CLONES = "config = model_deploy.DeploymentConfig(num_clones=2)\n"
DEPLOYED = """\
clones = model_deploy.create_clones(config, model)
train_op = model_deploy.optimize_clones(clones, optimizer)
"""
ITERATOR = """\
data = tf.data.Dataset.from_tensor_slices((images, labels)).repeat().batch(batch_size)
x, y = data.make_one_shot_iterator().get_next()
"""

SHARED = ("`towers`", "converted", "TMG280", "converted", "TMG280")
MIRRORED = ("`mirrored`", "TMG220", "converted", "converted", "TMG280")
BY_TORCH = ("`ddp`", "TMG201", "TMG280", "TMG280", "converted")
OTHERS = "other canned estimators, `tf.contrib.learn`"
OWN_LOOP = "`tf.keras` with `fit_generator`, `train_on_batch`"
SEVERAL = (
    "PyTorch with several models or optimizers (a GAN), a closure, a state handed from batch to batch, a trainer class"
)
UNSHARABLE = "PyTorch with batches cut out of arrays by hand, samplers of its own, streams"
ALREADY = "a script that uses several GPUs already"


def of_torch(code: str) -> tuple[str, str, str, str, str]:
    """The outcomes of a PyTorch script that is refused."""
    return (code, "TMG201", "TMG280", "TMG280", code)


def of_mirrored(code: str, cluster: str = "TMG280") -> tuple[str, str, str, str, str]:
    """The outcomes of an Estimator or a Keras script that is refused for a strategy."""
    return (code, "TMG220", code, cluster, "TMG280")


STYLES = (
    Style("a session that feeds arrays", "cluster/fed_arrays", SHARED),
    Style("a session and a dataset, fine-tuning", "video_clips", SHARED),
    Style("a session and a one-shot iterator", edited(SESSION, FED, ITERATOR, FEEDS, RUNS), SHARED),
    Style("a session and a queue", edited(SESSION, FED, QUEUE, FEEDS, RUNS, "    for step",
          "    tf.train.start_queue_runners(sess)\n    for step"), SHARED),
    Style("a session, clipped gradients", edited(SESSION, "train_op = optimizer.minimize(loss)\n", CLIPPED), SHARED),
    Style("`MonitoredTrainingSession`", "loops/monitored_session", SHARED),
    Style("`tf.train.MonitoredSession`", "loops/session_creator", SHARED),
    Style("`tf.train.Supervisor`", "loops/supervisor", SHARED),
    Style("`slim.learning.train`", "loops/slim_learning", SHARED),
    Style("`tf.contrib.training.train`", "loops/contrib_training", SHARED),
    Style("an Estimator fed by a dataset", "mirrored/estimator_dataset", MIRRORED),
    Style("an Estimator fed by `numpy_input_fn`", "mirrored/estimator_arrays", MIRRORED),
    Style("`DNNClassifier`, its loss a mean", edited(ESTIMATOR, "[8], columns", "[8], columns, "
          "loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE"), MIRRORED,
          "`tf.estimator.DNNClassifier`, `DNNRegressor` with `loss_reduction=…SUM_OVER_BATCH_SIZE`"),
    Style("`DNNClassifier`, its loss a sum", ESTIMATOR, of_mirrored("TMG288", "converted"),
          "the same with their own loss, a sum"),
    Style("`LinearClassifier`", edited(ESTIMATOR, "DNNClassifier([8], columns)", "LinearClassifier(columns)"),
          of_mirrored("TMG282", "converted"), OTHERS),
    Style("`tf.contrib.learn`", edited(ESTIMATOR, "tf.estimator.DNNC", "tf.contrib.learn.DNNC", ".train(", ".fit("),
          of_mirrored("TMG282", "converted"), OTHERS),
    Style("`tf.keras`, `fit` on arrays", "mirrored/keras_arrays", MIRRORED),
    Style("`tf.keras`, `fit` on a dataset", "mirrored/keras_dataset", MIRRORED),
    Style("`tf.keras`, `fit_generator`", edited(KERAS, "fit(x, y, batch_size=32)", "fit_generator(((x[:32], y[:32]) "
          "for _ in range(20)), steps_per_epoch=20)"), of_mirrored("TMG289", "converted"), OWN_LOOP),
    Style("`tf.keras`, `train_on_batch`", edited(KERAS, "model.fit(x, y, batch_size=32)", "for step in range(20):\n"
          "    model.train_on_batch(x[:32], y[:32])"), of_mirrored("TMG289", "converted"), OWN_LOOP),
    Style("a gradient tape", edited(KERAS, "model.fit(x, y, batch_size=32)\n", TAPE),
          ("TMG235", "TMG235", "TMG280", "TMG280", "TMG280"), "`tf.GradientTape`, eager code"),
    Style("`keras`, the package", edited(KERAS, "import tensorflow as tf\n", "import keras\nimport tensorflow as tf\n",
          "tf.keras", "keras"), ("`mirrored`", "TMG220", "converted", "converted", "TMG220"),
          "`keras`, the package apart from TensorFlow"),
    Style("PyTorch, a loop over a `DataLoader`", "ddp/conv_net", BY_TORCH),
    Style("PyTorch, two optimizers", edited(TORCH, "\n\ndef acc", GAN + "\n\ndef acc"), of_torch("TMG292"), SEVERAL),
    Style("PyTorch, a trainer class", edited(TORCH, LOOP, TRAINER), of_torch("TMG292"), SEVERAL),
    Style("PyTorch, a closure", edited(TORCH, "optimizer.step()", "optimizer.step(lambda: loss)"), of_torch("TMG292"),
          SEVERAL),
    Style("PyTorch, a state that is handed on", edited(TORCH, "        loss = criterion(net(images.to('cuda'))",
          "        h = h.detach()\n        loss = criterion(net(images, h)"), of_torch("TMG292"), SEVERAL),
    Style("PyTorch, batches cut by hand", edited(TORCH, "for images, labels in train_loader:", BY_HAND),
          of_torch("TMG294"), UNSHARABLE),
    Style("PyTorch, a sampler", edited(TORCH, "shuffle=True", "sampler=mine"), of_torch("TMG294"), UNSHARABLE),
    Style("PyTorch, an `IterableDataset`", edited(TORCH, "\nnet =", STREAM + "net =", "DataLoader(train_set",
          "DataLoader(Stream()", "batch_size=64, shuffle=True", "batch_size=64"), of_torch("TMG294"), UNSHARABLE),
    Style("PyTorch, `DataParallel`", edited(TORCH, "net.to('cuda')\n", "net = nn.DataParallel(net)\n"),
          of_torch("TMG216"), ALREADY),
    Style("PyTorch Lightning", "import lightning as pl\n\ntrainer = pl.Trainer()\ntrainer.fit(net, loader)\n",
          ("TMG216",) * 5, ALREADY),
    Style("slim's `model_deploy`", edited(SESSION, "import tensorflow as tf\n", "import tensorflow as tf\n"
          "from deployment import model_deploy\n", "optimizer =", CLONES + "optimizer =",
          "train_op = optimizer.minimize(loss)\n", DEPLOYED), ("TMG216", "TMG216", "TMG280", "TMG280",
          "TMG280"), ALREADY),
    Style("`multi_gpu_model`", edited(KERAS, "model.compile", "model = tf.keras.utils.multi_gpu_model(model, gpus=2)\n"
          "model.compile"), of_mirrored("TMG216", "TMG216"), ALREADY),
    Style("`MirroredStrategy` with Keras", edited(KERAS, "model =", "strategy = tf.distribute.MirroredStrategy()\n"
          "model ="), ("TMG216", "TMG217", "TMG216", "TMG216", "TMG280"), ALREADY),
    Style("towers written by hand", edited(SESSION, MODEL, TOWERS), ("TMG216", "TMG216", "TMG280", "TMG216", "TMG280"),
          ALREADY),
    Style("Horovod in a session", edited(SESSION, "import tensorflow as tf\n", "import horovod.tensorflow as hvd\n"
          "import tensorflow as tf\n\nhvd.init()\n", "AdamOptimizer(0.01)", "AdamOptimizer(0.01)\n"
          "optimizer = hvd.DistributedOptimizer(optimizer)"), ("TMG217", "TMG217", "TMG280", "TMG217", "TMG280"),
          "a script for several machines, Horovod"),
    Style("`tf.train.Server`", edited(SESSION, FED, "cluster = tf.train.ClusterSpec({'worker': ['a:1', 'b:1']})\n"
          f"server = tf.train.Server(cluster, 'worker', 0)\n{FED}", "tf.Session()", "tf.Session(server.target)"),
          ("TMG217", "TMG217", "TMG280", "TMG217", "TMG280"), "a script for several machines, Horovod"),
)  # fmt: skip
