"""What branches add to collections of the graph: of several of which a run takes one, none sees what the others add."""

from __future__ import annotations

from converter.analysis.values import Value


class Collected:
    """The collections while branches are walked one after the other.

    apart: what the branches walked so far have added, with the collections and the places where it stands.
    """

    def __init__(self, collections: dict[object, list[Value]]) -> None:
        self._collections = collections
        self._held = {key: len(values) for key, values in collections.items()}
        self._apart: list[tuple[object, int, list[Value]]] = []

    def next_branch(self) -> None:
        """Takes what a branch has added out, in front of the next branch."""
        for key, values in self._collections.items():
            begin = self._held.get(key, 0)
            if len(values) > begin:
                self._apart.append((key, begin, values[begin:]))
                del values[begin:]

    def join(self) -> None:
        """Puts what all branches have added back, in their order."""
        for key, begin, values in reversed(self._apart):
            self._collections[key][begin:begin] = values
