"""The script is nested too deeply."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG017",
        title="the script is nested too deeply",
        why="Expressions and statements that hold each other are followed level by level: a chain of a thousand elif "
        "is a thousand conditions inside each other, and so is a chain of method calls or a sum of a thousand terms. "
        "Chains that no edit takes apart may be as long as Python itself reads. A statement that is taken apart may "
        "have a few hundred levels; write a longer chain as a loop, a dict or a list.",
        before="""\
# A chain of a thousand branches around the training step
if kind == 0:
    train_op = optimizer_0.minimize(loss)
elif kind == 1:
    train_op = optimizer_1.minimize(loss)
""",
        after="""\
train_op = optimizers[kind].minimize(loss)
""",
    ),
    Rule(
        code="TMG019",
        title="the script is too long",
        why="What a script does is followed line by line, in memory. Scripts of more than 50,000 lines are refused at "
        "once, before they are read any further: they are mostly data or generated code. --max-lines N sets another "
        "limit, for scripts, for folders and in the arguments of hooks. Each line takes a fraction of a millisecond.",
    ),
)
