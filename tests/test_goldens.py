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
from tests.conversions import conversion_of
from tests.scripts import as_written_by

ROOT = Path(__file__).resolve().parent.parent
NAMES = sorted(path.parent.name for path in (ROOT / "fixtures").glob("*/single.py"))

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

# The same, where scripts say it in other ways.
ALLOWED_TOO = re.compile(
    r".*'batch_size': \d+.*|batch_size, .* = \d+, .*"  # the batch size, defined with other numbers
    r"|.*\b(next_images|rng\.choice)\(.*\bargs\.batch_size\b.*\)"  # and given to what draws a batch
    r"|with tf\.control_dependencies\(\[(step|step_op|C_step|apply_gradient_op)\]\):"  # and read what it has changed
    r"|train_op = .*\bcreate_train_op\(.*|optimizer='\w+'\)"  # a step that is made by one call
    r"|tf\.summary\.\w+\(\w+\.op\.name.*"  # a name without the tower's scope
    r"|weights = tf\.sequence_mask\(.*|.* = tf\.contrib\.seq2seq\.dynamic_decode\(.*"  # as wide as the whole batch
)

# Statements without a batch in them, between those of the model, go in front of the towers.
MOVED = {
    "shown_values": ["self.alignments = tf.stack(history, 2)"],
    "unpooling": ["self.loss = self.cost()"],  # an early return in front of it is put off until the end of the loop
    "graph_dict": ["rnn_outputs, final_state = tf.nn.dynamic_rnn(stack, x, dtype=tf.float32)"],
    "video_clips": [
        "top_1 = tf.nn.in_top_k(logits, labels, 1)",
        "hits = tf.reduce_sum(tf.cast(top_1, tf.int32))",
        "restorer = tf.train.Saver(var_list=variable_map)",
    ],
    "placeholders_in_model": ["targets = tf.placeholder(tf.int64, [None], name='targets')"],
    "step_in_branch": ["tf.summary.scalar('squares', self.loss)"],
    "averaged_moments": ["update_averages = tf.group(update1, update2)"],
    # here it is the line in front that goes behind the towers, too
    "reused_scope": ["self.fake_score = self.critic(self.upper, self.fake)"],
}
WARNED = {
    "constant_data": ["TMG304"],
    "arrays_in_graph": ["TMG304"],  # each step goes on taking all there is
    "inference_loss_training": ["TMG315", "TMG345"],
    "recurrent": ["TMG345"],
    "crf": ["TMG315"],  # a summary of one tower's share
    "full_batch": ["TMG304"],
    "trained_and_sampled": ["TMG316", "TMG344", "TMG344"],
    "window_producer": ["TMG344"],
    "masked_fixed_batch": ["TMG322"],
    "shown_values": ["TMG393"],  # a ratio over the batch that is printed and summarised
    "running_error": ["TMG301"],
    "moving_averages": ["TMG302"],  # its weights follow the largest error of a tower's share
    "functions_between": ["TMG313"],  # whether a function of NumPy's works row by row
}


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


def may_change(line: str) -> bool:
    """Whether a conversion may take a line away, or write it otherwise."""
    return any(allowed.fullmatch(line) for allowed in (ALLOWED, ALLOWED_TOO))


@pytest.fixture(params=NAMES)
def folder(request: pytest.FixtureRequest) -> Path:
    return ROOT / "fixtures" / str(request.param)


def test_every_fixture_has_all_its_files() -> None:
    assert len(NAMES) >= 11
    for name in NAMES:
        files = {path.name for path in (ROOT / "fixtures" / name).iterdir() if path.suffix in (".py", ".md")}
        assert files == {"single.py", "multi.py", "README.md"}


@pytest.mark.quick_whole
def test_the_golden_is_the_conversion(folder: Path) -> None:
    source = read(str(folder / "single.py"))
    conversion = conversion_of(source, Options(num_gpus=2))
    expected = WARNED.get(folder.name, [])
    assert (conversion.status, [finding.code for finding in conversion.diagnostics]) == ("converted", expected)
    assert conversion.text is not None
    golden = as_written_by("single.py", folder / "multi.py")
    assert encode(source, conversion.text) == golden, "run `make goldens`"


def test_the_command_writes_the_golden(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "fixtures/pyproject.toml").read_bytes())
    (tmp_path / "single.py").write_bytes((folder / "single.py").read_bytes())
    assert main(["convert", str(tmp_path / "single.py"), "-o", str(tmp_path / "multi.py")]) == 0
    assert (tmp_path / "multi.py").read_bytes() == (folder / "multi.py").read_bytes()


def test_goldens_are_made_by_one_command() -> None:
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ngoldens:")[2].partition("\n\n")[0]
    assert 'convert --force "$$single" -o "$${single%single.py}multi.py"' in recipe


def test_no_line_is_removed_but_those_that_must_change(folder: Path) -> None:
    before, after = ((folder / name).read_text(encoding="utf-8") for name in ("single.py", "multi.py"))
    gone = [line for line in removed(before, after) if line and line not in moved(before, after)]
    assert [line for line in gone if not may_change(line)] == []


def test_few_lines_are_moved(folder: Path) -> None:
    before, after = ((folder / name).read_text(encoding="utf-8") for name in ("single.py", "multi.py"))
    assert moved(before, after) == MOVED.get(folder.name, [])


def test_converting_a_golden_changes_nothing(folder: Path) -> None:
    conversion = convert(read(str(folder / "multi.py")), Options(num_gpus=2))
    assert (conversion.status, conversion.text) == ("unchanged", None)
    assert [finding.code for finding in conversion.diagnostics] == ["TMG009"]


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
        ("batch_size, seq_length, epochs = 12, 15, 6", True),
        ("rows = rng.choice(len(x_train), args.batch_size, replace=False)", True),
        ("train_op = slim.learning.create_train_op(total_loss, optimizer)", True),
        ("optimizer='Adam')", True),
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
    assert may_change(line) is allowed
