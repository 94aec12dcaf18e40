"""Rows for the tables of calls in rules/calls: what a call gives, where that needs no handler of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.values import Batch, Constant, Host, Lengths, Sequence, Tensor, Typed, Value
from converter.dataclass import dataclass

Names = str | Iterable[str]  # a text holds names between spaces


def table(*rows: tuple[Names, Handler]) -> dict[str, Handler]:
    """The handler of each call, from rows of the names that share one.

    Raises:
        ValueError: a name stands in two rows.
    """
    found: dict[str, Handler] = {}
    for names, handler in rows:
        for name in _each(names):
            if name in found:
                raise ValueError(f"registered twice: {name}")
            found[name] = handler
    return found


def below(modules: Names, names: Names) -> list[str]:
    """The full names of functions that each of these modules has: `below("nn. contrib.rnn.", "relu tanh")`."""
    last = [*_each(names)]
    return [module + name for module in _each(modules) for name in last]


def _each(names: Names) -> Iterable[str]:
    return names.split() if isinstance(names, str) else names


@dataclass(frozen=True)
class Makes:
    """A call that gives an object of a type; effect, about: what else it does, and of what that is noted."""

    kind: str
    effect: EffectKind | None
    about: str

    def __call__(self, call: Call) -> Typed:
        """The object."""
        _note(call, self.effect, self.about)
        return call.typed(self.kind)


def makes(kind: str, effect: EffectKind | None = None, about: str = "{}") -> Makes:
    """The call gives an object of this type."""
    return Makes(kind, effect, about)


def unbatched(lengths: Lengths = None, op: str = "", effect: EffectKind | None = None, about: str = "{}") -> Handler:
    """The call gives a tensor of these lengths that depends on no batch, made by `op` (default: the call's name)."""

    def made(call: Call) -> Value:
        _note(call, effect, about)
        return Tensor(inputs=call.values(), lengths=lengths, op=op or call.name)

    return made


def keeps(
    *names: str,
    at: int = 0,
    batch: Callable[[Tensor, str], Batch] | None = None,
    lengths: Lengths | Callable[[Tensor], Lengths] = lambda tensor: tensor.lengths,
    op: str = "",
    effect: EffectKind | None = None,
) -> Handler:
    """The call gives a tensor with the batch and the lengths of the argument that stands at `at` or has such a name.

    batch: gives the batch of the result, from the argument and the call's name. lengths: those of the result, or what
    gives them from the argument. op: what makes the result (default: the call's name).
    """

    def kept(call: Call) -> Value:
        tensor = call.tensor(at, *names)
        _note(call, effect, "{}")
        layout = tensor.batch if batch is None else batch(tensor, call.name)
        measured = lengths(tensor) if callable(lengths) else lengths
        return Tensor(layout, call.values(), measured, op or call.name)

    return kept


def rank_alone(tensor: Tensor) -> Lengths:
    """As many axes as a tensor has, of any lengths."""
    return None if tensor.dims is None else (None,) * len(tensor.dims)


def one_more(tensor: Tensor) -> Lengths:
    """The lengths of a tensor that are known as numbers, and a last axis of any length."""
    return None if tensor.dims is None else (*tensor.dims, None)


def first_axis(tensor: Tensor, name: str) -> Batch:
    """The batch of a result whose first axis is that of the examples, wherever that of the argument is."""
    return Batch("example", 0) if tensor.batch.kind == "example" else tensor.batch


def together(*rows: Handler) -> Handler:
    """The call gives a tuple of what these rows say."""
    return lambda call: Sequence([row(call) for row in rows])


def on_host(call: Call) -> Value:
    """The call adds nothing to the graph: its result is Python's."""
    return Host(call.values(), call.name, call.node)


def nothing(call: Call) -> Value:
    """The call returns None."""
    return Constant(None)


def itself(call: Call) -> Value:
    """The method returns the object that it is called on."""
    return call.receiver if call.receiver is not None else Host()


def _note(call: Call, effect: EffectKind | None, about: str) -> None:
    """Notes an effect of the call; about: what it is noted with, the call's name in place of `{}`."""
    if effect is not None:
        call.walk.effect(effect, about.format(call.name), None, call.node)
