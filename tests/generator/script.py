"""The files of a generated training script, written from its recipe.

Every script trains for a few steps on 44 examples of 16 numbers in 3 classes and ends with lines `RESULT name numbers`:
each variable's sum and sum of squares, the number of steps, and what it evaluated. All initial values are fixed.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from textwrap import indent

from tests.generator import host
from tests.generator.recipe import FLAGS, Recipe

EXAMPLES, CLASSES = 44, 3
HEAD = """\
import numpy as np
import tensorflow as tf
"""
DATA = f"""\
rng = np.random.RandomState(7)
data = rng.randn({EXAMPLES}, 16).astype('float32')
words = rng.randint(0, 20, ({EXAMPLES}, 4))
labels = np.eye({CLASSES}, dtype='float32')[data[:, :{CLASSES}].argmax(1)]
valid_data, valid_words, valid_labels = data[:8] + 0.1, words[:8], labels[:8]
"""
INITIAL = """\
def initial(rows, columns):
    return np.random.RandomState(rows + columns).uniform(-0.4, 0.4, (rows, columns)).astype('float32')


def start(shape, dtype=None, partition_info=None):
    return tf.constant(np.random.RandomState(len(shape)).uniform(-0.4, 0.4, shape).astype('float32'))
"""
OPTIMIZERS = """\
OPTIMIZERS = {'sgd': tf.train.GradientDescentOptimizer(0.1), 'adam': tf.train.AdamOptimizer(0.01, epsilon=1e-3)}
"""
RECORDS = [
    "def example(x, y):",
    "    kept = {'x': tf.train.Feature(float_list=tf.train.FloatList(value=x)),",
    "            'y': tf.train.Feature(float_list=tf.train.FloatList(value=y))}",
    "    return tf.train.Example(features=tf.train.Features(feature=kept))",
    "",
    "",
    "with tf.python_io.TFRecordWriter('train.records') as writer:",
    f"    for i in range({EXAMPLES}):",
    "        writer.write(example(data[i], labels[i]).SerializeToString())",
    "SPEC = {'x': tf.FixedLenFeature([16], tf.float32), 'y': tf.FixedLenFeature([3], tf.float32)}",
    "",
]
CHECKPOINT = "./kept/model"
L2 = """\
def l2(w):
    return 0.01 * tf.reduce_sum(tf.square(w))
"""
DECAYED = """\
def decayed(loss, rate):
    if rate > 0:
        return loss + rate * tf.nn.l2_loss(tf.trainable_variables()[-2])
    return loss
"""


def write(recipe: Recipe, batch_size: int = 8) -> dict[str, str]:
    """The files by their names: `train.py` trains; `predict.py` or `evaluate.py` reads its checkpoint."""
    writer = _Writer(recipe, batch_size)
    return writer.files()


class _Writer:
    """Writes one recipe; methods give lines of Python without indentation."""

    def __init__(self, recipe: Recipe, batch_size: int) -> None:
        self.recipe, self.batch_size = recipe, batch_size
        self.is_class = recipe.structure in ("class", "class in file")
        self.is_in_file = recipe.structure in ("file", "class in file")
        self.fed = recipe.inputs.startswith("fed")

    # -- files -------------------------------------------------------------------------------

    def files(self) -> dict[str, str]:
        """The script, and the other files of its folder."""
        in_file, model = self.is_in_file, self.model()
        visible = self.recipe.devices == "visible"
        head = "import os\n" * visible + HEAD
        head += "import model as lib\n" * in_file + "import config\n" * self.is_configured
        head += "\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n" * visible
        parts = [head, self.options(), DATA, host.functions(self.recipe.host)]
        if not in_file:
            parts.append(self.helpers())
            parts.append(model)
        body = "\n".join(self.body())
        if self.recipe.structure == "main":
            parts.append(f"def main(_):\n{indent(body, '    ')}\n\nif __name__ == '__main__':\n    tf.app.run(main)\n")
        else:
            parts.append(body)
        files = {"train.py": _joined(parts)}
        if in_file:
            files["model.py"] = _joined([HEAD, self.helpers(), model])
        if self.is_configured:
            files["config.py"] = f"batch_size = {self.batch_size}\n"
        if self.recipe.companion != "none":
            files[f"{self.recipe.companion}.py"] = _joined([head, self.options(), DATA, self.companion()])
        return files

    @property
    def is_configured(self) -> bool:
        """Whether the batch size stands in a file of its own."""
        return self.recipe.size == "module"

    def body(self) -> list[str]:
        """Inputs, graph and session, in the structure that holds all of the graph where there is one."""
        inputs, build, training = self.inputs(), self.build(), self.training()
        if self.recipe.structure == "builder":
            kept = ", ".join(sorted(_names(inputs + build, ast.Store) & _used(training)))
            return [
                f"def build():\n{indent(inputs + build, '    ')}    return {kept}\n\n\n{kept} = build()\n",
                training,
            ]
        if self.recipe.structure == "methods":
            shared = _names(inputs, ast.Store) & (_names(build, ast.Load) | _used(training))
            shared |= _names(build, ast.Store) & _used(training)
            methods = [
                f"    def {name}(self):\n{indent(_of(text, shared, 'self'), ' ' * 8)}\n"
                for name, text in (("inputs", inputs), ("build", build))
            ]
            opening = "    def __init__(self):\n        self.inputs()\n        self.build()\n"
            text = "\n".join(["class Model(object):", opening, *methods])
            return [text, f"model = Model()\n{_of(training, shared, 'model')}"]
        return [inputs, build, training]

    def companion(self) -> str:
        """A second script: it builds the model again, restores what was trained, and predicts or evaluates."""
        plain = dict.fromkeys(("metrics", "summary", "devices"), "none")
        fed = _Writer(replace(self.recipe, inputs="fed", optimizer="sgd", **plain), 8)
        lines = [f"tf.train.Saver().restore(sess, '{CHECKPOINT}')"]
        feed = fed.feed("valid_data", "valid_labels", "valid_words", False)
        if self.recipe.companion == "predict":
            lines.append(f"print('RESULT predicted %.4f' % np.abs(sess.run(logits, {feed})).sum())")
        else:
            lines += (
                fed.in_batches("data", "labels", "words")
                if fed.is_mean
                else [f"print('RESULT evaluated %.5f' % sess.run(loss, {feed}))"]
            )
        return fed.inputs() + fed.called() + "with tf.Session() as sess:\n" + indent("\n".join(lines) + "\n", "    ")

    def options(self) -> str:
        """Flags and the batch size."""
        recipe, lines = self.recipe, []
        flags = [("act", "str", "relu")] if recipe.activation == "elif flag" else []
        flags += [("layers", "int", 1)] if recipe.depth == "flag" else []
        flags += [("drop", "int", 0)] if recipe.dropout == "flag" else []
        flags += [("l2", "float", 0.0)] if recipe.decay in ("flag", "function") else []
        flags += [("terms", "int", 2)] if recipe.loss == "list" else []
        flags += [("heads", "int", 2)] if recipe.outputs == "list by flag" else []
        flags += [("net", "str", "dense")] if recipe.first == "flag" else []
        flags += [("loss", "str", "mean")] if recipe.loss == "elif flag" else []
        flags += [("opt", "str", "sgd")] if recipe.optimizer == "elif flag" else []
        flags += [("batch_size", "int", self.batch_size)] if recipe.size == "flag" else []
        if flags and recipe.flags != "app.flags" and recipe.structure != "main":
            lines += ["import argparse", "", "parser = argparse.ArgumentParser()"]
            for n, kind, value in flags:
                choices = (
                    value,
                    *(c for _, _, flag, *others in FLAGS if flag == f"--{n}" for c in others),
                )
                limited = f", choices={list(choices)!r}" if recipe.flags == "choices" and kind == "str" else ""
                lines.append(f"parser.add_argument('--{n}', type={kind}, default={value!r}{limited})")
            lines.append("args = parser.parse_args()")
        elif flags:
            kinds = {"str": "string", "int": "integer", "float": "float"}
            lines += [f"tf.app.flags.DEFINE_{kinds[k]}('{n}', {value!r}, '{n}')" for n, k, value in flags]
            lines.append("args = tf.app.flags.FLAGS")
        number = self.batch_size
        lines += {
            "constant": [f"batch_size = {number}"],
            "product": [f"batch_size = 4 * {number // 4}"],
            "alias": [f"BATCH = {number}", "batch_size = BATCH"],
            "attribute": [
                "class Config(object):",
                f"    batch_size = {number}",
                "    epochs = 2",
                "",
                "",
                "config = Config()",
            ],
            "dict": [f"params = {{'batch_size': {number}, 'epochs': 2}}"],
        }.get(recipe.size, [])
        return "\n".join(lines) + "\n" if lines else ""

    @property
    def size(self) -> str:
        """How the script names its batch size."""
        return {
            "module": "config.batch_size",
            "literal": str(self.batch_size),
            "flag": "args.batch_size",
            "attribute": "config.batch_size",
            "dict": "params['batch_size']",
        }.get(self.recipe.size, "batch_size")

    def helpers(self) -> str:
        """Functions that the model uses."""
        activations = "ACTIVATIONS = {'relu': tf.nn.relu, 'tanh': tf.tanh}\n"
        parts = [INITIAL, L2]
        parts += [activations] if self.recipe.activation == "dict of functions" else []
        parts += [DECAYED] if self.recipe.decay == "function" else []
        return "\n\n".join(parts)

    @property
    def is_mean(self) -> bool:
        """Whether the loss of several batches, weighted by their rows, is that of all their rows."""
        means = ("mean", "labels", "squares", "two lines", "elif flag", "list")
        return self.recipe.loss in means and self.recipe.norm == "none"

    # -- inputs ------------------------------------------------------------------------------

    def inputs(self) -> str:
        """Where batches enter: X, Y and, for an embedding, W."""
        rows = self.size if self.recipe.inputs == "fed fixed" else "None"
        labels = (
            "tf.placeholder(tf.float32)"
            if self.recipe.inputs == "fed shapeless labels"
            else (f"tf.placeholder(tf.float32, [{rows}, {CLASSES}])")
        )
        lines = {
            "dataset": [
                f"dataset = tf.data.Dataset.from_tensor_slices((data, labels)).repeat(2).batch({self.size})",
                "X, Y = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()",
            ],
            "dataset initializable": [
                "all_x = tf.placeholder(tf.float32, [None, 16])",
                f"all_y = tf.placeholder(tf.float32, [None, {CLASSES}])",
                f"dataset = tf.data.Dataset.from_tensor_slices((all_x, all_y)).batch({self.size})",
                "iterator = tf.compat.v1.data.make_initializable_iterator(dataset)",
                "X, Y = iterator.get_next()",
            ],
            "dataset reinitializable": [
                f"train_set = tf.data.Dataset.from_tensor_slices((data, labels)).batch({self.size})",
                "valid_set = tf.data.Dataset.from_tensor_slices((valid_data, valid_labels)).batch(8)",
                "types = tf.compat.v1.data.get_output_types(train_set)",
                "iterator = tf.data.Iterator.from_structure(types, ([None, 16], [None, 3]))",
                "X, Y = iterator.get_next()",
                "train_init, valid_init = iterator.make_initializer(train_set), iterator.make_initializer(valid_set)",
            ],
            "dataset generator": [
                "def examples():",
                f"    for i in range({EXAMPLES}):",
                "        yield data[i], labels[i]",
                "",
                "",
                "shapes = tf.TensorShape([16]), tf.TensorShape([3])",
                "dataset = tf.data.Dataset.from_generator(examples, (tf.float32, tf.float32), shapes)",
                f"iterator = tf.compat.v1.data.make_initializable_iterator(dataset.batch({self.size}).prefetch(1))",
                "X, Y = iterator.get_next()",
            ],
            "dataset handle": [
                "def double(x, y):",
                "    return 2.0 * x, y",
                "",
                "",
                f"train_set = tf.data.Dataset.from_tensor_slices((data, labels)).map(double).batch({self.size})",
                "valid_set = tf.data.Dataset.from_tensor_slices((valid_data, valid_labels)).map(double).batch(8)",
                "train_iterator = tf.compat.v1.data.make_initializable_iterator(train_set)",
                "valid_iterator = tf.compat.v1.data.make_initializable_iterator(valid_set)",
                "handle = tf.placeholder(tf.string, [])",
                "types = tf.compat.v1.data.get_output_types(train_set)",
                "shapes = tf.compat.v1.data.get_output_shapes(train_set)",
                "X, Y = tf.data.Iterator.from_string_handle(handle, types, shapes).get_next()",
            ],
            "queue many": [
                f"X, Y = tf.train.batch([tf.constant(data), tf.constant(labels)], {self.size}, enqueue_many=True)",
            ],
            "queue lines": [
                "np.savetxt('train.csv', np.hstack([data, labels]), delimiter=',', fmt='%.6f')",
                "names = tf.train.string_input_producer(['train.csv'], shuffle=False)",
                "_, line = tf.TextLineReader().read(names)",
                "columns = tf.decode_csv(line, [[0.0]] * 19)",
                f"X, Y = tf.train.batch([tf.stack(columns[:16]), tf.stack(columns[16:])], batch_size={self.size})",
            ],
            "queue": [
                "one_x, one_y = tf.train.slice_input_producer([data, labels], shuffle=False)",
                f"X, Y = tf.train.batch([one_x, one_y], {self.size})",
            ],
            "dataset dict": [
                "dataset = tf.data.Dataset.from_tensor_slices({'x': data, 'y': labels})",
                f"iterator = tf.compat.v1.data.make_initializable_iterator(dataset.batch({self.size}))",
                "features = iterator.get_next()",
                "X, Y = features['x'], features['y']",
            ],
            "dataset records": [
                *RECORDS,
                "def parsed(record):",
                "    found = tf.parse_single_example(record, SPEC)",
                "    return found['x'], found['y']",
                "",
                "",
                f"dataset = tf.data.TFRecordDataset('train.records').map(parsed).batch({self.size})",
                "iterator = tf.compat.v1.data.make_initializable_iterator(dataset)",
                "X, Y = iterator.get_next()",
            ],
            "dataset examples": [
                *RECORDS,
                f"dataset = tf.data.TFRecordDataset('train.records').batch({self.size})",
                "iterator = tf.compat.v1.data.make_initializable_iterator(dataset)",
                "parsed = tf.parse_example(iterator.get_next(), SPEC)",
                "X, Y = parsed['x'], parsed['y']",
            ],
            "constant arrays": ["X, Y = tf.constant(data), tf.constant(labels)"],
        }.get(self.recipe.inputs, [f"X = tf.placeholder(tf.float32, [{rows}, 16])", f"Y = {labels}"])
        if self.recipe.first == "embedding":
            lines.append(f"W = tf.placeholder(tf.int32, [{rows}, 4])")
        if self.recipe.first == "fed state":
            lines.append(f"S = tf.placeholder(tf.float32, [{rows}, 8])")
        if self.takes_training:
            lines.append("training = tf.placeholder_with_default(False, [])")
        if self.recipe.optimizer == "fed rate":
            lines.append("rate = tf.placeholder(tf.float32, [])")
        if self.recipe.dropout == "placeholder":
            lines.append("keep = tf.placeholder_with_default(1.0, [])")
        return "\n".join(lines) + "\n"

    # -- model -------------------------------------------------------------------------------

    @property
    def takes_training(self) -> bool:
        return self.recipe.norm in ("update ops", "in place", "contrib")

    @property
    def parameters(self) -> list[str]:
        """What the model's function takes."""
        recipe = self.recipe
        found = ["X"] + (["W"] if recipe.first == "embedding" else [])
        found += ["training"] if self.takes_training else []
        found += ["keep"] if recipe.dropout == "placeholder" else []
        found += ["size"] if recipe.first == "zero_state" else []
        flagged = recipe.activation == "elif flag" or "flag" in (recipe.depth, recipe.dropout, recipe.first)
        return found + (["args"] if flagged else [])

    @property
    def arguments(self) -> str:
        return ", ".join(self.size if name == "size" else name for name in self.parameters)

    def model(self) -> str:
        """The model as a function or a class; "" where it stands at the top or is a closure."""
        signature = ", ".join(self.parameters)
        if self.is_class:
            more = not self.cost_takes_flags
            body = self.layers() + "self.logits = logits\n" + ("self.loss = self.cost(Y)\n" if more else "")
            cost = "logits = self.logits\n" + self.cost() + "return loss\n"
            after = f"\n    def cost(self, Y):\n{indent(cost, ' ' * 8)}" if more else ""
            return f"class Net(object):\n    def __init__(self, {signature}, Y):\n{indent(body, ' ' * 8)}{after}"
        if self.recipe.structure in ("function", "file"):
            return f"def net({signature}):\n{indent(self.layers() + 'return logits', '    ')}\n"
        return ""

    @property
    def cost_takes_flags(self) -> bool:
        return self.recipe.decay in ("flag", "function") or self.recipe.loss in ("elif flag", "list")

    def layers(self) -> str:
        """From X to logits."""
        first = self.first()
        if self.recipe.devices == "on cpu":
            first = ["with tf.device('/cpu:0'):", *("    " + line for line in first)]
        lines = [*first, *self.activation(), *self.norm()]
        lines += self.deeper()
        if self.recipe.second != "none":
            lines += [*self.dense(self.recipe.second, "second", 8), "h = tf.tanh(h)"]
        lines += {
            "placeholder": ["h = tf.nn.dropout(h, keep_prob=keep)"],
            "flag": ["if args.drop:", "    h = tf.nn.dropout(h, keep_prob=0.9)"],
        }.get(self.recipe.dropout, [])
        lines += self.dense("dense", "out", CLASSES)
        lines.append("logits = tf.identity(h, name='logits')" if self.recipe.names == "graph names" else "logits = h")
        if self.recipe.names == "scopes":
            return "with tf.variable_scope('net'):\n" + indent("\n".join(lines), "    ") + "\n"
        return "\n".join(lines) + "\n"

    def first(self) -> list[str]:
        """The first layer."""
        kind = self.recipe.first
        if kind == "flag":
            choices = [
                (head, indent("\n".join(_Writer(replace(self.recipe, first=one), 8).first()), "    "))
                for head, one in (
                    ("if args.net == 'dense':", "dense"),
                    ("elif args.net == 'conv':", "conv"),
                    ("else:", "raw"),
                )
            ]
            return [line for head, text in choices for line in (head, *text.splitlines())]
        if kind == "fed state":
            return [
                "cell = tf.nn.rnn_cell.GRUCell(8, kernel_initializer=start)",
                "outputs, h = tf.nn.dynamic_rnn(cell, tf.reshape(X, [-1, 4, 4]), initial_state=S)",
                "last = h",
            ]
        if kind == "conv":
            return [
                "h = tf.reshape(X, [-1, 4, 4, 1])",
                "h = tf.layers.conv2d(h, 4, 3, padding='same', kernel_initializer=start)",
                "h = tf.layers.flatten(h)",
            ]
        if kind in ("rnn", "zero_state"):
            state = ", initial_state=cell.zero_state(size, tf.float32)" if kind == "zero_state" else ""
            return [
                "cell = tf.nn.rnn_cell.GRUCell(8, kernel_initializer=start)",
                f"outputs, h = tf.nn.dynamic_rnn(cell, tf.reshape(X, [-1, 4, 4]), dtype=tf.float32{state})".replace(
                    "size", "size" if self.model_is_called else self.size
                ),
            ]
        if kind == "embedding":
            return [
                "table = tf.get_variable('table', initializer=initial(20, 4))",
                "h = tf.concat([X, tf.reduce_mean(tf.nn.embedding_lookup(table, W), 1)], 1)",
                *self.dense("dense", "first", 8),
            ]
        return ["h = X", *self.dense(kind, "first", 8)]

    @property
    def model_is_called(self) -> bool:
        return self.recipe.structure not in ("top", "main", "builder", "methods")

    def dense(self, kind: str, name: str, units: int) -> list[str]:
        """A fully connected layer from h to h."""
        width = "h.get_shape().as_list()[1]"
        extra = ", regularizer=l2" if self.recipe.decay == "collection" else ""
        kept = [f"tf.add_to_collection('losses', l2({name}_w))"] if self.recipe.decay == "own collection" else []
        if kind == "raw":
            return [
                f"{name}_w = tf.Variable(initial({width}, {units}), name='{name}_w')",
                *kept,
                f"{name}_b = tf.Variable(tf.zeros([{units}]), name='{name}_b')",
                f"h = tf.matmul(h, {name}_w) + {name}_b",
            ]
        if kind == "layers":
            return [f"h = tf.layers.dense(h, {units}, kernel_initializer=start)"]
        if kind == "slim":
            return [
                f"h = tf.contrib.slim.fully_connected(h, {units}, activation_fn=None, scope='{name}',",
                "                                       weights_initializer=start)",
            ]
        return [
            f"{name}_w = tf.get_variable('{name}_w', initializer=initial({width}, {units}){extra})",
            *kept,
            f"{name}_b = tf.get_variable('{name}_b', [{units}], initializer=tf.zeros_initializer())",
            f"h = tf.matmul(h, {name}_w) + {name}_b",
        ]

    def activation(self) -> list[str]:
        """What is applied to the first layer."""
        return {
            "relu": ["h = tf.nn.relu(h)"],
            "elif flag": [
                "if args.act == 'relu':",
                "    h = tf.nn.relu(h)",
                "elif args.act == 'tanh':",
                "    h = tf.tanh(h)",
                "else:",
                "    h = tf.nn.elu(h)",
            ],
            "dict of functions": ["h = ACTIVATIONS['tanh'](h)"],
            "conditional expression": ["nonlinear = True", "h = tf.nn.relu(h) if nonlinear else h"],
        }[self.recipe.activation]

    def norm(self) -> list[str]:
        """Batch normalisation."""
        return {
            "update ops": ["h = tf.layers.batch_normalization(h, training=training)"],
            "in place": [
                "mean, variance = tf.nn.moments(h, [0])",
                "h = (h - mean) / tf.sqrt(variance + 1e-3)",
            ],
            "by hand": [
                "mean, variance = tf.nn.moments(h, [0])",
                "zeros = tf.zeros_initializer()",
                "moving = tf.get_variable('moving', [h.get_shape().as_list()[1]], trainable=False, initializer=zeros)",
                "update = tf.assign(moving, 0.9 * moving + 0.1 * mean)",
                "with tf.control_dependencies([update]):",
                "    h = (h - mean) / tf.sqrt(variance + 1e-3)",
            ],
            "contrib": [
                "h = tf.contrib.layers.batch_norm(h, is_training=training, updates_collections=None, scope='bn')",
            ],
        }.get(self.recipe.norm, [])

    def deeper(self) -> list[str]:
        """Layers in a loop, and what is kept of them."""
        depth = self.recipe.depth
        if depth == "none":
            return []
        if depth == "objects":
            made = "tf.layers.Dense(6, tf.tanh, kernel_initializer=start, name='deep_%d' % i)"
            return [f"stack = [{made} for i in range(2)]", "for layer in stack:", "    h = layer(h)"]
        if depth == "dict of weights":
            sizes = "{'w0': (h.get_shape().as_list()[1], 6), 'w1': (6, 6)}"
            made = "tf.get_variable(name, initializer=initial(rows, columns))"
            return [
                f"sizes = {sizes}",
                f"weights = {{name: {made} for name, (rows, columns) in sorted(sizes.items())}}",
                "h = tf.tanh(tf.matmul(h, weights['w0']))",
                "h = tf.tanh(tf.matmul(h, weights['w1']))",
            ]
        layer = [
            "w = tf.get_variable('deep_%d' % i, initializer=initial(h.get_shape().as_list()[1], 6))",
            "h = tf.tanh(tf.matmul(h, w))",
        ]
        times = "args.layers" if depth == "flag" else "2"
        before = {"list": ["hidden = []"], "dict": ["hidden = {}"]}.get(depth, [])
        kept = {"list": ["hidden.append(h)"], "dict": ["hidden['layer%d' % i] = h"]}.get(depth, [])
        after = {
            "list": ["h = tf.concat(hidden, 1)"],
            "dict": ["h = tf.concat([hidden[k] for k in sorted(hidden)], 1)"],
        }.get(depth, [])
        return [*before, f"for i in range({times}):", *("    " + line for line in layer + kept), *after]

    # -- loss --------------------------------------------------------------------------------

    def cost(self) -> str:
        """From logits and Y to loss."""
        crossed = "tf.nn.softmax_cross_entropy_with_logits_v2(labels=Y, logits=logits)"
        lines = {
            "mean": [f"loss = tf.reduce_mean({crossed})"],
            "labels": [
                "classes = tf.argmax(Y, 1)",
                "loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits))",
            ],
            "squares": ["loss = tf.reduce_mean(tf.square(logits - Y))"],
            "sum": ["loss = 0.1 * tf.reduce_sum(tf.square(logits - Y))"],
            "sum by size": [f"loss = tf.reduce_sum(tf.square(logits - Y)) / {self.size}"],
            "masked": [
                "mask = tf.cast(Y[:, 0] < 0.5, tf.float32)",
                f"each = {crossed}",
                "loss = tf.reduce_sum(each * mask) / tf.reduce_sum(mask)",
            ],
            "weighted": ["loss = tf.losses.softmax_cross_entropy(Y, logits, weights=1.0 + Y[:, 1])"],
            "losses module": ["tf.losses.mean_squared_error(Y, logits)", "loss = tf.losses.get_total_loss()"],
            "elif flag": [
                "if args.loss == 'mean':",
                f"    loss = tf.reduce_mean({crossed})",
                "elif args.loss == 'squares':",
                "    loss = tf.losses.mean_squared_error(Y, logits)",
                "else:",
                "    classes = tf.argmax(Y, 1)",
                "    loss = tf.losses.sparse_softmax_cross_entropy(classes, logits)",
            ],
            "list": [
                "losses = []",
                "for i in range(args.terms):",
                f"    losses.append((i + 1.0) * tf.reduce_mean({crossed}))",
                "loss = tf.add_n(losses)",
            ],
            "two lines": [f"each = {crossed}", "loss = tf.reduce_mean(each)"],
        }[self.recipe.loss]
        return "\n".join([*lines, *self.decay()]) + "\n"

    def decay(self) -> list[str]:
        """Weight decay, in one of the usual styles."""
        terms = ["for v in tf.trainable_variables():", "    decays.append(0.01 * tf.nn.l2_loss(v))"]
        collected = "tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))"
        return {
            "inline": ["loss += 0.01 * tf.nn.l2_loss(tf.trainable_variables()[-2])"],
            "variables": [
                "weights = [v for v in tf.trainable_variables() if '_b' not in v.name]",
                "loss = loss + 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in weights])",
            ],
            "collection": [] if self.recipe.loss == "losses module" else [f"loss = loss + {collected}"],
            "list add_n": ["decays = []", *terms, "loss = loss + tf.add_n(decays)"],
            "list sum": ["decays = []", *terms, "loss = loss + sum(decays)"],
            "flag": ["if args.l2 > 0:", "    loss += args.l2 * tf.nn.l2_loss(tf.trainable_variables()[-2])"],
            "function": [f"loss = {'lib.' * self.is_in_file}decayed(loss, args.l2)"],
            "own collection": ["tf.add_to_collection('losses', loss)", "loss = tf.add_n(tf.get_collection('losses'))"],
        }.get(self.recipe.decay, [])

    # -- the graph's other parts -------------------------------------------------------------

    def build(self) -> str:
        """Model, loss, training step, metrics, summaries, as the structure has them."""
        return self.called() + self.step() + self.watched()

    def called(self) -> str:
        """Model and loss, as the structure has them, and on the device that the script asks for."""
        if self.recipe.devices == "on gpu":
            return "with tf.device('/gpu:0'):\n" + indent(self.placed(), "    ")
        return self.placed()

    def placed(self) -> str:
        """Model, further outputs and loss."""
        structure, outputs = self.recipe.structure, self.outputs()
        place = "lib." * self.is_in_file
        if self.is_class:
            text = f"model = {place}Net({self.arguments}, Y)\nlogits = model.logits\n"
            return text + outputs + (self.cost() if self.cost_takes_flags else "loss = model.loss\n")
        if structure == "closure":
            passed = "size" if self.recipe.first == "zero_state" else ""
            inner = self.layers() + self.cost() + "return logits, loss\n"
            text = f"def forward({passed}):\n{indent(inner, '    ')}\n"
            return text + f"logits, loss = forward({self.size if passed else ''})\n" + outputs
        if structure in ("function", "file"):
            return f"logits = {place}net({self.arguments})\n" + outputs + self.cost()
        return self.layers() + outputs + self.cost()

    def outputs(self) -> str:
        """What is computed beside the logits and read after training."""
        return {
            "list": "heads = []\nfor i in range(2):\n    heads.append(tf.nn.softmax(logits * (i + 1.0)))\n",
            "list by flag": "heads = [tf.nn.softmax(logits * (i + 1.0)) for i in range(args.heads)]\n",
            "dict": "heads = {'soft': tf.nn.softmax(logits), 'best': tf.argmax(logits, 1)}\n",
            "tuple": "heads = tf.nn.top_k(logits, 2)\n",
        }.get(self.recipe.outputs, "")

    def step(self) -> str:
        """The training step."""
        opening = []
        if self.recipe.norm == "update ops":
            opening = ["updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)", "with tf.control_dependencies(updates):"]
        adam = "tf.train.AdamOptimizer(0.01, epsilon=1e-3)"
        steps = {
            "sgd": ["train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)"],
            "adam": [f"train_op = {adam}.minimize(loss)"],
            "momentum decay": [
                "global_step = tf.Variable(0, trainable=False, name='global_step')",
                "rate = tf.train.exponential_decay(0.1, global_step, 3, 0.9)",
                "train_op = tf.train.MomentumOptimizer(rate, 0.9).minimize(loss, global_step=global_step)",
            ],
            "exponential decay": [
                "global_step = tf.train.get_or_create_global_step()",
                f"rate = tf.train.exponential_decay(0.1, global_step, {EXAMPLES} // {self.size}, 0.5, staircase=True)",
                "train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=global_step)",
            ],
            "clipped": [
                "optimizer = tf.train.GradientDescentOptimizer(0.1)",
                "grads, variables = zip(*optimizer.compute_gradients(loss))",
                "grads, _ = tf.clip_by_global_norm(grads, 0.5)",
                "train_op = optimizer.apply_gradients(zip(grads, variables))",
            ],
            "tf.gradients": [
                "variables = tf.trainable_variables()",
                "grads = tf.gradients(loss, variables, gate_gradients=True)",
                f"train_op = {adam}.apply_gradients(zip(grads, variables))",
            ],
            "two": [
                "variables = tf.trainable_variables()",
                "one = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=variables[:-1])",
                "other = tf.train.GradientDescentOptimizer(0.05).minimize(loss, var_list=variables[-1:])",
                "train_op = tf.group(one, other)",
            ],
            "two losses": [
                "variables = tf.trainable_variables()",
                "side = tf.reduce_mean(tf.abs(logits))",
                "train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, var_list=variables[:-1])",
                f"side_op = {adam}.minimize(side, var_list=variables[-1:])",
            ],
            "elif flag": [
                "if args.opt == 'sgd':",
                "    optimizer = tf.train.GradientDescentOptimizer(0.1)",
                "elif args.opt == 'adam':",
                f"    optimizer = {adam}",
                "else:",
                "    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)",
                "train_op = optimizer.minimize(loss)",
            ],
            "fed rate": ["train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss)"],
            "dict": [OPTIMIZERS.strip(), "train_op = OPTIMIZERS['adam'].minimize(loss)"],
        }[self.recipe.optimizer]
        if not opening:
            return "\n".join(steps) + "\n"
        return "\n".join([*opening, *("    " + line for line in steps)]) + "\n"

    def watched(self) -> str:
        """Metrics and summaries."""
        lines = {
            "accuracy": [
                "right = tf.equal(tf.argmax(logits, 1), tf.argmax(Y, 1))",
                "accuracy = tf.reduce_mean(tf.cast(right, tf.float32))",
            ],
            "confusion": [
                "matrix = tf.math.confusion_matrix(tf.argmax(Y, 1), tf.argmax(logits, 1), num_classes=3)",
                "accuracy = tf.linalg.trace(matrix)",
            ],
            "streaming": [
                "_, accuracy = tf.metrics.accuracy(tf.argmax(Y, 1), tf.argmax(logits, 1))",
            ],
        }.get(self.recipe.metrics, [])
        if self.recipe.summary == "scalars":
            lines += ["tf.summary.scalar('loss', loss)", "merged = tf.summary.merge_all()"]
        return "\n".join(lines) + "\n" if lines else ""

    # -- training ----------------------------------------------------------------------------

    def training(self) -> str:
        """The session: steps, evaluation, the report."""
        monitored = self.recipe.session == "monitored"
        lines = [] if monitored else ["sess.run(tf.global_variables_initializer())"]
        if self.recipe.metrics == "streaming" and not monitored:
            lines.append("sess.run(tf.local_variables_initializer())")
        lines.append("steps = 0")
        lines += self.loop_in_graph() if not self.fed and self.recipe.inputs != "constant arrays" else self.loop_fed()
        lines += self.after()
        before, given = self.config()
        text = "\n".join(lines) + "\n"
        if self.recipe.session == "plain":
            return before + f"sess = tf.Session({given})\n{text}sess.close()\n"
        if self.recipe.session == "interactive":
            return before + f"sess = tf.InteractiveSession({given})\n{text}"
        opening = f"with tf.{'train.MonitoredTraining' if monitored else ''}Session({given}) as sess:\n"
        if self.recipe.session == "function":
            return f"def train(sess):\n{indent(text, '    ')}\n\n{before}{opening}    train(sess)\n"
        return before + opening + indent(text, "    ")

    def config(self) -> tuple[str, str]:
        """Lines for the session's settings, and what the session is given."""
        return {
            "growth": ("settings = tf.ConfigProto()\nsettings.gpu_options.allow_growth = True\n", "config=settings"),
            "visible list": (
                "options = tf.GPUOptions(visible_device_list='0')\n",
                "config=tf.ConfigProto(gpu_options=options)",
            ),
            "on gpu": ("", "config=tf.ConfigProto(allow_soft_placement=True)"),
        }.get(self.recipe.devices, ("", ""))

    def run(self, feed: str) -> list[str]:
        """One training step."""
        fetches = ["train_op", "loss"]
        fetches += ["accuracy"] if self.recipe.metrics in ("accuracy", "confusion", "streaming") else []
        fetches += ["merged"] if self.recipe.summary == "scalars" else []
        fetches += ["last"] if self.recipe.first == "fed state" else []
        asked = f"sess.run([{', '.join(fetches)}]{', ' + feed if feed else ''})"
        if self.recipe.metrics == "print in run":
            more = [f"sess.run(side_op, {feed})"] if self.recipe.optimizer == "two losses" else []
            return [f"print('loss %.3f' % {asked}[1])", *more, "steps += 1", *self.last_step()]
        more = [f"sess.run(side_op, {feed})"] if self.recipe.optimizer == "two losses" else []
        more += ["state = got[-1]"] if self.recipe.first == "fed state" else []
        return [f"got = {asked}", *more, "steps += 1", *self.last_step()]

    def last_step(self) -> list[str]:
        """Where the script stops after a number of steps."""
        return ["if steps >= 4:", "    break"] if self.recipe.stop == "steps" else []

    def each_epoch(self) -> list[str]:
        """Behind the steps of an epoch: evaluation, and whether to go on."""
        feed, lines = self.feed("valid_data", "valid_labels", "valid_words", False), []
        if self.recipe.evaluation == "each epoch":
            lines.append(f"print('valid %.3f' % sess.run(loss, {feed}))")
        if self.recipe.stop in ("patience", "best"):
            lines += [f"score = sess.run(loss, {feed})", "if score < best - 1e-3:", "    best, waited = score, 0"]
        if self.recipe.stop == "patience":
            lines += ["else:", "    waited += 1", "if waited > 0:", "    break"]
        return lines

    def feed(self, x: str, y: str, w: str, train: bool) -> str:
        """A feed_dict."""
        pairs = [f"X: {x}", f"Y: {y}"] if self.fed else []
        pairs += [f"W: {w}"] if self.recipe.first == "embedding" else []
        pairs += ["S: state"] if self.recipe.first == "fed state" else []
        pairs += ["handle: chosen"] if self.recipe.inputs == "dataset handle" else []
        pairs += ["rate: 0.1 / (1.0 + 0.2 * steps)"] if train and self.recipe.optimizer == "fed rate" else []
        if train and self.takes_training:
            pairs.append("training: True")
        if train and self.recipe.dropout == "placeholder":
            pairs.append("keep: 0.8")
        return "{" + ", ".join(pairs) + "}" if pairs else ""

    @property
    def epochs(self) -> str:
        return {"attribute": "config.epochs", "dict": "params['epochs']"}.get(self.recipe.size, "2")

    def loop_fed(self) -> list[str]:
        """Steps on what the host feeds."""
        before = ["best, waited = 1e9, 0"] if self.recipe.stop in ("patience", "best") else []
        if self.recipe.host != "slices":
            step = self.run(self.feed(*host.PARTS, True))
            return before + host.loop(self.recipe.host, self.size, self.epochs, step, self.each_epoch())
        return before + self.loop_sliced()

    def loop_sliced(self) -> list[str]:
        """The same where the loop itself cuts the arrays."""
        size = self.size
        if self.recipe.inputs == "constant arrays":
            return ["for step in range(6):", *("    " + line for line in self.run(self.feed("", "", "", True)))]
        if self.recipe.loop == "draws":
            run = self.run(self.feed("data[rows]", "labels[rows]", "words[rows]", True))
            first = [f"state = np.zeros(({size}, 8), 'float32')"] if self.recipe.first == "fed state" else []
            return [
                *first,
                "for step in range(9):",
                f"    rows = rng.choice({EXAMPLES}, {size})",
                *("    " + line for line in run),
            ]
        rows = f"i:i + {size}"
        at = f"order[{rows}]" if self.recipe.loop == "shuffled" else rows
        inner = self.run(self.feed(f"data[{at}]", f"labels[{at}]", f"words[{at}]", True))
        head = [f"for i in range(0, len(data), {size}):"]
        if self.recipe.loop == "epochs":
            head = [f"for b in range(len(data) // {size}):", f"    i = b * {size}"]
        if self.recipe.loop == "shuffled":
            head = ["order = rng.permutation(len(data))", *head]
        body = [*head, *("    " + line for line in inner)]
        body += self.each_epoch()
        return [f"for epoch in range({self.epochs}):", *("    " + line for line in body)]

    def loop_in_graph(self) -> list[str]:
        """Steps on what the graph reads."""
        run = self.run(self.feed("", "", "", True))
        if self.recipe.inputs == "dataset":
            return [f"for step in range(2 * {EXAMPLES} // {self.size}):", *("    " + line for line in run)]
        if self.recipe.inputs.startswith("queue"):
            return [
                "coord = tf.train.Coordinator()",
                "threads = tf.train.start_queue_runners(sess, coord)",
                "for step in range(6):",
                *("    " + line for line in run),
                "coord.request_stop()",
                "coord.join(threads)",
            ]
        begin = "sess.run(iterator.initializer, {all_x: data, all_y: labels})"
        if self.recipe.inputs == "dataset reinitializable":
            begin = "sess.run(train_init)"
        if self.recipe.inputs in ("dataset generator", "dataset dict", "dataset records", "dataset examples"):
            begin = "sess.run(iterator.initializer)"
        if self.recipe.inputs == "dataset handle":
            begin = "sess.run(train_iterator.initializer)"
        loop = [
            f"for epoch in range({self.epochs}):",
            f"    {begin}",
            "    while True:",
            "        try:",
            *("            " + line for line in run),
            "        except tf.errors.OutOfRangeError:",
            "            break",
        ]
        if self.recipe.inputs == "dataset reinitializable":
            loop += ["sess.run(valid_init)", "print('RESULT valid %.5f' % sess.run(loss))"]
        if self.recipe.inputs == "dataset handle":
            feed = self.feed("", "", "", False)
            loop = ["chosen = sess.run(train_iterator.string_handle())", *loop]
            loop += ["chosen = sess.run(valid_iterator.string_handle())", "sess.run(valid_iterator.initializer)"]
            loop.append(f"print('RESULT valid %.5f' % sess.run(loss, {feed}))")
        return loop

    def in_batches(self, x: str, y: str, w: str) -> list[str]:
        """The loss of all examples, evaluated batch by batch."""
        rows = f"i:i + {self.size}"
        feed = self.feed(f"{x}[{rows}]", f"{y}[{rows}]", f"{w}[{rows}]", False)
        return [
            "total = 0.0",
            f"for i in range(0, len({x}), {self.size}):",
            f"    total += sess.run(loss, {feed}) * len({x}[{rows}])",
            f"print('RESULT evaluated %.5f' % (total / len({x})))",
        ]

    def after(self) -> list[str]:
        """Evaluation and the report."""
        lines = []
        if self.recipe.evaluation in ("whole", "each epoch"):
            feed = self.feed("valid_data", "valid_labels", "valid_words", False)
            lines.append(f"print('RESULT valid %.5f' % sess.run(loss, {feed}))")
        if self.recipe.evaluation == "batches" and self.is_mean and self.recipe.inputs != "fed fixed":
            lines += self.in_batches("data", "labels", "words")
        if self.recipe.companion != "none":
            lines.append(f"tf.train.Saver().save(sess, '{CHECKPOINT}')")
        if self.recipe.evaluation == "batch":
            at = f":{self.size}"
            feed = self.feed(f"data[{at}]", f"labels[{at}]", f"words[{at}]", False)
            lines.append(f"print('valid %.3f' % sess.run(loss, {feed}))")
        if self.recipe.names == "graph names" and self.fed:
            feed = self.feed("valid_data", "valid_labels", "valid_words", False)
            if self.recipe.inputs != "fed fixed":
                lines.append(f"named = sess.run(tf.get_default_graph().get_tensor_by_name('logits:0'), {feed})")
                lines.append("print('RESULT named %s %.4f' % (named.shape, named.sum()))")
        if self.recipe.stop == "best":
            lines.append("print('RESULT best %.5f' % best)")
        return [
            *lines,
            *self.read_outputs(),
            "for v in sorted(tf.global_variables(), key=lambda v: v.op.name):",
            "    value = sess.run(v)",
            "    print('RESULT %s %.5f %.5f' % (v.op.name, value.sum(), (value.astype('float64') ** 2).sum()))",
            "print('RESULT steps %d' % steps)",
        ]

    def read_outputs(self) -> list[str]:
        """The outputs beside the logits, for the validation set where it may be fed."""
        recipe = self.recipe
        if recipe.outputs == "none" or not self.fed or recipe.inputs == "fed fixed" or recipe.first == "fed state":
            return []
        feed = self.feed("valid_data", "valid_labels", "valid_words", False)
        told = "print('RESULT head%d %s %.4f' % (i, head.shape, head.sum()))"
        if recipe.outputs == "dict":
            return [
                f"found = sess.run(heads, {feed})",
                "for i, head in enumerate(found[key] for key in sorted(found)):",
                f"    {told}",
            ]
        return [f"for i, head in enumerate(sess.run(heads, {feed})):", f"    {told}"]


def _joined(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _names(text: str, context: type[ast.expr_context]) -> set[str]:
    """Names that a text binds, or reads."""
    return {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name) and isinstance(n.ctx, context)}


def _used(text: str) -> set[str]:
    """Names that a text reads and does not bind."""
    return _names(text, ast.Load) - _names(text, ast.Store)


def _of(text: str, names: set[str], owner: str) -> str:
    """A text that reads and binds names as attributes of an object."""

    class Owned(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return ast.Attribute(ast.Name(owner), node.id, node.ctx) if node.id in names else node

    return ast.unparse(Owned().visit(ast.parse(text))) + "\n"
