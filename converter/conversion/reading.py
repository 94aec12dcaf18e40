"""A script and its project as the analysis reads them: facts, and the texts that they are of."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from converter.diagnostics import Diagnostic
from converter.source import encode, from_bytes, parse
from converter.source.project.above import seen_from
from converter.source.viewed import viewed

if TYPE_CHECKING:
    from converter.analysis.facts import Decisions
    from converter.analysis.flow.constants import Constant
    from converter.options import Options
    from converter.planner.towers.global_loss.named_calls import Named
    from converter.planner.writing.source_text import SourceText
    from converter.source import Source
    from converter.source.separated import Separated


class Reading:
    """The facts of a script, and its files by their absolute paths, "" for the script itself.

    originals: what other files are to be read as. named: the files in which calls got names, to be read in
    place of what is written there. constants: those that are read like flags.
    """

    def __init__(
        self,
        source: Source,
        options: Options,
        originals: Mapping[str, bytes],
        named: Mapping[str, tuple[Source, Separated]] | None = None,
        constants: frozenset[Constant] = frozenset(),
    ) -> None:
        from converter.analysis import read_facts
        from converter.analysis.walk import Known
        from converter.planner.batch_size.means import settle_means

        self.options, self.constants = options, constants
        self._source, self._originals = source, originals
        self._before = {path: before for path, (before, _) in (named or {}).items()}
        self.named = {path: after for path, (_, after) in (named or {}).items()}
        self._files = {"": source if "" not in self.named else replace(source, text=self.named[""].text)}
        held = {p: encode(self._before[p], after.text) for p, after in self.named.items() if p}
        self._tree = parse(self._files[""])
        self._held = {**originals, **held}
        before = Known(open=constants, python2=source.python2)
        read = read_facts(source.path, self._tree, options, self._held, before=before)
        self.facts = settle_means(read)

    def again(self, entrances: Decisions) -> None:
        """Walk the script again, with the values of some expressions as inputs."""
        from converter.analysis import read_further
        from converter.planner.batch_size.means import settle_means

        self.facts = settle_means(read_further(self.facts, entrances, self.options))

    def with_constants(self, constants: Iterable[Constant]) -> Reading:
        """The script read with these constants left open, as if they were flags."""
        return Reading(self._source, self.options, self._originals, constants=self.constants.union(constants))

    def file(self, path: str) -> Source:
        """A file with the text that the facts are of."""
        if path not in self._files:
            shown = seen_from(os.path.dirname(self._source.path), path)
            self._files[path] = viewed(from_bytes(shown, self.facts.modules[path].data))
        return self._files[path]

    def original(self, path: str) -> Source:
        """A file as it was, before calls in it got names."""
        return self._source if not path else self._before.get(path) or self.file(path)

    def with_names(self, calls: Sequence[Named]) -> Reading | None:
        """The script with these calls assigned to new names on lines of their own.

        None where a statement shares its lines with another one.
        """
        from converter.planner.writing.free_names import names_in
        from converter.planner.writing.source_text import SourceText
        from converter.source.separated import NamedCall, separated

        names, text = names_in(*self.facts.walked.values()), SourceText(self.facts, lambda path: self.file(path).text)
        found: dict[str, list[NamedCall]] = {}
        for call in calls:
            if not _stands_alone(text, call.stmt):
                return None
            begin, end = text.start(call.call), text.end(call.call)
            path = self.facts.path_of(call.stmt)
            places = (begin.line, begin.column), (end.line, end.column)
            name, names = names.fresh(call.name)
            found.setdefault(path, []).append(NamedCall(*places, call.stmt.lineno, name))
        named = {path: (self.file(path), separated(self.file(path).text, mine)) for path, mine in found.items()}
        return Reading(self._source, self.options, self._originals, named, self.constants)

    def placed(self, findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Diagnostics with their places in the original files."""
        shown = {self.file(path).path: after for path, after in self.named.items()}
        return tuple(_moved(finding, shown.get(finding.path)) for finding in findings)


def _moved(finding: Diagnostic, named: Separated | None) -> Diagnostic:
    if named is None:
        return finding
    line, column = named.place(finding.line, finding.column)
    return replace(finding, line=line, column=column)


def _stands_alone(text: SourceText, stmt: ast.stmt) -> bool:
    """Whether nothing else of the script stands on a statement's lines."""
    begin, end = text.start(stmt), text.end(stmt)
    lines = text.lines(begin.path)
    rest = lines[end.line - 1][end.column :].strip()
    return not lines[begin.line - 1][: begin.column].strip() and (not rest or rest.startswith("#"))
