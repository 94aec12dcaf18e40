"""An undo log: values of attributes, items and global names, and contents of lists, before a branch changed them."""

from __future__ import annotations

from collections.abc import Hashable

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

    def place(self) -> tuple[int, object]:
        """What all changes of one attribute or item have in common; items are told apart by what is known of them."""
        known = getattr(self.key, "value", self.key)
        return id(self.holder), known if isinstance(known, Hashable) else id(self.key)


UndoLog = list[StateChange]
Changes = list[tuple[StateChange, Value | None]]  # with what each place stood for in the end


def take_back(log: UndoLog, since: int, frame: Frame) -> Changes:
    """Undoes the changes since a mark; gives the first change of each place, with the last value of that place.

    frame: the one that is executed: whoever asks keeps its names.
    """
    first: dict[tuple[int, object], StateChange] = {}
    for change in log[since:]:
        if change.holder is not frame:
            first.setdefault(change.place(), change)
    left: Changes = [(change, change.get()) for change in first.values()]
    for change, _ in left:
        change.put(change.old)
    return left
