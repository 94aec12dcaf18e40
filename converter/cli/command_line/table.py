"""Every command with its arguments and options: the one table that the reader, the help and Typer are made from.

Next to nothing is imported for it: the commands' own code is imported when they run.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from converter.choices import (
    COPY_LIMIT,
    MAX_LINES,
    BatchMode,
    Color,
    Data,
    EvalBatch,
    FewerGpus,
    Helpers,
    LossMode,
    OutputFormat,
    Refused,
    ScaleLr,
    ScaleSteps,
    Shard,
    Target,
    Variables,
    Warnings,
)
from converter.targets.registry import described

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

INTERRUPTED = 128 + 2  # the exit status


class UsageError(ValueError):
    """A command line that cannot be followed, found out before anything was done.

    about: the argument or option that is wrong, None for several that do not go together.
    """

    def __init__(self, message: str, about: str | None = None) -> None:
        super().__init__(message)
        self.about = about


class Problem(NamedTuple):
    """What is wrong with a configuration file; line 0 is the file as a whole."""

    code: str
    path: str
    line: int
    column: int
    message: str
    hint: str = ""


class ConfigurationError(Exception):
    """A configuration that cannot be followed."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(problems[0].message)
        self.problems = problems


class ArgumentRow(NamedTuple):
    """A positional argument. many: it takes all words that are left. optional: it may be left out."""

    name: str
    metavar: str
    help: str
    many: bool = False
    optional: bool = False


class Option(NamedTuple):
    """A flag, and what it takes.

    kind: bool takes nothing, the others one value of this type; many: the option may be given again and again.
    least: the smallest number; choices: the only values.
    panel: the heading that it stands under in the help. rare: whether only --help-all says what it does.
    brief: the help where not all is asked for, "" for the same.
    """

    flags: tuple[str, ...]
    help: str
    kind: type = bool
    metavar: str = ""
    default: str | int | float | None = None
    many: bool = False
    least: float | None = None
    choices: tuple[str, ...] = ()
    panel: str = "Options"
    rare: bool = False
    brief: str = ""

    @property
    def name(self) -> str:
        """The option as a parameter of the command's function: `num_gpus` for `--num-gpus`."""
        return self.flags[0].lstrip("-").replace("-", "_")

    @property
    def usual(self) -> object:
        """Its value where it is not given."""
        return () if self.many else False if self.kind is bool else self.default


class CommandRow(NamedTuple):
    """One command.

    body: `.module:function` in this package; the function's parameters are all names of this row but `color`.
    configured: whether pyproject.toml may say what its options are: then the function gets `layers` in place of the
        options that name the file.
    """

    name: str
    help: str
    body: str
    arguments: tuple[ArgumentRow, ...] = ()
    options: tuple[Option, ...] = ()
    more: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    statuses: str = ""
    configured: bool = False

    @property
    def usual(self) -> dict[str, object]:
        """The values of the parameters that need not be given."""
        held = {option.name: option.usual for option in self.options}
        return held | {argument.name: () for argument in self.arguments if argument.many and argument.optional}

    def run(self, values: Mapping[str, object]) -> int:
        """Runs the command and returns its exit status.

        Raises:
            UsageError: the values do not go together, or one of them is none.
        """
        from converter.cli.terminal import color

        module, function = self.body.split(":")
        body: Callable[..., int] = getattr(import_module(module, __package__), function)
        given: dict[str, Any] = dict(values)
        with color(given.pop(COLOR.name, "auto")):
            return body(**given)


_WHERE, WHAT, _SAYS = "Where it goes", "What is written", "What is said"
_SINGLE = ArgumentRow("single", "SINGLE", "The original script.")
_MULTI = ArgumentRow("multi", "MULTI", "The converted script.")
_SINGLES = ArgumentRow("single", "SINGLE", "The original script, or the folder of the original project.")
_MULTIS = ArgumentRow("multi", "MULTI", "The converted script, or the folder of the converted project.")
_ARGS = ArgumentRow("args", "-- ARGS", "Arguments for both scripts.", many=True, optional=True)
_FORMATS = "How to report on standard output: for programs, GitHub's annotations, code scanning, or a comment."
_PYTHON = "Interpreter with TensorFlow to run the scripts with."


def _text(flags: str, metavar: str, help: str, default: str | None = None, **more: Any) -> Option:
    return Option(tuple(flags.split()), help, str, metavar, default, **more)


def _choice(flag: str, choices: tuple[str, ...], help: str, default: str | None = None, **more: Any) -> Option:
    return Option((flag,), help, str, "|".join(choices), default, choices=choices, **more)


COLOR = _choice(
    "--color",
    get_args(Color),
    "Colour in what is printed; auto: on a terminal, unless NO_COLOR is set.",
    "auto",
    rare=True,
)
# Which configuration is followed.
CONFIG_FLAGS = (
    _text(
        "--config",
        "FILE",
        "The TOML file to follow; default: the nearest pyproject.toml with a table tool.tf-multigpu.",
        rare=True,
    ),
    Option(("--no-config",), "Follow no configuration.", rare=True),
)

CONVERT = CommandRow(
    "convert",
    "Rewrite single-GPU training scripts for several GPUs.",
    "..convert:convert_command",
    arguments=(
        ArgumentRow(
            "sources",
            "SRC",
            "Scripts, folders, or - for standard input; none: pairs of pyproject.toml.",
            many=True,
            optional=True,
        ),
    ),
    options=(
        Option(("--verify",), "Train both on virtual devices first; write only what passes."),
        _text("--html", "FILE", "With --verify: write the proof as a page (extra `report`).", "", rare=True),
        Option(("--network",), "With --verify: let the scripts use the network.", rare=True),
        Option(
            ("--trace",), "If reading a script does not tell enough, run it and use what its calls returned.", rare=True
        ),
        _text("--python", "INTERPRETER", "For --verify and --trace: interpreter with TensorFlow.", rare=True),
        Option(("--skip-non-training",), "Pass over named scripts that train nothing, as in folders.", rare=True),
        Option(
            ("--hook",),
            "As pre-commit runs it: --skip-non-training, and refused scripts pass unless --refused or a configuration "
            "says otherwise.",
            rare=True,
        ),
        _text(
            "--output -o",
            "FILE|DIR|-",
            "The file to write, or the folder (it exists, ends with /, or takes several scripts).",
            panel=_WHERE,
            brief="The file to write, or a folder.",
        ),
        _text(
            "--output-dir",
            "DIR",
            "The folder for a copy of the script's folder, in which it and what changes with it are converted.",
            panel=_WHERE,
            brief="The folder for a converted copy of the script's.",
        ),
        Option(("--in-place",), "Write over the scripts themselves.", panel=_WHERE),
        Option(
            ("--diff",),
            "Write nothing; show a unified diff, as `git apply` takes it.",
            panel=_WHERE,
            brief="Write nothing; show a diff for `git apply`.",
        ),
        Option(
            ("--ignore-all-space", "-w"),
            "With --diff: leave out lines that are only indented.",
            panel=_WHERE,
            rare=True,
        ),
        Option(
            ("--check",),
            "Write nothing; exit 1 for a converted script that no longer matches its source, and for a named one that "
            "would be converted. With a place to write to: for all that it would get.",
            panel=_WHERE,
            brief="Write nothing; exit 1 for what is not up to date.",
        ),
        Option(
            ("--force",),
            "Write over files that are not from tf-multigpu, or were edited since.",
            panel=_WHERE,
            rare=True,
        ),
        _choice(
            "--data",
            get_args(Data),
            "What happens to folders without code in an output folder.",
            "copy",
            panel=_WHERE,
            rare=True,
        ),
        Option(
            ("--copy-limit",),
            "Largest file that is copied into an output folder.",
            int,
            "MB",
            COPY_LIMIT,
            least=0,
            panel=_WHERE,
            rare=True,
        ),
        _text(
            "--exclude",
            "PATTERN",
            "What to leave out of folders, as in .gitignore. Repeatable.",
            many=True,
            panel=_WHERE,
            rare=True,
        ),
        _text(
            "--num-gpus",
            "N|auto",
            "N: the number of GPUs that the script is written for, a tower for each; auto: the script counts the GPUs "
            "that it sees when it runs.",
            "2",
            panel=WHAT,
            brief="N: how many GPUs; auto: the script counts them.",
        ),
        _choice(
            "--fewer-gpus",
            get_args(FewerGpus),
            "With fewer GPUs than towers: refuse: the script stops; allow: towers share GPUs.",
            "refuse",
            panel=WHAT,
            rare=True,
        ),
        _choice(
            "--batch",
            get_args(BatchMode),
            "per-gpu: each GPU takes the script's batch size, and a step as many times the examples; total: the GPUs "
            "share the script's batch.",
            "per-gpu",
            panel=WHAT,
            brief="The script's batch size: per GPU or in total.",
        ),
        _choice(
            "--loss",
            get_args(LossMode),
            "Whether a loss that is not a mean over the examples is each tower's, averaged, or computed once from the "
            "towers' merged results (as --batch total does).",
            "towers",
            panel=WHAT,
            rare=True,
        ),
        _choice(
            "--variables",
            get_args(Variables),
            "Where the model's variables are kept: cpu: on the CPU; gpu:0: on the first GPU; balanced: spread over the "
            "GPUs; partitioned: large ones cut into a slice for each GPU.",
            "cpu",
            panel=WHAT,
            brief="Which device keeps the variables.",
        ),
        _choice(
            "--target",
            get_args(Target),
            f"What trains on several GPUs ({described()}); auto takes what fits the script.",
            "auto",
            panel=WHAT,
            rare=True,
        ),
        _choice(
            "--helpers",
            get_args(Helpers),
            "Where the helper functions are: in the script, in tower_helpers.py beside it, or in the installed package "
            "tf-multigpu-runtime.",
            "inline",
            panel=WHAT,
            rare=True,
        ),
        _choice(
            "--warnings",
            get_args(Warnings),
            "Whether warnings are only reported, or stand as comments above their lines in what is written, too.",
            "report",
            panel=WHAT,
            rare=True,
        ),
        _choice(
            "--shard",
            get_args(Shard),
            "What a worker of --target cluster takes of the data: rows: its part of each batch, which all prepare; "
            "files: the batches of its own part of the files.",
            "rows",
            panel=WHAT,
            rare=True,
        ),
        _choice(
            "--scale-lr",
            get_args(ScaleLr),
            "The learning rate: none: as in the script; linear: times the number of GPUs; sqrt: times its square root.",
            "none",
            panel=WHAT,
            brief="The learning rate's growth with the GPUs.",
        ),
        _choice(
            "--scale-steps",
            get_args(ScaleSteps),
            "Numbers of training steps (loop, schedules, logging, saving). keep: as they are; divide: by the number of "
            "GPUs, so that the script trains on as many examples as before.",
            "keep",
            panel=WHAT,
            rare=True,
        ),
        _choice(
            "--eval-batch",
            get_args(EvalBatch),
            "Batches of evaluations. grow: as large as those of training; script: the script's batch size, where an "
            "evaluation takes its batches apart from training.",
            "grow",
            panel=WHAT,
            rare=True,
        ),
        _text(
            "--gpu-memory",
            "growth|all|FRACTION",
            "The memory that TensorFlow takes of each GPU: growth: as it needs it; all: at once; FRACTION: a part.",
            "growth",
            panel=WHAT,
            rare=True,
        ),
        _text("--shared", "NAME", "An input that each GPU gets whole. Repeatable.", many=True, panel=WHAT, rare=True),
        _text(
            "--batch-axis",
            "NAME=K",
            "An input whose batch axis is K, not 0. Repeatable.",
            many=True,
            panel=WHAT,
            rare=True,
        ),
        _text(
            "--line-length",
            "N",
            "Of added lines; default: the project's setting for black or ruff.",
            panel=WHAT,
            rare=True,
        ),
        Option(("--max-lines",), "Refuse longer scripts at once (TMG019).", int, "N", MAX_LINES, least=1, rare=True),
        Option(
            ("--jobs", "-j"),
            "Processes to convert several scripts in; default: one for each core.",
            int,
            "N",
            least=1,
            rare=True,
        ),
        Option(("--strict",), "Refuse a conversion that has warnings.", rare=True),
        _choice(
            "--refused",
            get_args(Refused),
            "Whether a refused script fails the run, or is only reported.",
            "fail",
            rare=True,
        ),
        _choice(
            "--output-format",
            get_args(OutputFormat),
            _FORMATS,
            "text",
            panel=_SAYS,
            brief="For programs, CI, a comment.",
        ),
        Option(("--json",), "Short for --output-format json.", panel=_SAYS, rare=True),
        Option(("--quiet", "-q"), "Print only refusals and warnings.", panel=_SAYS),
        Option(("--verbose", "-v"), "Name every file; show tracebacks.", panel=_SAYS),
        Option(
            ("--debug",),
            "Of an internal error, print a report to send, without the script's text.",
            panel=_SAYS,
            rare=True,
        ),
        COLOR._replace(panel=_SAYS),
        *CONFIG_FLAGS,
    ),
    more="One script without -o, --in-place, --diff or --check is converted to standard output.",
    examples=(
        ("tf-multigpu convert train.py -o train_mg.py", "for two GPUs, into a new file"),
        ("tf-multigpu convert train.py --num-gpus auto --diff", "show what would change"),
        ("tf-multigpu convert train.py -o train_mg.py --verify", "write only what trains the same steps"),
        ("tf-multigpu convert train.py --output-dir mg/", "a copy of its folder, in which it is converted"),
        ("tf-multigpu convert project/ -o project_mg/", "a folder; all else is copied"),
        ("tf-multigpu convert --check project/", "do converted files still match their sources?"),
        ("tf-multigpu convert --check", "and all outputs that pyproject.toml names?"),
    ),
    statuses="0 done, 1 would change, 2 refused or bad usage, 3 not verified, 4 internal error.",
    configured=True,
)

VERIFY = CommandRow(
    "verify",
    "Prove a conversion: run both scripts on virtual devices and compare their training steps.",
    "..verify:verify_command",
    (_SINGLES, _MULTIS, _ARGS),
    (
        Option(
            ("--gpus",),
            "Number of towers, or several, as in 2,3: a proof for each; default: what MULTI says, else 2.",
            str,
            "N|N,N",
            brief="Number of towers, or several: 2,3.",
        ),
        Option(
            ("--whole",),
            "As far as --timeout allows: every step, whole runs, one more tower, each choice of the flags.",
            brief="All that can be proved within --timeout.",
        ),
        Option(
            ("--steps",),
            "Training steps to compare; all: to the end, whole runs, too.",
            str,
            "N|all",
            "3",
            brief="Training steps to compare; all: to the end.",
        ),
        Option(("--epochs",), "Epochs that both scripts run by themselves, too.", int, "N", 0, least=0),
        _choice(
            "--batch",
            get_args(BatchMode),
            "per-gpu: SINGLE's batch size is each GPU's; total: the GPUs share it; default: what MULTI's header says.",
        ),
        _text("--python", "INTERPRETER", _PYTHON),
        Option(("--timeout",), "Seconds for the whole verification.", float, "SECONDS", 600.0, least=1),
        Option(
            ("--memory",),
            "Memory that both scripts may take together; default: three quarters of the machine's.",
            float,
            "GIB",
            rare=True,
        ),
        Option(("--each-choice",), "Compare the steps for each choice that SINGLE's flags offer, too."),
        _text(
            "--also",
            "SCRIPT",
            "Run this script in both folders after training, too, and compare what it prints. Repeatable.",
            many=True,
            brief="Run this script after training, too, and compare what it prints.",
        ),
        _text(
            "--data-dir",
            "PATH",
            "Data outside of SINGLE's folder that both scripts read by a relative path: each run gets a copy at the "
            "same place. What they name as ../PATH is found without it. Repeatable.",
            many=True,
            brief="Give both scripts copies of data outside of SINGLE's folder, too.",
        ),
        Option(("--network",), "Let the scripts use the network."),
        _choice(
            "--devices",
            ("cpu", "gpu"),
            "What towers run on: virtual devices of the CPU; or GPUs: as many as there are towers, else logical "
            "devices of the first one. Where TensorFlow finds no GPU, the CPU; the report says which.",
            "cpu",
            brief="What towers run on.",
        ),
        _text("--html", "FILE", "Write the report as a page, too (extra `report`)."),
        _choice("--output-format", get_args(OutputFormat), _FORMATS, "text", brief="For programs, CI, a comment."),
        Option(("--json",), "Short for --output-format json.", rare=True),
        Option(("--quiet", "-q"), "Print only what went wrong."),
        Option(("--verbose", "-v"), "Print every check, the variables and the devices."),
        Option(("--debug",), "Of an internal error, print a report to send, without the scripts' text.", rare=True),
        COLOR,
        *CONFIG_FLAGS,
    ),
    examples=(
        ("tf-multigpu verify train.py train_mg.py", "with the towers that the script has"),
        ("tf-multigpu verify train.py mg.py --gpus 4 -- --lr 0.1", "four towers, with arguments for both scripts"),
    ),
    statuses="0 all checks passed, 2 wrong usage, 3 failed or not comparable, 4 internal error, 130 interrupted.",
    configured=True,
)

PROFILE = CommandRow(
    "profile",
    "Predict what a conversion costs on real GPUs: bytes between devices, work per tower, step times.",
    "..profile:profile_command",
    arguments=(_SINGLE, _MULTI, _ARGS),
    options=(
        _text("--gpus", "N,N,..", "Numbers of towers to run; three tell about all others.", "2,4,8"),
        Option(
            ("--bandwidth",),
            "GB/s of a GPU in one direction, in place of PCIe and NVLink.",
            float,
            "GB/S",
            least=0.001,
        ),
        Option(
            ("--host-bandwidth",),
            "GB/s of the host to all GPUs at once, in one direction.",
            float,
            "GB/S",
            least=0.001,
        ),
        Option(
            ("--tflops",), "10^12 float32 operations a second that a GPU sustains.", float, "NUMBER", 5.0, least=0.001
        ),
        Option(("--latency",), "Microseconds before a transfer begins.", float, "US", 10.0, least=0),
        Option(("--launch",), "Microseconds to start an operation.", float, "US", 5.0, least=0),
        _text("--python", "INTERPRETER", _PYTHON),
        Option(("--timeout",), "Seconds for all runs together.", float, "SECONDS", 600.0, least=1),
        Option(("--json",), "Print the figures as JSON."),
    ),
    more="Bytes and work are measured in one executed step on virtual devices; "
    "times are predicted from the stated machine.",
    examples=(("tf-multigpu profile train.py train_mg.py --gpus 2,4,8", ""),),
    statuses="0 done, 2 wrong usage, 3 a script does not come to a training step, 4 internal error.",
)

CODE = ArgumentRow("code", "CODE", "A code as in diagnostics, such as TMG004.")
LINT = CommandRow(
    "lint",
    "Find mistakes in scripts that build towers for several GPUs by themselves.",
    "..lint:lint_command",
    arguments=(ArgumentRow("sources", "SRC", "Scripts, or folders of them.", many=True),),
    options=(
        _text("--exclude", "PATTERN", "What to leave out of folders, as in .gitignore. Repeatable.", many=True),
        _choice("--output-format", get_args(OutputFormat), _FORMATS, "text"),
        Option(("--json",), "Short for --output-format json."),
        Option(("--quiet", "-q"), "Print only what is found."),
        COLOR,
    ),
    more="Nothing is converted and nothing is run. A comment suppresses a finding: # tf-multigpu: ignore[TMG408].",
    examples=(("tf-multigpu lint train_multi_gpu.py", ""), ("tf-multigpu lint . --output-format github", "in CI")),
    statuses="0 nothing found, 1 something found, 2 a file that cannot be read.",
)

RESTARTS = 3  # of a cluster whose process was killed, unless --restarts says another number
LAUNCH = CommandRow(
    "launch",
    "Start all workers of a script that was converted with --target cluster, or print a command for each host.",
    "..launch:launch_command",
    arguments=(
        ArgumentRow("script", "SCRIPT", "The converted script."),
        ArgumentRow("args", "ARGS", "Its arguments.", True, True),
    ),
    options=(
        _text("--local", "N", "Run N workers here, each on a GPU of its own, or on the CPU where there is none."),
        _text("--hosts", "HOSTS", "Print the command for each worker: a,b or a:2222,a:2223,b:2222."),
        Option(
            ("--restarts",),
            f"With --local: how often to start again after a process was killed; default: {RESTARTS}.",
            int,
            "N",
            least=0,
        ),
        Option(
            ("--timeout",), "With --local: seconds for the whole training; 0: no limit.", float, "SECONDS", 0.0, least=0
        ),
        _text("--python", "INTERPRETER", "Interpreter with TensorFlow; default: the tool's own."),
    ),
    more="The workers' lines are shown with their names in front. When one fails all are ended.",
    examples=(("tf-multigpu launch --local 4 -- train_mg.py", ""),),
    statuses="0 trained to the end, 1 a task failed or the time is up, 2 bad usage, 130 interrupted.",
)

EXPLAIN = CommandRow(
    "explain",
    "Explain a rule or a diagnostic: what it does, why, and an example before and after.",
    "..explain:explain_command",
    (CODE,),
    (COLOR,),
    examples=(("tf-multigpu explain TMG004", ""),),
)

RULES = CommandRow(
    "rules",
    "List every rule and diagnostic with its code and title.",
    "..rules:rules_command",
    options=(Option(("--json",), "Print all that is known of them as JSON."), COLOR),
    examples=(("tf-multigpu rules --json", ""),),
)

CONFIG = CommandRow(
    "config",
    "Show which options are in force, and where each comes from.",
    "..config.show:config_command",
    (
        ArgumentRow(
            "paths",
            "PATH",
            "Scripts or folders; default: this folder. For a script its overrides and comments count too.",
            many=True,
            optional=True,
        ),
    ),
    (Option(("--json",), "Print it as JSON."), *CONFIG_FLAGS),
    examples=(("tf-multigpu config", "for this folder"), ("tf-multigpu config train.py --json", "for one script")),
    statuses="0 done; 2 the configuration cannot be followed.",
    configured=True,
)

COMPLETION = "_TF_MULTIGPU_COMPLETE"  # set by the shell that asks Typer how a command line may go on

COMMANDS = {command.name: command for command in (CONVERT, VERIFY, PROFILE, LINT, LAUNCH, EXPLAIN, RULES, CONFIG)}

HELP = Option(("--help", "-h"), "Show this message and exit.")
HELP_ALL = Option(("--help-all",), "Explain all options.")
VERSION = Option(("--version",), "Print the version and exit.")

# The program without a command; the two in the middle are Typer's own.
PROGRAM = CommandRow(
    "",
    "Rewrites single-GPU TensorFlow 1.x training scripts for several GPUs.",
    "",
    options=(
        VERSION,
        Option(("--install-completion",), "Install completion for the current shell."),
        Option(
            ("--show-completion",), "Show completion for the current shell, to copy it or customize the installation."
        ),
    ),
    examples=(("tf-multigpu convert train.py -o train_mg.py --verify", ""),),
    statuses="0 done, 1 would change, 2 refused or bad usage, 3 not verified, 4 internal error.",
)
