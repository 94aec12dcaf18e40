"""Values that branches choose among, where a loop joins one with itself at every turn."""

from __future__ import annotations

from converter.analysis.flow.joined import choices, leaves, left_out
from converter.analysis.values import Absent, Batch, Input, Tensor, Value

ROWS = Batch("example")


def joined(value: Value, other: Value, turns: int) -> Tensor:
    """What a name holds that each of so many turns may set to a value again."""
    for _ in range(turns):
        value = Tensor(ROWS, (value, Tensor(ROWS, (value, other), None, "join")), None, "join")
    assert isinstance(value, Tensor)
    return value


def test_joined_at_every_turn() -> None:
    one, two = Input(ROWS, (), None, "placeholder"), Input(ROWS, (), None, "placeholder")
    assert leaves(joined(one, two, 60)) == [one, two]


def test_one_that_is_no_input() -> None:
    one, loss = Input(ROWS, (), None, "placeholder"), Tensor(ROWS, (), None, "add")
    both = joined(one, loss, 60)
    assert leaves(both) == [both] and leaves(loss) == [loss] and leaves(one) == [one]


def test_choices_of_a_loss() -> None:
    one, two = Tensor(ROWS, (), None, "add"), Tensor(ROWS, (), None, "mul")
    assert choices(joined(one, two, 60)) == [one, two] and choices(one) == [one]
    assert choices(Tensor(ROWS, (two, Absent()), None, "join")) == [two]


def test_what_a_branch_leaves_out() -> None:
    one = Tensor(ROWS, (), None, "add")
    assert left_out(joined(one, Absent(), 60)) == (True, False, False)
    assert left_out(joined(one, one, 60)) == (False, False, False)
