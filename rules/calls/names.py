"""The names of TensorFlow: under any import style, and in any version, one name for each function."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from converter.analysis.library import Naming

# Modules of tensorflow.python.ops whose functions stand in tf itself, under the same names (checked on 1.15).
OPS = (
    "array_ops check_ops clip_ops control_flow_ops data_flow_ops functional_ops gradients gradients_impl init_ops "
    "linalg_ops logging_ops map_fn math_ops parsing_ops random_ops script_ops sparse_ops state_ops tensor_array_ops "
    "variable_scope"
).split()

# Modules of tensorflow.python.layers whose functions and classes are those of tf.layers (checked on 1.15).
LAYERS = "convolutional core layers normalization pooling".split()

# Modules of tf.contrib.seq2seq and tf.contrib.rnn whose functions and classes these have themselves (checked on 1.15).
SEQ2SEQ = "attention_wrapper basic_decoder beam_search_decoder decoder helper loss".split()
FUSED = "fused_rnn_cell gru_ops lstm_ops".split()

# Modules of tensorflow.python.debug.wrappers whose classes tensorflow.python.debug has itself (checked on 1.15).
DEBUGGERS = "dumping_wrapper grpc_wrapper local_cli_wrapper".split()

# Modules that stand for others: the longest match is replaced.
ALIASES = {
    "compat.v1.": "",
    "_api.v1.": "",
    "python.framework.ops.": "",
    "python.keras.": "keras.",
    "contrib.keras.api.keras.": "keras.",
    "contrib.keras.": "keras.",
    "python.ops.rnn_cell.": "nn.rnn_cell.",
    "python.ops.rnn_cell_impl.": "nn.rnn_cell.",
    "python.ops.rnn.": "nn.",
    "python.ops.nn.": "nn.",
    "python.control_flow_ops.": "",
    "python.ops.embedding_ops.": "nn.",
    "python.ops.nn_ops.": "nn.",
    **{f"python.ops.{module}.": "" for module in OPS},
    **{f"python.layers.{module}.": "layers." for module in LAYERS},
    "python.ops.candidate_sampling_ops.": "nn.",
    "python.ops.ctc_ops.": "nn.",
    "python.ops.image_ops.": "image.",
    "python.ops.losses.losses.": "losses.",
    "python.ops.nn_impl.": "nn.",
    "dtypes.": "",
    "python.platform.flags.": "app.flags.",
    "contrib.rnn.core_rnn_cell.": "contrib.rnn.",  # 1.0 and 1.1
    "contrib.rnn.python.ops.core_rnn_cell.": "contrib.rnn.",
    "contrib.rnn.python.ops.core_rnn_cell_impl.": "contrib.rnn.",
    "contrib.rnn.python.ops.core_rnn.": "contrib.rnn.",
    "contrib.rnn.python.ops.rnn_cell.": "contrib.rnn.",
    "contrib.rnn.python.ops.rnn.": "contrib.rnn.",
    "contrib.layers.python.layers.layers.": "contrib.layers.",
    "contrib.layers.python.layers.initializers.": "contrib.layers.",
    "contrib.layers.python.layers.regularizers.": "contrib.layers.",
    "contrib.layers.python.layers.": "contrib.layers.",
    "contrib.legacy_seq2seq.python.ops.seq2seq.": "contrib.legacy_seq2seq.",
    **{f"contrib.seq2seq.python.ops.{module}.": "contrib.seq2seq." for module in SEQ2SEQ},
    **{f"contrib.rnn.python.ops.{module}.": "contrib.rnn." for module in FUSED},
    "contrib.crf.python.ops.crf.": "contrib.crf.",
    "contrib.learn.python.learn.datasets.": "contrib.learn.datasets.",
    "contrib.learn.python.learn.": "contrib.learn.",
    "contrib.framework.python.ops.arg_scope.": "contrib.framework.",
    "contrib.slim.python.slim.": "contrib.slim.",
    "contrib.slim.layers.": "contrib.slim.",
    "models.rnn.": "nn.",
    "math.": "",
    "debugging.": "",
    "contrib.signal.": "signal.",
    "flags.": "app.flags.",
    "random.": "random_",
    "io.gfile.": "gfile.",
    "python.util.compat.": "compat.",
    **{f"python.debug.wrappers.{module}.": "python.debug." for module in DEBUGGERS},
}

WHOLE = ("compat.v1.", "_api.v1.")  # those of them that have all of TensorFlow 1

# Modules of tensorflow.python.training whose functions and classes tf.train has; a module may be imported as a whole.
TRAINING = (
    "adadelta adagrad adam basic_session_run_hooks checkpoint_management coordinator ftrl gradient_descent input "
    "learning_rate_decay momentum monitored_session moving_averages optimizer queue_runner queue_runner_impl rmsprop "
    "saver session_manager session_run_hook supervisor sync_replicas_optimizer training training_util"
).split()

# Functions of tf.keras.backend that take the first arguments of TensorFlow's function of that name, in their order.
KERAS_BACKEND = (
    "abs cast cos equal exp greater greater_equal less less_equal log maximum minimum not_equal "
    "ones_like pow reshape round sigmoid sign sin sqrt square squeeze stop_gradient tanh zeros_like shape"
).split()

HOOKS = (
    "CheckpointSaverHook FeedFnHook FinalOpsHook GlobalStepWaiterHook LoggingTensorHook NanTensorHook ProfilerHook "
    "SessionRunArgs SessionRunContext SessionRunHook SessionRunValues StepCounterHook StopAtStepHook SummarySaverHook"
).split()

# Functions that TensorFlow 1.15 has under two names: the one in a module of its kind, and the one of the rules.
SAME = {
    "compat.v2.where": "where_v2",
    "contrib.framework.argsort": "argsort",
    "contrib.framework.sort": "sort",
    **{f"estimator.{name}": f"train.{name}" for name in HOOKS},
    "divide_no_nan": "div_no_nan",
    "image.random_crop": "random_crop",
    **{f"keras.backend.{name}": name for name in KERAS_BACKEND},
    **{f"keras.backend.{short}": f"reduce_{short}" for short in "mean sum max min prod std all any".split()},
    **{f"keras.backend.{name}": f"nn.{name}" for name in "relu elu softmax softplus softsign".split()},
    "keras.backend.clip": "clip_by_value",
    "keras.backend.var": "reduce_variance",
    "l2_normalize": "nn.l2_normalize",
    "linalg.einsum": "einsum",
    "linalg.eye": "eye",
    "linalg.global_norm": "global_norm",
    "linalg.l2_normalize": "nn.l2_normalize",
    "linalg.matrix_transpose": "matrix_transpose",
    "linalg.norm": "norm",
    "linalg.tensordot": "tensordot",
    "linalg.transpose": "matrix_transpose",
    "log_softmax": "nn.log_softmax",
    "nn.avg_pool_v2": "nn.pool",
    "nn.max_pool_v2": "nn.pool",
    "softplus": "nn.softplus",
    "softsign": "nn.softsign",
    "strings.as_string": "as_string",
    "strings.regex_replace": "regex_replace",
    "strings.strip": "string_strip",
    "strings.substr": "substr",
    "strings.to_hash_bucket": "string_to_hash_bucket",
    "strings.to_hash_bucket_fast": "string_to_hash_bucket_fast",
    "strings.to_hash_bucket_strong": "string_to_hash_bucket_strong",
    "strings.to_number": "string_to_number",
    "top_k": "nn.top_k",
    "zero_fraction": "nn.zero_fraction",
}


@cache
def canonical(name: str) -> str:
    """The name that the rules use for a function: `add` for `compat.v1.math.add`."""
    if name.startswith("python.training."):  # defined there, one module for each optimizer
        return "train." + name.rpartition(".")[2]
    if name.startswith("train.") and name.count(".") > 1 and name.split(".")[1] in TRAINING:
        return "train." + name.split(".", 2)[2]
    for alias, meaning in ALIASES.items():
        if name.startswith(alias):
            rest = name[len(alias) :]
            return canonical(meaning + rest)
        if name + "." == alias:  # a module; what has only a part of the functions does not stand for the whole
            return meaning.rstrip(".") if meaning != "random_" and (meaning or alias in WHOLE) else name
    return SAME.get(name, name)


def _slim(rest: str) -> str:
    return "contrib.slim" + ("." + rest if rest else "")


def _absl(rest: str) -> str | None:
    return {"flags": "app.flags", "app": "app"}.get(rest)


MODULES: dict[str, Callable[[str], str | None]] = {"tensorflow": canonical, "tf_slim": _slim, "absl": _absl}
DISTRIBUTING = ("horovod", "byteps", "tensorpack")  # libraries that spread training over GPUs by themselves
LOADING = ("tensorpack.dataflow.", "tensorpack.utils.")  # what of them loads data

TAKE_SHAPES = frozenset(
    "placeholder placeholder_with_default reshape zeros ones fill tile slice random_normal random_uniform "
    "truncated_normal broadcast_to".split()
)
TAKE_COUNTS = frozenset("batch padded_batch shuffle_batch zero_state range".split())
NAMING = Naming(
    library="tf",
    modules=MODULES,
    canonical=canonical,
    distributing=DISTRIBUTING,
    loading=LOADING,
    take_shapes=TAKE_SHAPES,
    take_counts=TAKE_COUNTS,
)
