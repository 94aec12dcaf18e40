"""An undo log: values of attributes, items and global names, and contents of lists, before a branch changed them."""

from __future__ import annotations

from converter.analysis.values import Class, Frame, Instance, Mapping, Sequence, Typed, Value
from converter.dataclass import dataclass


@dataclass(frozen=True)
class StateChange:
    """A change of an attribute, of an item, or of a name of another frame, with the value before it; None for none.

    Of a list the change is of its contents, as a list; its key is "".
    """

    holder: Instance | Class | Mapping | Sequence | Typed | Frame
    key: Value | str
    old: Value | None

    def get(self) -> Value | None:
        """The current value."""
        if isinstance(self.holder, Sequence):
            return self.holder.copy()
        if isinstance(self.holder, Mapping):
            return self.holder.get(self.key) if isinstance(self.key, Value) else None
        return self._attributes().get(str(self.key))

    def _attributes(self) -> dict[str, Value]:
        assert not isinstance(self.holder, (Mapping, Sequence))
        if isinstance(self.holder, Frame):
            return self.holder.locals
        return self.holder.state if isinstance(self.holder, Typed) else self.holder.attributes

    def put(self, value: Value | None) -> None:
        """Lets it stand for a value, or for nothing."""
        if isinstance(self.holder, Sequence):
            assert isinstance(value, Sequence)
            self.holder.take(value)
        elif isinstance(self.holder, Mapping):
            assert isinstance(self.key, Value)
            if value is None:
                self.holder.drop(self.key)
            else:
                self.holder.set(self.key, value)
        elif value is None:
            self._attributes().pop(str(self.key), None)
        else:
            self._attributes()[str(self.key)] = value

    def same_place(self, other: StateChange) -> bool:
        """Whether two changes are of one attribute or item."""
        return self.holder is other.holder and _same(self.key, other.key)


UndoLog = list[StateChange]
Changes = list[tuple[StateChange, Value | None]]  # with what each place stood for in the end


def take_back(log: UndoLog, since: int, frame: Frame) -> Changes:
    """Undoes the changes since a mark; gives the first change of each place, with the last value of that place.

    frame: the one that is executed: whoever asks keeps its names.
    """
    first: Changes = []
    for change in log[since:]:
        if change.holder is not frame and not any(c.same_place(change) for c, _ in first):
            first.append((change, change.get()))
    for change, _ in first:
        change.put(change.old)
    return first


def _same(one: Value | str, two: Value | str) -> bool:
    if isinstance(one, str) or isinstance(two, str):
        return one == two
    return one is two or getattr(one, "value", one) == getattr(two, "value", two)
