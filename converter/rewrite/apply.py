"""Applies a plan to a parsed script; everything that the plan does not name stays byte for byte."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from converter.plan import At, Insert, Loop, Plan, Replace
from converter.rewrite.fit import fitted
from converter.rewrite.helper_text import END, helper_text
from converter.rewrite.loop_text import loop_text


def apply(text: str, plan: Plan, header: str, width: int) -> str:
    """The converted text of a script.

    header: the comment line that names the tool and the source, without a newline; "" for none.
    width: the longest line that the tool writes, in characters.
    """
    module = cst.parse_module(text)
    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
    positions = wrapper.resolve(PositionProvider)
    rewriter = _Rewriter(plan, positions, module, width)  # type: ignore[arg-type]
    changed = wrapper.module.visit(rewriter)
    missed = [edit for edit in (*plan.inserts, *plan.replaces) if edit not in rewriter.done]
    if missed:
        raise LookupError(f"edits without a place in the source: {missed}")
    changed = _with_helpers(changed, rewriter.first_user, plan)
    if header:
        changed = _with_header(changed, header)
    return changed.code


class _Rewriter(cst.CSTTransformer):
    """Visits only what holds an edit."""

    def __init__(self, plan: Plan, positions: dict[cst.CSTNode, CodeRange], module: cst.Module, width: int) -> None:
        super().__init__()
        self.plan = plan
        self.positions = positions
        self.module = module
        self.width = width
        self.first_user = len(module.body)  # index of the first top level statement that needs the helpers
        self.replaces = {(r.at, r.end): r for r in plan.replaces}
        self.done: set[Insert | Replace] = set()  # edits that found their place
        self.inserts: dict[At, list[Insert]] = {}
        for insert in plan.inserts:
            self.inserts.setdefault(insert.at, []).append(insert)
        self.split_out: dict[At, list[cst.BaseStatement]] = {
            at: [] for loop in plan.loops for _, inner in (*loop.splits, *loop.behind) for at in inner
        }
        self.moved = {at for loop in plan.loops for at in (*loop.before, *loop.tower, *loop.after)}
        lines = [at[0] for at in self.split_out]
        lines += [r.at[0] for r in plan.replaces] + [i.at[0] for i in plan.inserts]
        lines += [at[0] for at in self.moved]
        lines += [at[0] for run in plan.pinned for at in run]
        self.lines = sorted(set(lines))
        inner = [r.at[0] for r in plan.replaces] + [i.at[0] for i in plan.inserts] + [at[0] for at in self.split_out]
        self.inner = sorted(set(inner))

    def _touched(self, node: cst.CSTNode, lines: list[int] | None = None) -> bool:
        """Whether an edit begins within a node."""
        where = self.positions.get(node)
        if where is None:
            return not isinstance(node, cst.BaseParenthesizableWhitespace)
        lines = self.lines if lines is None else lines
        return bisect_left(lines, where.start.line) < bisect_right(lines, where.end.line)

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Module):
            return True
        whole = isinstance(node, cst.BaseStatement) and self._start(node) in self.moved
        return self._touched(node, self.inner if whole else None)

    def on_leave(self, original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        if isinstance(original, cst.Module):
            body = self._block(original.body, updated.body, 0)  # type: ignore[attr-defined]
            self._note_first(original)
            return updated.with_changes(body=body)
        if isinstance(original, cst.IndentedBlock) and self._touched(original):
            depth = self._depth(original)
            return updated.with_changes(body=self._block(original.body, updated.body, depth))  # type: ignore[attr-defined]
        if isinstance(original, cst.BaseExpression) and self.replaces:
            replace = self.replaces.get(self._span(original))
            if replace is not None:
                self.done.add(replace)
                return _expression(replace, original, self.module)
        return updated

    def _span(self, node: cst.CSTNode) -> tuple[At, At]:
        where = self.positions[node]
        return (where.start.line, where.start.column), (where.end.line, where.end.column)

    def _start(self, node: cst.CSTNode) -> At:
        if isinstance(node, cst.SimpleStatementLine) and node.body:
            node = node.body[0]
        where = self.positions[node]
        return where.start.line, where.start.column

    def _depth(self, block: cst.IndentedBlock) -> int:
        return self._start(block.body[0])[1]

    def _note_first(self, module: cst.Module) -> None:
        for index, stmt in enumerate(module.body):
            if self._touched(stmt) and not isinstance(stmt, (cst.FunctionDef, cst.ClassDef)):
                self.first_user = index
                return

    # -- blocks ------------------------------------------------------------------------------

    def _block(
        self, original: Sequence[cst.BaseStatement], updated: Sequence[cst.BaseStatement], depth: int
    ) -> list[cst.BaseStatement]:
        """A block with its insertions made, its variables pinned and the loop put in."""
        starts = [self._start(stmt) for stmt in original]
        statements: dict[At, list[cst.BaseStatement]] = {}
        for start, stmt in zip(starts, updated, strict=True):
            statements[start] = self._with_inserts(start, stmt, depth)
        order = [s for s in starts if s not in self.split_out]
        for start in starts:
            if start in self.split_out:
                self.split_out[start] = statements[start]
        for loop in self.plan.loops:
            if loop.tower[0] in statements:
                moved = {*loop.before, *loop.tower, *loop.after}
                first = order.index(min(moved))
                rest = [s for s in order[first:] if s not in moved]
                order = [*order[:first], *loop.before, loop.tower[0], *loop.after, *rest]
                statements[loop.tower[0]] = self._loop(loop, statements, depth)
        return self._at_top(starts, self._pinned(order, statements, depth), depth)

    def _at_top(self, starts: Sequence[At], body: list[cst.BaseStatement], depth: int) -> list[cst.BaseStatement]:
        """A block with what belongs to its top: below its docstring."""
        made = [
            s
            for at in starts
            for i in self.inserts.get(at, ())
            if i.where == "top"
            for s in self._parse(i.lines, depth)
        ]
        place = 1 if made and _is_docstring(body[0]) else 0
        return [*body[:place], *made, *body[place:]]

    def _with_inserts(self, start: At, stmt: cst.BaseStatement, depth: int) -> list[cst.BaseStatement]:
        result = [stmt]
        for insert in self.inserts.get(start, ()):
            self.done.add(insert)
            if insert.where == "top":
                continue
            made = self._parse(insert.lines, depth)
            if insert.where == "after":
                result += made
            else:
                index = result.index(stmt)
                head, stmt = _split_leading(stmt, whole=True)
                result[index : index + 1] = [_with_leading(made[0], head), *made[1:], stmt]
        return result

    def _pinned(
        self, order: Sequence[At], statements: dict[At, list[cst.BaseStatement]], depth: int
    ) -> list[cst.BaseStatement]:
        runs = dict(self.plan.pinned)
        device = next((new for old, new in self.plan.helpers if old.startswith("variable_device")), "")
        result: list[cst.BaseStatement] = []
        inside: list[cst.BaseStatement] | None = None
        last: At | None = None
        for at in order:
            if at in runs:
                inside, last = [], runs[at]
            (result if inside is None else inside).extend(statements[at])
            if inside is not None and at == last:
                if depth == 0:
                    inside = [stmt.visit(_BlankLines()) for stmt in inside]  # type: ignore[misc]
                head, inside[0] = _split_leading(inside[0], whole=False)
                (block,) = self._parse((f"with {self.plan.tensorflow}.device({device}):\n    pass",), depth)
                assert isinstance(block, cst.With)
                result.append(_with_leading(block.with_changes(body=cst.IndentedBlock(inside)), head))
                inside = None
        return result

    def _reopened(
        self, parts: tuple[tuple[At, tuple[At, ...]], ...], statements: dict[At, list[cst.BaseStatement]]
    ) -> list[cst.BaseStatement]:
        """The towers' with blocks, opened once more for what of them stays out of the loop."""
        made: list[cst.BaseStatement] = []
        for at, inner in parts:
            scope = next(s for s in statements[at] if isinstance(s, cst.With))
            body = [stmt for child in inner for stmt in self.split_out[child]]
            made.append(scope.with_changes(body=cst.IndentedBlock(body), leading_lines=[]))
        return made

    def _loop(self, loop: Loop, statements: dict[At, list[cst.BaseStatement]], depth: int) -> list[cst.BaseStatement]:
        towers = [s for at in loop.tower for s in statements[at]]
        text = loop_text(self.plan, loop, self.width - depth)
        if depth == 0:
            towers = [stmt.visit(_BlankLines()) for stmt in towers]  # type: ignore[misc]
        head, towers[0] = _split_leading(towers[0], whole=False)
        prelude = self._parse(text.prelude, depth)
        source = f"{text.headers[0]}\n    " + text.headers[1].replace("\n", "\n    " + " " * depth) + "\n        pass\n"
        towered = self._parse((source,), depth, fit=False)[0]
        step = len(self.module.default_indent.expandtabs(4))
        above = self._parse(text.above, depth + 2 * step)
        below = self._parse(text.below, depth + 2 * step)
        towered = _fill(towered, [*above, *towers, *below])
        made = [*self._reopened(loop.splits, statements), *prelude, towered]
        made += [*self._parse(text.epilogue, depth), *self._reopened(loop.behind, statements)]
        return [_with_leading(made[0], head), *made[1:]]

    def _parse(self, lines: Sequence[str], depth: int, fit: bool = True) -> list[cst.BaseStatement]:
        """Statements of the tool's own, no longer than the width allows at their depth."""
        if not lines:
            return []
        source = "\n".join(fitted(line, self.width - depth) if fit else line for line in lines) + "\n"
        return list(_parsed(source, self.module).body)


class _BlankLines(cst.CSTTransformer):
    """Keeps blank lines of the top level blank when they move into a block."""

    def leave_EmptyLine(self, original_node: cst.EmptyLine, updated_node: cst.EmptyLine) -> cst.EmptyLine:
        if updated_node.comment is None and not updated_node.whitespace.value:
            return updated_node.with_changes(indent=False)
        return updated_node


def _parsed(source: str, module: cst.Module) -> cst.Module:
    """Text of the tool's own as a tree, with the line ends of the script inside strings too."""
    return cst.parse_module(source.replace("\n", module.default_newline))


def _expression(replace: Replace, original: cst.BaseExpression, module: cst.Module) -> cst.BaseExpression:
    made = cst.parse_expression(replace.text, config=module.config_for_parsing)
    if original.lpar:
        made = made.with_changes(
            lpar=[*original.lpar, *made.lpar],
            rpar=[*made.rpar, *original.rpar],
        )
    return made


def _fill(loop: cst.BaseStatement, body: list[cst.BaseStatement]) -> cst.BaseStatement:
    """Puts statements into the innermost block of `for …: with …:`."""
    assert isinstance(loop, cst.For) and isinstance(loop.body, cst.IndentedBlock)
    scope = loop.body.body[0]
    assert isinstance(scope, cst.With)
    filled = scope.with_changes(body=cst.IndentedBlock(body))
    return loop.with_changes(body=loop.body.with_changes(body=[filled], indent=None))


def _split_leading(stmt: cst.BaseStatement, whole: bool) -> tuple[list[cst.EmptyLine], cst.BaseStatement]:
    """The blank lines above a statement, and the statement with the comments that belong to it.

    whole: everything above it, comments too, goes to the first part.
    """
    lines = list(getattr(stmt, "leading_lines", ()))
    keep = len(lines)
    if not whole:
        while keep and lines[keep - 1].comment is not None:
            keep -= 1
    return lines[:keep], stmt.with_changes(leading_lines=lines[keep:])


def _with_leading(stmt: cst.BaseStatement, lines: Sequence[cst.EmptyLine]) -> cst.BaseStatement:
    return stmt.with_changes(leading_lines=[*lines, *getattr(stmt, "leading_lines", ())])


# -- helpers and header ----------------------------------------------------------------------------


def _with_helpers(module: cst.Module, first_user: int, plan: Plan) -> cst.Module:
    """The helpers after the imports, before anything that needs them."""
    body: list[cst.BaseStatement] = list(module.body)
    place = 0
    for index, stmt in enumerate(body[:first_user]):
        if _is_import(stmt) or (index == 0 and _is_docstring(stmt)):
            place = index + 1
    text = helper_text(plan, module.default_indent, _imported(module.body))
    block = _parsed(text, module)
    helpers: list[cst.BaseStatement] = list(block.body)
    blank = [cst.EmptyLine(indent=False)] if place else []
    helpers[0] = _with_leading(helpers[0], [*blank, *block.header])
    end = cst.EmptyLine(indent=False, comment=cst.Comment(END))
    if place < len(body):
        following = body[place]
        if place == 0:
            end_lines = [end, cst.EmptyLine(indent=False)]
        else:
            end_lines = [end] if getattr(following, "leading_lines", ()) else [end, cst.EmptyLine(indent=False)]
        body[place] = _with_leading(following, ()).with_changes(
            leading_lines=[*end_lines, *getattr(following, "leading_lines", ())]
        )
        return module.with_changes(body=[*body[:place], *helpers, *body[place:]])
    return module.with_changes(body=[*body, *helpers], footer=[end, *module.footer])


def _is_import(stmt: cst.BaseStatement) -> bool:
    if isinstance(stmt, cst.SimpleStatementLine):
        return any(isinstance(s, (cst.Import, cst.ImportFrom)) for s in stmt.body)
    return isinstance(stmt, cst.Try) and all(_is_import(s) for s in stmt.body.body)  # type: ignore[arg-type]


def _is_docstring(stmt: cst.BaseStatement) -> bool:
    return (
        isinstance(stmt, cst.SimpleStatementLine)
        and isinstance(stmt.body[0], cst.Expr)
        and isinstance(stmt.body[0].value, (cst.SimpleString, cst.ConcatenatedString))
    )


def _imported(body: Sequence[cst.BaseStatement]) -> set[str]:
    """Modules that the script imports under their own names."""
    found = set()
    for stmt in body:
        for small in stmt.body if isinstance(stmt, cst.SimpleStatementLine) else ():
            if isinstance(small, cst.Import):
                found |= {a.name.value for a in small.names if a.asname is None and isinstance(a.name, cst.Name)}
    return found


def _with_header(module: cst.Module, header: str) -> cst.Module:
    """The header comment below the lines that must come first: shebang and coding cookie."""
    lines = list(module.header)
    place = 0
    for index, line in enumerate(lines[:2]):
        comment = line.comment.value if line.comment else ""
        if (index == 0 and comment.startswith("#!")) or "coding" in comment:
            place = index + 1
    made = cst.EmptyLine(indent=False, comment=cst.Comment(header))
    return module.with_changes(header=[*lines[:place], made, *lines[place:]])
