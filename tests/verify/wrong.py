"""Wrong conversions, made of right ones by a mutator, with the check that is to see each; and unusual right ones.

A kind of fault is made in three fixtures. Faults of what is fed, and of when something is done, are made around
`Session.run` of the converted script, so that they can be put into any script that feeds its batches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from converter.options import Options

# stands in front of the converted script's own lines; `change` gives what is fed
AROUND = """
import numpy as _np
class _Faulty(object):
    steps, last, busy = 0, {}, False
def _around(original):
    def run(self, fetches, feed_dict=None, *rest, **named):
        if _Faulty.busy:
            return original(self, fetches, feed_dict, *rest, **named)
        flat = fetches if isinstance(fetches, (list, tuple)) else [fetches]
        trains = bool(feed_dict) and any(isinstance(one, tf.Operation) for one in flat)
        rows = lambda cut: {k: cut(v) if _np.ndim(v) else v for k, v in feed_dict.items()}
        _Faulty.steps += trains
        if trains:
            _Faulty.last = dict(feed_dict)
        _Faulty.busy = True
        FAULT
        _Faulty.busy = False
        return original(self, fetches, feed_dict, *rest, **named)
    return run
tf.Session.run = _around(tf.Session.run)
"""
HALF = "rows(lambda v: v[:(len(v) + 1) // 2])"
FEW = "rows(lambda v: v[:len(v) // 3])"
LAST = "max([k for k, v in feed_dict.items() if _np.ndim(v)], key=lambda k: k.name)"  # of the inputs with rows
ROLLED = f"{{k: _np.roll(v, 1, 0) if _np.ndim(v) and k is {LAST} else v for k, v in feed_dict.items()}}"
TRAINED = "{k: _Faulty.last.get(k, v) for k, v in feed_dict.items()}"
SCALARS = (
    "dict([(k, v) for k, v in _Faulty.last.items() if not _np.ndim(v)] + "
    "[(k, v) for k, v in feed_dict.items() if _np.ndim(v) or k not in _Faulty.last])"
)
EVALUATES = "feed_dict and not trains and _Faulty.last"
CONFIG = "config = tf.ConfigProto(allow_soft_placement=True, gpu_options=tf.GPUOptions(allow_growth=True))"


class Kind(NamedTuple):
    """One kind of fault.

    old, new: an expression that is replaced wherever it matches; an empty one puts `new` around Session.run.
    checks: one of these fails. how: "" by default, else "6 steps", "an epoch", "one tower" (for an epoch), "the end",
        "whole".
    left: what the default names under "not checked", and the option that it names there.
    """

    name: str
    fixtures: str
    old: str
    new: str
    checks: tuple[str, ...]
    how: str = ""
    left: tuple[str, str] = ("", "")


class Wrong(NamedTuple):
    """One wrong conversion."""

    kind: str
    fixture: str
    old: str
    new: str
    checks: tuple[str, ...]
    how: str
    left: tuple[str, str]


DATA = ("data",)
TRAINED_ROWS = r"train_images\[index\], train_labels\[index\]|x_train\[rows\]|y_train\[rows\]"
BATCHES = r"range\((0, len\(x_train\)), BATCH_SIZE\)|range\(total_batch\)|range\(n_samples // batch_size\)"
EVALUATION = ("data of evaluations", "data of evaluations, whole run")
EVALUATED = ("fetches", "gradients")
UNEVEN = ("uneven batch", "fewer examples than towers", "gradients")
THREE_TOWERS = ("with 3 towers",)
FEW_STEPS = "logistic_regression decay_per_epoch accumulated_steps"  # short ones that are quick to prove
GPUS = "NUMBER_OF_TOWERS"  # stands for what the script calls it
WEIGHTED = r"((?:loss|cost)) \* weight"
LATE = ("data", "between the steps", "gradients", "whole run", "data, whole run", "an epoch's end")
THREE = "layers_cnn recurrent decay_per_epoch"
FOUR = "layers_cnn recurrent listed_inputs"
KINDS = [
    Kind("a deviation of 30", "weights_dict recurrent autoencoder", r"stddev=0?\.\d+", "stddev=30.",
         ("initial values",)),
    Kind("ones for zeros", "recurrent crf logistic_regression", r"(tf\.)zeros(_initializer\(|\(\[)", r"\1ones\2",
         ("initial values",)),
    Kind("five times the initial weights", "layers_cnn recurrent argparse_main",
         r"sess\.run\(tf\.global_variables_initializer\(\)\)",
         "sess.run(tf.global_variables_initializer()); sess.run([v.assign(v * 5) for v in tf.trainable_variables()])",
         ("initial values",)),
    Kind("fewer variables saved", "argparse_main flags_main graph_dict", r"tf\.train\.Saver\(\)",
         "tf.train.Saver(tf.trainable_variables()[1:])", ("savers",)),
    Kind("saved under other names", "argparse_main flags_main graph_dict", r"tf\.train\.Saver\(\)",
         "tf.train.Saver({'model/' + v.op.name: v for v in tf.global_variables()})", ("savers",)),
    Kind("summary steps doubled", "clipped_gradients optimize_loss train_op_function",
         r"add_summary\(summary, step\)", "add_summary(summary, 2 * step)", ("summaries",)),
    Kind("a printed loss doubled", "layers_cnn recurrent slim_cnn", r"\(step, (train_loss|batch_loss), ",
         r"(step, 2 * \1, ", ("printed values",)),
    Kind("one visible GPU", THREE, re.escape(CONFIG),
         CONFIG + "; config.gpu_options.visible_device_list = '0'", ("session config",)),
    Kind("no soft placement", "layers_cnn recurrent embedding_text", "allow_soft_placement=True",
         "allow_soft_placement=False", ("session config",)),
    Kind("no session config", "layers_cnn recurrent slim_cnn", r"tf\.Session\(config=config\)", "tf.Session()",
         ("session config",)),
    Kind("another seed", "layers_cnn weights_dict masked_sequences", r"RandomState\((\d+)\)|random\.seed\((\d+)\)",
         r"RandomState(1\1\2)", ("seeds", "data", "initial values")),
    Kind("in reverse order", THREE, "", "if trains: feed_dict = rows(lambda v: v[::-1])",
         DATA),
    Kind("each batch twice", "layers_cnn recurrent argparse_main", "",
         "if trains: feed_dict = rows(lambda v: _np.concatenate([v[:len(v) // 2]] * 2))", DATA),
    Kind("labels of other examples", THREE, "", f"if trains: feed_dict = {ROLLED}", DATA),
    Kind("half of the batch", "layers_cnn decay_per_epoch argparse_main", "", f"if trains: feed_dict = {HALF}",
         ("batch", "data")),
    Kind("validation rows in training", "layers_cnn decay_per_epoch", TRAINED_ROWS, "VALIDATION", DATA),
    Kind("validation rows in training", "clipped_gradients", TRAINED_ROWS, "VALIDATION", ("examples, whole run",),
         "an epoch", ("data", "--epochs 1")),  # each batch is drawn anew
    Kind("a part of the evaluation", "layers_cnn slim_cnn", "", f"if {EVALUATES}: feed_dict = {FEW}", EVALUATION),
    Kind("a part of the evaluation", "graph_namedtuple", "", f"if {EVALUATES}: feed_dict = {FEW}", EVALUATION,
         "the end", ("data of evaluations", "--steps all")),
    Kind("the training batch in evaluation", "layers_cnn decay_per_epoch raw_in_functions", "",
         f"if {EVALUATES}: feed_dict = {TRAINED}", EVALUATION, "the end"),
    Kind("a switch for training ignored", "layers_cnn update_ops argparse_main", "",
         f"if {EVALUATES}: feed_dict = {SCALARS}", EVALUATION, "the end"),
    Kind("early stopping", "decay_per_epoch recurrent layers_cnn", "", "if _Faulty.steps > 40: raise SystemExit(0)",
         ("whole run", "after training, whole run"), "the end"),
    Kind("the last batch of an epoch dropped", "moving_averages", BATCHES, "DROPPED",
         ("whole run", "data, whole run", "examples, whole run"), "an epoch"),
    Kind("the last batch of an epoch dropped", "decay_per_epoch", BATCHES, "DROPPED", ("whole run",),
         "one tower", ("an epoch's end", "--epochs 1")),  # less than a batch of two towers
    Kind("the last batch of an epoch dropped", "logistic_regression", BATCHES, "DROPPED", ("whole run",),
         "the end", ("later steps", "all")),  # its batches go on where the last epoch ended
    Kind("other rows from step 4 on", THREE, "",
         f"if trains and _Faulty.steps > 3: feed_dict = {ROLLED}", LATE, "6 steps"),
    Kind("weights changed from step 4 on", THREE, "",
         "if trains and _Faulty.steps > 3: [v.load(1.1 * v.eval(self), self) for v in tf.trainable_variables()]",
         LATE, "6 steps"),
    Kind("initialised again after four steps", THREE, "",
         "if trains and _Faulty.steps == 5: original(self, tf.global_variables_initializer())", LATE, "6 steps"),
    Kind("batch norm always trains", "update_ops step_functions base_model",
         r"training=(?:self\.)?is_training|'is_training': is_training", "BATCH_NORM",
         ("fetches", "writes", "update"), "the end"),
    Kind("dropout in evaluations", "layers_cnn graph_namedtuple weights_dict",
         r"training=is_training\)|tf\.nn\.dropout\(fc1, dropout\)", "DROPOUT", ("fetches",), "the end"),
    Kind("summed gradients", "layers_cnn recurrent listed_inputs", r"compute_gradients\(loss \* weight\)",
         "compute_gradients(loss)", ("gradients",)),
    Kind("all towers on one device", "layers_cnn recurrent listed_inputs", r"tf\.device\(tower_device\(gpu\)\)",
         "tf.device(tower_device(0))", ("placement",)),
    Kind("one tower left out", FOUR, r"zip\(\*tower_grads\)", "zip(*tower_grads[:-1])", ("gradients",)),
    Kind("clipped by each tower", FOUR, r"tower_grads\.append\(optimizer\.compute_gradients\(loss \* weight\)\)",
         "tower_grads.append([(tf.clip_by_norm(g, 1e-3), v) for g, v in optimizer.compute_gradients(loss * weight)])",
         ("gradients",)),
    Kind("weight decay in each tower", FOUR, r"compute_gradients\(loss \* weight\)",
         "compute_gradients(loss * weight + 0.01 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()]))",
         ("gradients",)),
    Kind("one variable left as it is", FOUR, r"sum_gradients\(tower_grads\)(?=[,)])",
         "sum_gradients(tower_grads)[1:]", ("variables", "gradients", "update")),
    Kind("labels of another example within a shard", "layers_cnn logistic_regression weights_dict",
         r"^( *)\((x|X), (y|Y)\), rows, weight = .*$", r"\g<0>; \3 = tf.reverse(\3, [0])", ("gradients",)),
    Kind("the loss of one tower", "layers_cnn recurrent autoencoder", r"= tf\.add_n\(tower_(loss|cost)\b",
         r"= tf.add_n([tower_\1[0] * num_gpus]", ("loss", "fetches")),
    Kind("another memory of the optimizer", "layers_cnn recurrent autoencoder", r"AdamOptimizer\(([^()]*)\)",
         r"AdamOptimizer(\1, beta2=0.9)", ("update",)),
    Kind("the optimizer's memory cleared", "layers_cnn recurrent autoencoder", "",
         "if trains and _Faulty.steps == 2: original(self, tf.variables_initializer("
         "[v for v in tf.global_variables() if 'Adam' in v.name]))", ("between the steps",)),
    Kind("the counter of steps counts twice", "decay_per_epoch clipped_gradients moving_averages", "",
         "if trains and _Faulty.steps > 1: original(self, [v.assign_add(1) for v in tf.global_variables() "
         "if v.dtype.is_integer])", ("between the steps",)),
    Kind("a schedule by twice the steps", "decay_per_epoch train_op_function step_functions",
         r"(exponential_decay\([^,]*), global_step,", r"\1, global_step * 2,", ("update",)),
    Kind("a schedule of another number of steps", "decay_per_epoch train_op_function step_functions",
         r"(exponential_decay\([^,]*, global_step), (\d+|steps_per_epoch)", r"\1, \2 / 5.", ("update",)),
    Kind("dropout the same in all towers", "weights_dict network_class raw_in_functions",
         r"tf\.nn\.dropout\((\w+), ([\w.]+)\)", r"tf.nn.dropout(\1, \2, seed=5)", ("draws of the towers",)),
    Kind("an epoch too many", "decay_per_epoch logistic_regression moving_averages",
         r"range\((EPOCHS|training_epochs|epochs)\)", r"range(\1 + 1)", ("whole run",), "the end",
         ("later steps", "all")),
    Kind("another rate", "decay_per_epoch listed_inputs accumulated_steps", r"Optimizer\((0?\.\d+|rate)",
         r"Optimizer(3 * \1", ("update", "gradients", "fetches")),
    Kind("the results of one tower", "logistic_regression decay_per_epoch weights_dict",
         r"tf\.concat\(tower_(\w+), 0\)", rf"tf.concat([tower_\1[0]] * {GPUS}, 0)", EVALUATED, "the end"),
    Kind("a sum for a mean", "logistic_regression decay_per_epoch listed_inputs",
         r"= tf\.add_n\((tower_(?:loss|cost))\b", rf"= tf.add_n({GPUS} * \1", ("loss", "fetches")),
    Kind("a mean for a sum", "masked_sequences padded_sequences counted_lengths",
         r"tf\.add_n\(tower_counts\)", "tf.add_n(tower_counts) / float(len(tower_counts))",
         ("gradients", "loss", "fetches")),
    Kind("equal weights for unequal shards", FEW_STEPS, WEIGHTED, rf"\1 / float({GPUS})", UNEVEN),
    Kind("the first shard for all towers", "logistic_regression decay_per_epoch weights_dict",
         r"(, weight = shard\(\[[^\]]*\], )gpu\)", r"\g<1>0)", ("gradients",)),
    Kind("the wrong divisor", FEW_STEPS, WEIGHTED, r"\1 * weight / 2.", ("gradients", "loss", "fetches")),
    Kind("only two towers' gradients", "logistic_regression listed_inputs recurrent",
         r"sum_gradients\(tower_grads\)(?=[,)])", "sum_gradients(tower_grads[:2])", THREE_TOWERS, "whole",
         ("other numbers of towers", "--gpus")),
    Kind("only two towers' losses", FEW_STEPS, r"= tf\.add_n\((tower_(?:loss|cost))\b", r"= tf.add_n(\1[:2]",
         THREE_TOWERS, "whole", ("other numbers of towers", "--gpus")),
    Kind("two devices for all towers", FEW_STEPS, r"tf\.device\(tower_device\(gpu\)\)",
         "tf.device(tower_device(gpu % 2))", THREE_TOWERS, "whole", ("other numbers of towers", "--gpus")),
    Kind("a batch for two towers", FEW_STEPS, r"(?i)^(batch_size = \d+) \* num_gpus", r"\1 * 2", THREE_TOWERS, "whole",
         ("other numbers of towers", "--gpus")),
    Kind("weights of two towers", FEW_STEPS, WEIGHTED, rf"\1 * (weight if {GPUS} == 2 else 0.5)", THREE_TOWERS, "whole",
         ("other numbers of towers", "--gpus")),
    Kind("fewer files kept", "argparse_main flags_main graph_dict", r"tf\.train\.Saver\(\)",
         "tf.train.Saver(max_to_keep=1)", ("savers",)),
    Kind("files kept by the hour", "argparse_main flags_main graph_dict", r"tf\.train\.Saver\(\)",
         "tf.train.Saver(keep_checkpoint_every_n_hours=1)", ("savers",)),
    Kind("the rate grows with the towers", "listed_inputs recurrent autoencoder", r"Optimizer\((0?\.\d+|learning_rate)",
         rf"Optimizer({GPUS} * \1", ("update",)),
    Kind("the first batch of an evaluation again and again", "slim_cnn raw_in_functions inference_loss_training", "",
         f"if {EVALUATES}: feed_dict = _Faulty.__dict__.get('first') or setattr(_Faulty, 'first', feed_dict) "
         "or feed_dict", EVALUATION, "the end"),
    Kind("other rows from step 12 on", FEW_STEPS, "",
         f"if trains and _Faulty.steps > 11: feed_dict = {ROLLED}", LATE, "the end", ("later steps", "all")),
    Kind("weights changed from step 12 on", FEW_STEPS, "",
         "if trains and _Faulty.steps > 11: [v.load(1.1 * v.eval(self), self) for v in tf.trainable_variables()]",
         LATE, "the end", ("later steps", "all")),
    Kind("an error after 30 steps", FEW_STEPS, "", "if _Faulty.steps > 30: raise ValueError('late')",
         ("end of the script", "whole run"), "the end", ("later steps", "all")),
    Kind("no seed for the graph", "layers_cnn graph_namedtuple model_by_flag", r"tf\.set_random_seed\(",
         "(lambda seed: None)(", ("seeds",)),
    Kind("a sum for a mean", "running_error", r"= tf\.add_n\(tower_loss\b", rf"= tf.add_n({GPUS} * tower_loss",
         ("fetches",)),
    Kind("the results of one tower", "running_error",
         r"error = (tf\.reduce_mean\(tf\.abs\(guess - y\)), name='error'\)\n(.*\n.*)average\.apply\(\[error\]\)",
         r"error = \1)\nfirst = tf.reduce_mean(tf.abs((guess - y)[:16]), name='error')\n\2average.apply([first])",
         ("update",)),
    Kind("a rest of the noise", "wasserstein_gan gradient_penalty drawn_noise", "",
         "if trains: feed_dict = {k: _np.concatenate([v[:len(v) // 2]] * 2) if _np.ndim(v) and "
         "k.name.lower()[0] in 'zx' else v for k, v in feed_dict.items()}", ("data", "batch")),
]  # fmt: skip


def wrong_conversions() -> Iterator[Wrong]:
    """All of them."""
    for kind in KINDS:
        for fixture in kind.fixtures.split():
            yield Wrong(kind.name, fixture, kind.old, kind.new, kind.checks, kind.how, kind.left)


def spoiled(text: str, wrong: Wrong) -> str:
    """The text of a right conversion with the fault in it."""
    if not wrong.old:
        found = re.search(r"^import tensorflow[^\n]*\n(?:[^\n]*disable_v2[^\n]*\n)?", text, re.M)
        assert found, "the script imports TensorFlow otherwise"
        return text[: found.end()] + AROUND.replace("FAULT", wrong.new) + text[found.end() :]
    towers = re.search(r"for gpu in range\(([\w.]+)\):", text)
    assert towers, "the script has no loop over its towers"
    wrong = wrong._replace(new=wrong.new.replace(GPUS, towers[1]))
    if wrong.new == "DROPPED":
        return re.sub(wrong.old, lambda loop: f"list({loop[0]})[:-1]", text)
    if wrong.new == "BATCH_NORM":
        return re.sub(wrong.old, lambda part: re.sub(r"(self\.)?is_training$", "True", part[0]), text)
    if wrong.new == "DROPOUT":
        return re.sub(wrong.old, lambda part: re.sub(r"\w+\)$", "True)" if "=" in part[0] else "0.75)", part[0]), text)
    if wrong.new == "VALIDATION":
        return re.sub(wrong.old, lambda rows: re.sub(r"(\w*)train(\w*)\[(\w+)\]", r"\1test\2[\3 % 200]", rows[0]), text)
    return re.sub(wrong.old, wrong.new, text, flags=re.M)


class Right(NamedTuple):
    """One right conversion that the tool would not write, or writes only when it is asked for."""

    kind: str
    fixture: str
    old: str
    new: str
    options: Options


FIVE = "layers_cnn recurrent decay_per_epoch listed_inputs embedding_text"
OTHERS = "argparse_main logistic_regression autoencoder step_functions masked_sequences"
UNUSUAL: list[tuple[str, str, str, str, Options]] = [
    ("added in the other order", FIVE, r"zip\(\*tower_grads\)", "zip(*tower_grads[::-1])", Options()),
    ("added by a stack", OTHERS, r"tf\.add_n\((?:grads|\[tf\.convert_to_tensor\(grad\) for grad in grads\])\)",
     "tf.reduce_sum(tf.stack([tf.convert_to_tensor(grad) for grad in grads]), 0)", Options()),
    ("colocated gradients", FIVE, r"compute_gradients\(((?:[^()]|\([^()]*\))+)\)",
     r"compute_gradients(\1, colocate_gradients_with_ops=True)", Options()),
    ("devices by their long names", OTHERS, r"'/gpu:%d'", "'/device:GPU:%d'", Options()),
    ("scopes of another name", FIVE, r"'tower_%d'", "'replica_%d'", Options()),
    ("more in the session's config", OTHERS, re.escape(CONFIG), CONFIG + "; config.inter_op_parallelism_threads = 2",
     Options()),
    ("more is printed", FIVE, r"^( *(?:sess\.run\(tf\.)?(?:tf\.)?global_variables_initializer\(\)(?:\.run\(\)|\)))",
     r"\1; print('it begins', 7)", Options()),
    ("variables on the first GPU", OTHERS, "", "", Options(variables="gpu:0")),
    ("variables balanced", FIVE, "", "", Options(variables="balanced")),
    ("variables in slices", FIVE, "", "", Options(variables="partitioned")),
    ("three towers of a total", FIVE, "", "", Options(num_gpus=3, batch="total")),
    ("four towers, another rate", OTHERS, "", "", Options(num_gpus=4, scale_lr="sqrt")),
]  # fmt: skip


def right_conversions() -> Iterator[Right]:
    """All of them."""
    for kind, fixtures, old, new, options in UNUSUAL:
        for fixture in fixtures.split():
            yield Right(kind, fixture, old, new, options)
