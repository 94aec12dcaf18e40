"""A call as the rules see it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from converter.analysis.effects import EffectKind
from converter.analysis.reasons import Why
from converter.analysis.tensors.algebra import as_tensor
from converter.analysis.values import Batch, Lengths, Sequence, Tensor, Typed, Value, is_none, opaque
from converter.dataclass import dataclass

if TYPE_CHECKING:
    from converter.analysis.walk import Walk

MOST_PARTS = 64  # tensors that one call gives and that are told apart


@dataclass(frozen=True)
class Call:
    """A call to something that a rule knows.

    name: TensorFlow's own name without its module ("nn.relu"), or "Type.method".
    receiver: the object, for a method.
    """

    walk: Walk
    name: str
    args: list[Value]
    kwargs: dict[str, Value]
    node: ast.Call
    receiver: Value | None

    def get(self, position: int, *names: str) -> Value | None:
        """The argument at a position or under one of its names (they changed over the years)."""
        for name in names:
            if name in self.kwargs:
                return self.kwargs[name]
        return self.args[position] if 0 <= position < len(self.args) else None

    def tensor(self, position: int, *names: str) -> Tensor:
        """An argument as TensorFlow takes it: as a tensor; one without a batch where it is not given."""
        value = self.get(position, *names)
        return as_tensor(value) if value is not None else Tensor()

    def values(self) -> list[Value]:
        """The receiver and all arguments."""
        return [*([self.receiver] if self.receiver is not None else []), *self.args, *self.kwargs.values()]

    def constant(self, position: int, *names: str) -> object:
        """The Python value of an argument, None where it is not known."""
        value = self.get(position, *names)
        return getattr(value, "value", None)

    def parts(self, count: object, part: Callable[[], Tensor]) -> Sequence:
        """The list that a call gives: `count` tensors, or any number if the count is unknown or too large to follow."""
        known = isinstance(count, int) and count <= MOST_PARTS
        return Sequence([part() for _ in range(count if isinstance(count, int) and known else 1)], True, not known)

    def flag(self, position: int, *names: str) -> bool:
        """Whether an argument is known to be true."""
        return bool(self.constant(position, *names))

    def laid_out(self, inputs: Tensor, time_major: bool) -> Batch:
        """The batch of a recurrent net's inputs; notes if the supposed batch axis is that of the steps."""
        if inputs.batch.kind == "example" and inputs.batch.axis and not time_major:
            return opaque(Why.ALONG_BATCH, self.name)
        if not time_major or inputs.batch.kind != "example" or inputs.batch.axis:
            return inputs.batch
        self.walk.effect(EffectKind.TIME_MAJOR, self.name, inputs, self.node)
        return opaque(Why.STEPS)

    def node_of(self, position: int, *names: str) -> ast.expr | None:
        """The expression of an argument in the source."""
        for keyword in self.node.keywords:
            if keyword.arg in names:
                return keyword.value
        return self.node.args[position] if 0 <= position < len(self.node.args) else None

    def gives(self, batch: Batch, lengths: Lengths = None) -> Tensor:
        """A tensor that the call computes from all of its arguments."""
        return Tensor(batch, self.values(), lengths, self.name)

    def typed(self, kind: str) -> Typed:
        """The result of the call as an object of a library, known by its type."""
        return Typed(kind, self.name, self.args, self.kwargs, self.node)

    def given(self, name: str) -> bool:
        """Whether a keyword argument is given, and is not None."""
        return not is_none(self.kwargs.get(name))


Handler = Callable[[Call], Value]
Attribute = Callable[["Walk", Any, ast.AST], Value | None]  # of a tensor or a Typed; None: nothing is known of it
Context = Callable[["Walk", Typed, ast.expr], Callable[[], object]]  # enters a `with` block; gives what leaves it
