"""Small scripts, and what the engine makes of them."""

from __future__ import annotations

import textwrap
from pathlib import Path

from converter.analysis import read_facts
from converter.conversion import Conversion
from converter.options import Options
from converter.plan import Loop
from converter.plan.border import Cut
from converter.planner.batch_size.means import settle_means
from converter.planner.cases import Sources, Started
from converter.planner.writing.free_names import names_in
from converter.runtime.catalog import catalog
from converter.source import encode, from_bytes, parse, read
from converter.source.header import find_header, relabel
from tests.conversions import conversion_of

INPUTS = """\
import tensorflow as tf

batch_size = 32
X = tf.placeholder(tf.float32, [None, 4])
Y = tf.placeholder(tf.float32, [None, 1])
"""
MODEL = """\
prediction = tf.layers.dense(X, 1)
loss = tf.reduce_mean(tf.square(prediction - Y))
"""
STEP = """\
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
"""
TRAINING = """\
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(100):
        xs, ys = next_batch(batch_size)
        sess.run(train_op, {X: xs, Y: ys})
"""
SCRIPT = INPUTS + MODEL + STEP + TRAINING

# What the loop of such a script has above and below the model's own lines.
ABOVE = [
    "with tf.device(tower_device(gpu)), tf.name_scope('tower_%d' % gpu), \\",
    "tf.variable_scope(tf.get_variable_scope(), reuse=gpu > 0):",
    "(X, Y), rows, weight = shard([X_batch, Y_batch], gpu)",
]
# What it has around the loop for whoever reads it, whatever the script.
TOLD = ["check_gpus()", "# Each GPU computes its share of the batch.", "# From here on: the whole batch."]
BELOW = ["tower_grads.append(optimizer.compute_gradients(loss * weight))", "tower_loss.append(loss * weight)"]


def run(script: str, **options: object) -> Conversion:
    """The conversion of a script, indented as it may be in a test."""
    options.setdefault("line_length", 100)
    return conversion_of(from_bytes("train.py", textwrap.dedent(script).encode()), Options(**options))


def converted(script: str, **options: object) -> str:
    """The converted script; it must be converted."""
    conversion = run(script, **options)
    assert conversion.status == "converted", conversion.diagnostics
    assert conversion.text is not None
    return conversion.text


def body(script: str, **options: object) -> list[str]:
    """The lines of the converted script below its helpers, without blank ones."""
    _, _, below = converted(script, **options).partition("# tf-multigpu: end of helpers\n")
    return [line for line in below.splitlines() if line.strip()]


def as_written_by(command: str, golden: Path) -> bytes:
    """A golden, as it is where another command of the same options makes it; that one is named up to the options."""
    file = read(str(golden))
    header = find_header(file.text)
    assert header is not None and " convert single.py -o multi.py " in header.command
    options = header.command.partition(" -o multi.py ")[2]
    width = 100 if header.width else 0  # of fixtures/pyproject.toml: lines tell only how long they have become
    text = relabel(file.text, header.source, command=f"tf-multigpu convert {command} {options}", width=width)
    return encode(file, text)


def parts(script: str, **options: object) -> tuple[list[str], list[str], list[str]]:
    """What stands before the loop, in it, and after it; stripped lines, without those that each loop has."""
    lines = [line for line in body(script, **options) if line.strip() not in TOLD]
    loop = next(
        i for i, line in enumerate(lines) if line.lstrip().startswith(("for gpu in range", "for tower in range"))
    )
    depth = len(lines[loop]) - len(lines[loop].lstrip())
    end = next(
        i for i in range(loop + 1, len(lines) + 1) if i == len(lines) or len(lines[i]) - len(lines[i].lstrip()) <= depth
    )
    before, inside, after = lines[:loop], lines[loop + 1 : end], lines[end:]
    return tuple([line.strip() for line in part] for part in (before, inside, after))


def codes(script: str, **options: object) -> list[str]:
    """The codes of what was found, in order."""
    return [finding.code for finding in run(script, **options).diagnostics]


def case_of(script: str) -> Started:
    """A script as the planner's first pass gets it."""
    source = from_bytes("train.py", textwrap.dedent(script).encode())
    options = Options(line_length=100)
    sources = Sources(
        read=lambda path: source.text,
        several=False,
        taken=lambda module, define: False,
        users=lambda paths: (),
        mention=lambda paths, names: False,
    )
    facts = settle_means(read_facts(source.path, parse(source), options, {}))
    return Started(facts, options, sources, names_in(*facts.walked.values()))


def loops(script: str, **options: object) -> tuple[Loop, ...]:
    """The loops of the plan of a script, which must be converted."""
    conversion = run(script, **options)
    assert conversion.plan is not None, conversion.diagnostics
    return conversion.plan.loops


def inputs_cut(script: str, **options: object) -> list[tuple[str, ...]]:
    """What the towers read inputs by: those that are cut together in one tuple."""
    shards = [shard for loop in loops(script, **options) for shard in loop.border.shards]
    return [tuple(one.place for one in shard.inputs) for shard in shards if isinstance(shard, Cut)]


def merged(script: str, **options: object) -> list[str]:
    """What leaves the towers, as the script writes it, in the order of the plan."""
    return [merge.place for loop in loops(script, **options) for merge in loop.border.merges]


def guarded(script: str, **options: object) -> dict[str, str]:
    """For each value that only some branches make and that leaves the towers: the condition that it has been made."""
    return {
        merge.place: merge.guard.test
        for loop in loops(script, **options)
        for merge in loop.border.merges
        if merge.guard
    }


def helpers(script: str, **options: object) -> set[str]:
    """The helpers that a script carries for what its plan does, without those that these need."""
    conversion = run(script, **options)
    assert conversion.plan is not None, conversion.diagnostics
    carried = {name for name, _ in conversion.plan.helpers}
    return carried - {needed for name in carried for needed in catalog()[name].needs}
