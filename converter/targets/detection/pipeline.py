"""Changes of a pipeline configuration for N GPUs.

Read in research/object_detection of TensorFlow's models repository, as of TensorFlow 1.13: legacy/trainer.py gives each
clone `batch_size // num_clones` examples, divides each clone's loss by the number of clones, takes regularisation and
the update ops once, and raises an error for several clones with sync_replicas. legacy/train.py never reads its flag
--ps_tasks; the number of parameter servers comes from TF_CONFIG.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.options import Options
from converter.plan.decisions import Decision
from converter.source.header import flags_given
from converter.syntax.changes import Change, applied
from converter.targets.detection.text_proto import Message, Scalar, TextProtoError, parse
from converter.targets.registry import LEAVE_OUT, UNUSED_IN_PIPELINES

BATCH, RATE, HEADER = "TMG156", "TMG157", "TMG009"
DEFAULT_BATCH = 32  # protos/train.proto
# The rates of each kind of schedule (protos/optimizer.proto): those that have a default other than 0, and the others.
_RATES = {
    "constant_learning_rate": (("learning_rate",), ()),
    "exponential_decay_learning_rate": (
        ("initial_learning_rate",),
        ("burnin_learning_rate", "min_learning_rate"),
    ),
    "manual_step_learning_rate": (("initial_learning_rate",), ()),
    "schedule": (("learning_rate",), ()),
    "cosine_decay_learning_rate": (("learning_rate_base", "warmup_learning_rate"), ()),
}
_STEPS = ("num_steps", "decay_steps", "burnin_steps", "step", "total_steps", "warmup_steps", "hold_base_rate_steps")
Trace = tuple[tuple[int, tuple[str, ...]], ...]


@dataclass(frozen=True)
class PipelineEdit:
    """A configuration after its conversion.

    text: "" where a finding is an error. trace: lines of the text with the codes of the rules that changed them.
    """

    text: str
    findings: tuple[Diagnostic, ...]
    decisions: tuple[Decision, ...] = ()
    trace: Trace = ()


@dataclass
class _Config:
    """A configuration with what was found out about it so far."""

    path: str
    text: str
    options: Options
    gpus: int
    findings: list[Diagnostic]
    edits: list[Change]
    decisions: list[Decision]

    def line(self, offset: int) -> int:
        """The line of a character, from one."""
        return self.text.count("\n", 0, offset) + 1

    def refuse(self, offset: int, code: str, message: str, hint: str) -> None:
        """Adds an error at a character."""
        begin = self.text.rfind("\n", 0, offset) + 1
        column = len(self.text[begin:offset].encode("utf-8", "surrogatepass")) + 1
        self.findings.append(Diagnostic(code, self.path, self.line(offset), column, message=message, hint=hint))


def convert_pipeline(
    path: str, text: str, options: Options, header: Callable[[Sequence[Decision]], str]
) -> PipelineEdit:
    """Converts one configuration.

    header: makes the comment that names the tool and the source from what was decided.
    """
    config = _Config(
        path=path, text=text, options=options, gpus=options.num_gpus or 1, findings=[], edits=[], decisions=[]
    )
    _check_options(config)
    try:
        if not config.findings:
            _change(config, parse(text))
    except TextProtoError as error:
        config.refuse(error.offset, "TMG267", f"this is not protobuf's text format: {error}", "correct the file")
    if config.findings:
        order = sorted(config.findings, key=lambda finding: (finding.line, finding.column))
        return PipelineEdit("", tuple(order))
    newline = "\r\n" if "\r\n" in text else "\n"
    head = "".join(line + newline for line in header(config.decisions).split("\n"))
    changed, trace = applied(text, [Change(0, 0, head, HEADER), *config.edits])
    return PipelineEdit(changed, (), tuple(config.decisions), trace)


def _change(config: _Config, top: Message) -> None:
    train = top.message("train_config")
    if train is None:
        config.refuse(0, "TMG267", "the configuration has no train_config",
                      "name the configuration that the training is started with")  # fmt: skip
        return
    version = train.value("fine_tune_checkpoint_version")
    if version is not None and version.text.strip("'\"").upper() in ("V2", "2"):
        config.refuse(version.begin, "TMG272", "this configuration is for TensorFlow 2 and model_main_tf2.py",
                      "that trainer uses all visible GPUs by itself: tf.distribute.MirroredStrategy")  # fmt: skip
        return
    _change_batch(config, train)
    _change_rates(config, train)
    _check_sync(config, train)
    _check_quantisation(config, top)
    _tell_steps(config, train)


def _check_options(config: _Config) -> None:
    """Refuses options that a configuration has no place for."""
    if config.options.num_gpus is None:
        config.refuse(0, "TMG271", "--num-gpus auto has no effect for a configuration, which is not a program",
                      "name a number: --num-gpus 4")  # fmt: skip
    for flag in flags_given(config.options, UNUSED_IN_PIPELINES):
        config.refuse(0, "TMG271", f"{flag} has no effect for a configuration of the Object Detection API",
                      LEAVE_OUT.format(flag=flag))  # fmt: skip


def _change_batch(config: _Config, train: Message) -> None:
    """The batch of the configuration is the one of all clones, so it grows unless the total is to stay."""
    given, gpus, total = train.value("batch_size"), config.gpus, config.options.batch == "total"
    if given is None:
        config.refuse(train.begin, "TMG268", f"train_config has no batch_size: the trainer takes {DEFAULT_BATCH}",
                      f"write it out, `batch_size: {DEFAULT_BATCH}`, or what your GPU has room for")  # fmt: skip
        return
    if not (given.text.isascii() and given.text.isdecimal()) or given.text.startswith("0"):
        config.refuse(given.begin, "TMG268", f"the batch size {given.text} is not a decimal number from 1 up",
                      "write it as one")  # fmt: skip
        return
    size = int(given.text)
    if not total:
        config.edits.append(Change(given.begin, given.end, str(size * gpus), BATCH))
        told = f"{size} becomes {size * gpus}: each of {gpus} GPUs takes {size} (line {config.line(given.begin)})"
    elif size % gpus:
        each = size // gpus
        lost = f"{size - each * gpus} of {size} examples are left out of each step" if each else "which is an error"
        config.refuse(given.begin, "TMG268",
                      f"a batch of {size} cannot be shared by {gpus} GPUs: the trainer gives each {each}, {lost}",
                      f"choose a multiple of {gpus}, or --batch per-gpu")  # fmt: skip
        return
    else:
        told = f"{size} stays: each of {gpus} GPUs takes {size // gpus} (line {config.line(given.begin)})"
    config.decisions.append(Decision("batch", told, f"batch_size {told}"))
    config.decisions.append(Decision("GPUs", "told to the trainer by --num_clones; it never reads its flag --ps_tasks"))


def _change_rates(config: _Config, train: Message) -> None:
    """Multiplies every rate of the schedule where --scale-lr asks for it."""
    how = config.options.scale_lr
    if how == "none":
        config.decisions.append(Decision("learning rate", "unchanged"))
        return
    factor = float(config.gpus) if how == "linear" else math.sqrt(config.gpus)
    optimizer = train.message("optimizer")
    schedules = [one for one in (optimizer.walk() if optimizer else ()) if one.name in _RATES]
    if not schedules:
        config.refuse(train.begin, "TMG273", "no learning rate is found that --scale-lr could change",
                      "write out train_config.optimizer with its learning rate, or leave --scale-lr out")  # fmt: skip
    for schedule in schedules:
        wanted, others = _RATES[schedule.name]
        for name in (*wanted, *others):
            value = schedule.value(name)
            if value is not None:
                _scale(config, value, factor)
            elif name in wanted:
                config.refuse(schedule.begin, "TMG273", f"{schedule.name} does not say its {name}, and takes a default",
                              "write it out, so that --scale-lr can change it")  # fmt: skip
    config.decisions.append(Decision("learning rate", f"times {factor:.6g} ({how})"))


def _scale(config: _Config, value: Scalar, factor: float) -> None:
    try:
        rate = float(value.text.rstrip("fF"))
    except ValueError:
        config.refuse(value.begin, "TMG273", f"the learning rate {value.text} is not a number", "correct it")
        return
    config.edits.append(Change(value.begin, value.end, f"{rate * factor:.9g}", RATE))


def _check_sync(config: _Config, train: Message) -> None:
    sync = train.value("sync_replicas")
    if config.gpus == 1 or sync is None or sync.text.lower() not in ("true", "t", "1"):
        return
    replicas = train.value("replicas_to_aggregate")
    share = f"; batch_size was shared by {replicas.text} replicas, so look at it, too" if replicas else ""
    config.refuse(sync.begin, "TMG269", "with sync_replicas and several clones the trainer ends with a ValueError",
                  f"set it to false: the clones of one machine step together by themselves{share}")  # fmt: skip


def _check_quantisation(config: _Config, top: Message) -> None:
    quantised = top.message("graph_rewriter", "quantization")
    if config.gpus > 1 and quantised is not None:
        config.refuse(quantised.begin, "TMG270",
                      "with several clones the ranges of quantisation are stored as clone_0/…, clone_1/…, where "
                      "evaluation and export do not find them",
                      "train without graph_rewriter on several GPUs, then with it on one, from there")  # fmt: skip


def _tell_steps(config: _Config, train: Message) -> None:
    """Numbers of steps stay, and a step takes more examples: whoever trains has to know."""
    if config.options.batch == "total" or config.gpus == 1:
        return
    named = [
        f"{value.name} {value.text} (line {config.line(value.begin)})"
        for message in train.walk()
        for value in message.values
        if value.name in _STEPS
    ]
    if named:
        told = f"unchanged, and each takes {config.gpus} times the examples: {', '.join(named)}"
        config.decisions.append(Decision("steps", told))
