"""The choices of a command line, as the text of a script tells them."""

from __future__ import annotations

from pathlib import Path

import pytest

from converter.verify.data import ConstantChoice
from converter.verify.runs.constants import set_constants
from converter.verify.runs.flags import choices_of, not_run

ARGPARSE = "import argparse\nparser = argparse.ArgumentParser()\n"
FLAGS = "import tensorflow as tf\nflags = tf.app.flags\nFLAGS = flags.FLAGS\n"
ABSL = "from absl import flags\nFLAGS = flags.FLAGS\n"


def found(folder: Path, text: str, *given: str) -> list[str]:
    (folder / "train.py").write_text(text)
    return [" ".join(choice.args) for choice in choices_of(folder / "train.py", given)]


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        # argparse
        ("parser.add_argument('--opt', default='sgd', choices=['sgd', 'adam', 'rms'])", ["--opt=adam", "--opt=rms"]),
        ("parser.add_argument('-o', '--opt', choices=('a', 'b'))", ["--opt=a", "--opt=b"]),
        ("parser.add_argument('--opt', type=int, default=1, choices=range(3))", []),  # not told by the text
        ("KINDS = ['a', 'b']\nparser.add_argument('--kind', default='a', choices=KINDS)", ["--kind=b"]),
        (
            "KINDS = {'a': 1, 'b': 2}\nparser.add_argument('--kind', default='a', choices=sorted(KINDS.keys()))",
            ["--kind=b"],
        ),
        ("parser.add_argument('--bn', action='store_true')", ["--bn"]),
        ("parser.add_argument('--no_bn', dest='bn', action='store_false')", ["--no_bn"]),
        ("parser.add_argument('--bn', action=argparse.BooleanOptionalAction, default=True)", ["--no-bn"]),
        ("parser.add_argument('--bn', type=bool, default=True)", ["--bn="]),
        ("parser.add_argument('--bn', type=bool, default=False)", ["--bn=True"]),
        ("parser.add_argument('--bn', type=str2bool, default=True)", ["--bn=False"]),
        ("parser.add_argument('--rate', type=float, default=0.1)", []),
        ("parser.add_argument('folder')", []),
        ("parser.add_argument('kind', choices=['a', 'b'])", []),  # the run needs it anyway
        ("parser.add_argument('--num_gpus', type=int, default=2, choices=[1, 2])", []),
        ("parser.add_argument('--steps', action='append')", []),
        # branches
        (
            "parser.add_argument('--opt', default='sgd')\nif args.opt == 'adam' or args.opt.lower() == 'rms': pass",
            ["--opt=adam", "--opt=rms"],
        ),
        ("parser.add_argument('--opt', default='sgd')\nif args['opt'] in ['sgd', 'adam']: pass", ["--opt=adam"]),
        ("parser.add_argument('--opt', default='sgd')\nif 'adam' in args.opt: pass", []),
        (
            "parser.add_argument('--opt', default='sgd')\ndef build(opt):\n    return 1 if opt != 'adam' else 2",
            ["--opt=adam"],
        ),
        ("parser.add_argument('--opt', default='sgd')\nother = 1\nif other == 'adam': pass", []),
        ("parser.add_argument('--opt', default='sgd')\nopt = 'x'\nif opt == 'adam': pass", []),
        ("parser.add_argument('--opt', default='sgd')\nopt = args.opt\nif opt == 'adam': pass", ["--opt=adam"]),
        ("parser.add_argument('--opt', default='sgd')\nif args.opt == 3: pass", []),
        ("parser.add_argument('--depth', type=int, default=2)\nif args.depth == 4: pass", ["--depth=4"]),
        ("parser.add_argument('--depth', type=int, default=2)\nif args.depth > 2: pass", ["--depth=3"]),
        ("parser.add_argument('--depth', type=int, default=3)\nif args.depth > 2: pass", ["--depth=2"]),
        ("parser.add_argument('--depth', type=int, default=2)\nif args.depth >= 2: pass", ["--depth=1"]),
        ("parser.add_argument('--depth', type=int, default=1)\nif 2 <= args.depth: pass", ["--depth=2"]),
        ("parser.add_argument('--depth', type=int, default=1)\nif 2 < args.depth: pass", ["--depth=3"]),
        ("parser.add_argument('--keep', type=float, default=0.5)\nif args.keep < 1.0: pass", ["--keep=1.0"]),
    ],
)
def test_argparse(tmp_path: Path, text: str, choices: list[str]) -> None:
    assert found(tmp_path, ARGPARSE + text) == choices


@pytest.mark.parametrize("head", [FLAGS, ABSL])
@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("flags.DEFINE_boolean('bn', True, 'help')", ["--nobn"]),
        ("flags.DEFINE_bool('bn', False, 'help')", ["--bn"]),
        ("flags.DEFINE_bool('bn', bool(1), 'help')", ["--bn", "--nobn"]),
        ("flags.DEFINE_bool(name='bn', default=True, help='help')", ["--nobn"]),
        ("flags.DEFINE_enum('opt', 'a', ['a', 'b'], 'help')", ["--opt=b"]),
        ("flags.DEFINE_string('opt', 'a', 'help')", []),
        ("flags.DEFINE_string('opt', 'a', 'help')\nif FLAGS.opt == 'b': pass", ["--opt=b"]),
        ("flags.DEFINE_integer('depth', 1, 'help')\nif FLAGS.depth == 2: pass", ["--depth=2"]),
        ("flags.DEFINE_string('loss', 'log', 'help')\nif FLAGS.loss == 'log': pass", ["--loss=not_log"]),
        ("flags.DEFINE_string('loss', 'log', 'help')\nif FLAGS.loss in ['log', 'mse']: pass", ["--loss=mse"]),
        ("flags.DEFINE_string('load', '', 'help')\nif FLAGS.load != '': pass", []),
        ("flags.DEFINE_integer('depth', 2, 'help')\nif FLAGS.depth == 2: pass", ["--depth=3"]),
        ("flags.DEFINE_enum('opt', 'a', ['a'], 'help')\nif FLAGS.opt == 'a': pass", []),
        ("flags.DEFINE_float('decay', 0.0, 'help')\nif FLAGS.decay > 0: pass", ["--decay=1"]),
        ("flags.DEFINE_list('opt', 'a', 'help')\nif FLAGS.opt == 'b': pass", []),
    ],
)
def test_flags(tmp_path: Path, head: str, text: str, choices: list[str]) -> None:
    assert found(tmp_path, head + text) == choices


def test_modules_of_the_folder_are_read(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "__init__.py").write_text("")
    (tmp_path / "models" / "net.py").write_text("def build(args):\n    return args.kind == 'deep'\n")
    (tmp_path / "options.py").write_text(ARGPARSE + "parser.add_argument('--kind', default='flat')\n")
    (tmp_path / "other.py").write_text(
        "if args.kind == 'never': pass\nparser.add_argument('--unused', action='store_true')"
    )
    assert found(tmp_path, "import options\nfrom models import net\n") == ["--kind=deep"]


def test_what_is_given_is_no_choice(tmp_path: Path) -> None:
    text = (
        ARGPARSE
        + "parser.add_argument('--a', action='store_true')\nparser.add_argument('--b-c', action='store_true')\n"
    )
    assert found(tmp_path, text) == ["--a", "--b-c"]
    assert found(tmp_path, text, "--a") == ["--b-c"]
    assert found(tmp_path, text, "--b-c", "5") == ["--a"]


def test_python_2_is_read_where_it_can_be(tmp_path: Path) -> None:
    assert found(tmp_path, "print 'a'\n") in ([], ["--a"])
    assert found(tmp_path, "def broken(:\n") == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), ["3 other choices, of --opt, --bn, not run (--each-choice, or -- ARGS)"]),
        (("--opt=sgd",), ["1 other choice, of --bn, not run (--each-choice, or -- ARGS)"]),
        (("--opt=sgd", "--bn"), []),
    ],
)
def test_choices_that_were_not_run_are_named(tmp_path: Path, given: tuple[str, ...], said: list[str]) -> None:
    text = "parser.add_argument('--opt', default='sgd', choices=['sgd', 'adam', 'rms'])\n"
    (tmp_path / "train.py").write_text(f"{ARGPARSE}{text}parser.add_argument('--bn', action='store_true')\n")
    assert [entry.detail for entry in not_run(tmp_path / "train.py", given)] == said


def of_modules(folder: Path, settings: str, script: str) -> list[str]:
    (folder / "settings.py").write_text(settings)
    (folder / "train.py").write_text(script)
    return [choice.name for choice in choices_of(folder / "train.py")]


@pytest.mark.parametrize(
    ("settings", "script", "choices"),
    [
        ("KIND = 'a'", "import settings\nif settings.KIND == 'b': pass", ["with settings.KIND = 'b'"]),
        ("KIND = 'a'", "import settings as cfg\nif cfg.KIND in ('a', 'b'): pass", ["with settings.KIND = 'b'"]),
        ("KIND = 'a'", "from settings import KIND\nif KIND == 'b': pass", ["with settings.KIND = 'b'"]),
        ("DEPTH = 2", "import settings\nif settings.DEPTH > 2: pass", ["with settings.DEPTH = 3"]),
        ("NORM = True", "import settings\nx = 1 if settings.NORM else 2", ["with settings.NORM = False"]),
        ("NORM = True", "import settings\nif a and not settings.NORM: pass", ["with settings.NORM = False"]),
        ("NORM = True\ndef f():\n    return 1 if NORM else 2", "import settings", ["with settings.NORM = False"]),
        # no choices: not asked for, not a constant, of another object, of the script itself
        ("KIND = 'a'", "import settings\nprint(settings.KIND)", []),
        ("NORM = True\nNORM = False", "import settings\nif settings.NORM: pass", []),
        ("NORM = bool(1)", "import settings\nif settings.NORM: pass", []),
        ("NORM = True", "import settings\nif args.NORM: pass", []),
        ("", "import settings\nNORM = True\nif NORM: pass", []),
    ],
)
def test_constants_of_modules(tmp_path: Path, settings: str, script: str, choices: list[str]) -> None:
    assert of_modules(tmp_path, settings, script) == choices


def test_a_constant_is_set_in_the_copies(tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text("# KIND = 'a'\nKIND = 'a'  # 'b'\nOTHER = KIND\n")
    (tmp_path / "settings_mg.py").write_text("KIND =  'a'\n")
    set_constants(tmp_path, [ConstantChoice("settings.py", "KIND", "'b'")])
    assert (tmp_path / "settings.py").read_text() == "# KIND = 'a'\nKIND = 'b'  # 'b'\nOTHER = KIND\n"
    assert (tmp_path / "settings_mg.py").read_text() == "KIND =  'b'\n"


@pytest.mark.parametrize(
    ("branch", "together"),
    [
        ("if args.bn and args.deep: pass", ["with --bn --deep"]),
        ("if args.bn:\n    if args.deep: pass", ["with --bn --deep"]),
        ("if args.bn: pass\nif args.deep: pass", []),
        ("if args.bn and other: pass", []),
    ],
)
def test_two_flags_that_meet_in_a_branch(tmp_path: Path, branch: str, together: list[str]) -> None:
    both = "".join(f"parser.add_argument('--{name}', action='store_true')\n" for name in ("bn", "deep"))
    (tmp_path / "train.py").write_text(f"{ARGPARSE}{both}{branch}\n")
    names = [choice.name for choice in choices_of(tmp_path / "train.py")]
    assert names == ["with --bn", "with --deep", *together]
