"""The goldens of the fixtures are what the tool writes today, and change no more of a script than they must."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

from converter.cli.app import main
from converter.conversion import convert
from converter.options import Options
from converter.source import encode, read
from tests import goldens
from tests.conversions import conversion_of
from tests.scripts import as_written_by

ROOT = Path(__file__).resolve().parent.parent
NAMES = sorted(path.parent.name for path in goldens.FIXTURES.glob("*/single.py"))

END = b"# tf-multigpu: end of helpers\n"

# What may be gone from a script, or stand in it otherwise; whole lines, without blanks.
ALLOWED = re.compile(
    r"batch_?size = \d+"  # the batch size, where it is defined
    r"|.*next_batch\(.*"  # and where it is used
    r"|.*range\(.*batch_?size.*|.*// *(\w+\.)?batch_?size.*"
    r"|.*\bFLAGS\.batch_size.*|.*\bbatch_size=\d+.*"
    r"|.*\.(minimize|compute_gradients)\(.*|.*\btf\.gradients\(.*"  # the training step
    r"|(with |return )?(tf|tensorflow)\.Session\(.*|\w+ = tf\.(Interactive)?Session\(.*"  # the session config
    r"|with tf\.Graph\(\)\.as_default\(\), tf\.Session\(\) as sess:"
    r"|\w+\.reuse_variables\(\)",  # the towers have scopes of their own
    re.IGNORECASE,
)


def squeezed(text: str) -> list[str]:
    """Lines as `diff -w` compares them."""
    return ["".join(line.split()) for line in text.splitlines()]


def removed(before: str, after: str) -> list[str]:
    """The lines that `diff -w` shows as removed, stripped."""
    lines = before.splitlines()
    matcher = difflib.SequenceMatcher(None, squeezed(before), squeezed(after), autojunk=False)
    return [
        lines[index].strip()
        for tag, start, end, _, _ in matcher.get_opcodes()
        if tag in ("replace", "delete")
        for index in range(start, end)
    ]


def moved(before: str, after: str) -> list[str]:
    """Removed lines that stand elsewhere: statements that went before the loop or after it."""
    kept = set(squeezed(after))
    return [line for line in removed(before, after) if "".join(line.split()) in kept]


@pytest.fixture(params=NAMES)
def folder(request: pytest.FixtureRequest) -> Path:
    return goldens.FIXTURES / str(request.param)


def test_every_fixture_has_all_its_files() -> None:
    assert len(NAMES) >= 11
    for name in NAMES:
        files = {path.name for path in (goldens.FIXTURES / name).iterdir() if path.suffix in (".py", ".md")}
        assert files == {"single.py", "multi.py", "README.md"}


@pytest.mark.quick_whole
def test_the_golden_is_the_conversion(folder: Path) -> None:
    source = read(str(folder / "single.py"))
    conversion = conversion_of(source, Options(num_gpus=2))
    warnings = goldens.expected(folder, "warnings")
    assert (conversion.status, [finding.code for finding in conversion.diagnostics]) == ("converted", warnings)
    assert conversion.text is not None
    golden = as_written_by("single.py", folder / "multi.py")
    assert encode(source, conversion.text) == golden, "run `make goldens`"


@pytest.mark.one_in(8)
def test_the_command_writes_the_golden(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes((goldens.FIXTURES / "pyproject.toml").read_bytes())
    (tmp_path / "single.py").write_bytes((folder / "single.py").read_bytes())
    assert main(["convert", str(tmp_path / "single.py"), "-o", str(tmp_path / "multi.py")]) == 0
    assert (tmp_path / "multi.py").read_bytes() == (folder / "multi.py").read_bytes()


def test_goldens_are_made_by_one_command() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ngoldens:")[2].partition("\n\n")[0]
    assert 'convert --force "$$single" -o "$${single%single.py}multi.py"' in recipe


def test_no_line_is_removed_but_those_that_must_change(folder: Path) -> None:
    before, after = ((folder / name).read_text(encoding="utf-8") for name in ("single.py", "multi.py"))
    gone = [line for line in removed(before, after) if line and line not in moved(before, after)]
    assert sorted({line for line in gone if not ALLOWED.fullmatch(line)}) == goldens.expected(folder, "changed")


def test_few_lines_are_moved(folder: Path) -> None:
    before, after = ((folder / name).read_text(encoding="utf-8") for name in ("single.py", "multi.py"))
    assert moved(before, after) == goldens.expected(folder, "moved")


def test_converting_a_golden_changes_nothing(folder: Path) -> None:
    conversion = convert(read(str(folder / "multi.py")), Options(num_gpus=2))
    assert (conversion.status, conversion.text) == ("unchanged", None)
    assert [finding.code for finding in conversion.diagnostics] == ["TMG009"]


def test_goldens_have_each_helper_once() -> None:
    helpers, used = goldens.kept(), dict[bytes, bytes]()
    for path in goldens.goldens():
        golden = path.read_bytes()
        assert goldens.shortened(goldens.whole(golden, helpers), used) == golden, f"run `make goldens`: {path}"
    assert used == helpers


def test_a_helper_with_another_text_is_kept_beside_the_first() -> None:
    begin, once = b"# tf-multigpu: helpers for training on several GPUs\n", b"\n\n\n@once\ndef rows():\n    pass\n"
    texts = [
        begin + b"import os\nnum_gpus = 2\n\n\ndef shard():\n    " + body + once + END
        for body in (b"return 1", b"return 2")
    ]
    helpers = dict[bytes, bytes]()
    made = [goldens.shortened(text, helpers) for text in texts]
    assert made[0] == begin + b"import os\nnum_gpus = 2\n\n\n# helper: shard\n# helper: rows\n" + END
    assert made[1] == made[0].replace(b"shard", b"shard (2)")
    assert [goldens.whole(golden, helpers) for golden in made] == texts


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("batch_size = 64", True),
        ("BATCH_SIZE = 64", True),
        ("x, y = data.next_batch(batch_size)", True),
        ("for i in range(0, n, batch_size):", True),
        ("steps = n // FLAGS.batch_size", True),
        ("train_op = tf.train.AdamOptimizer(0.1).minimize(loss)", True),
        ("with tf.Session() as sess:", True),
        ("sess = tf.Session()", True),
        ("sess = tf.InteractiveSession(config=config)", True),
        ("return tf.Session(config=config)", True),
        ("with tf.Graph().as_default(), tf.Session() as sess:", True),
        ("grads_and_vars = optimizer.compute_gradients(loss)", True),
        ("grads = tf.gradients(loss, variables)", True),
        ("def train(images, batch_size=32):", True),
        ("x = images[begin:begin + FLAGS.batch_size]", True),
        ("with tf.Graph().as_default():", False),
        ("grads = optimizer.apply_gradients(grads_and_vars)", False),
        ("def train(images, batch_size):", False),
        ("loss = tf.reduce_mean(x)", False),
        ("sess.run(train_op)", False),
        ("num_steps = 64", False),
        ("logits = net(X)", False),
        ("import tensorflow as tf", False),
        ("for i in range(100):", False),
        ("print(batch_size)", False),
        ("logits = net(X, args.batch_size)", False),
        ("report(loss, args.batch_size)", False),
    ],
)
def test_what_may_change(line: str, allowed: bool) -> None:
    assert bool(ALLOWED.fullmatch(line)) is allowed
