"""Applies a plan to a parsed script; everything that the plan does not name stays byte for byte."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace as _replaced
from itertools import groupby

import libcst as cst
from libcst.metadata import CodePosition

from converter.dataclass import dataclass
from converter.plan import Again, At, Block, Insert, Loop, Plan, Replace, Scope
from converter.rewrite.deep_expressions import MOST, DepthError, flat
from converter.rewrite.formatting import fitted
from converter.rewrite.helper_text import END, FRAME, SHARED, helper_imports, helper_text
from converter.rewrite.loop_text import Line, getter_that_cuts, loop_text
from converter.rewrite.marks import Trace, Transformer, header_of, mark, mark_all, mark_text, take_out, visited
from converter.rewrite.outline import Outline, outline
from converter.source.depth import depth_of
from converter.source.header import lines_in_front
from converter.source.text import split_lines

# the rules for the header, for statements that stand elsewhere, and for those that stand there once more
HEADER, MOVED, AGAIN = "TMG009", "TMG121", "TMG116"
_CONTINUED = re.compile(r"\\\r?\n")
_FURTHER_LINES = re.compile(r"(?<=\n)(?=[^\r\n])")  # the beginnings of a text's lines, but the first and blank ones
_NAME = re.compile(r"\w+")
_MARGIN = re.compile(r"^(?:    )+ *", re.MULTILINE)
_IN_STRING = re.compile(r"\b[rR]?[fF][rR]?['\"]")  # maybe: a string that formats takes no line ends
# A statement of the tool's own that needs no tree: on one line, and of no block.
_PLAIN = re.compile(r"(?!(?:if|for|while|with|try|def|class|import|from|async)\b)\w.*[^:\\]")
_SHORT = 40  # characters of an expression that no line is broken for
Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
STATEMENTS = (cst.SimpleStatementLine, cst.BaseCompoundStatement)
# Nodes without an empty line in them; parentheses around them may hold one.
_NO_LINES = (cst.Name, cst.Integer, cst.Float, cst.SimpleString, cst.SimpleWhitespace, cst.TrailingWhitespace)
HELPERS = "#\0\0"  # a comment that stands for the helpers in the tree


@dataclass(frozen=True)
class Rewritten:
    """A converted script, and which rules its added lines come from.

    trace: lines, from one, at which an edit ends, each with the codes of its rules; an added line
        belongs to the first of them that does not come before it.
    """

    text: str
    trace: Trace


def apply(text: str, tree: ast.Module, plan: Plan, header: str, width: int, deep: bool = False) -> Rewritten:
    """Converts the text of a script, of which Python's own tree is at hand.

    header: the comment lines that name the tool and the source, without a newline at their end; "" for none.
    width: the longest line that the tool writes, in characters. deep: whether something may have many levels.

    Raises:
        DepthError: a statement that an edit concerns has too many levels.
        IndentationError: the text mixes tabs and blanks in a way that Python takes and LibCST does not.
        LossError: LibCST does not give the text back as it is.
    """
    lines = _Lines(plan)
    shallow = flat(text, tree, plan) if deep else None
    if shallow is not None:
        text, tree = shallow.text, shallow.tree
        for stmt in tree.body:
            if lines.concern(stmt.lineno, stmt.end_lineno or 0) and depth_of(stmt) > MOST:
                raise DepthError(stmt.lineno)
    try:
        left = outline(text, tree, lines.concern, lines.change)
    except cst.ParserSyntaxError as error:
        if "dent" not in error.message:
            raise
        raise IndentationError(error.message) from None
    module = left.module
    rewriter = _Rewriter(plan, left, lines, width, text)
    changed = module.visit(rewriter)
    missed = [edit for edit in (*plan.inserts, *plan.replaces) if edit not in rewriter.done]
    if missed:
        raise LookupError(f"edits without a place in the source: {missed}")
    written = set(_NAME.findall("\n".join(rewriter.written)))
    if plan.flag_above and not plan.path:
        written.add(plan.helper_module.rpartition(".")[2])
    place = _below_imports(changed, rewriter.first_user, left)
    helpers = _helpers(changed, place, plan, written, width) if not plan.helper_module or written else ""
    if helpers:
        changed = _with_helpers_place(changed, place, plan)
    if header:
        changed = _with_header(changed, header)
    helpers = helpers.removesuffix("\n").replace("\n", module.default_newline)
    code = left.filled(changed.code, rewriter.plain).replace(HELPERS, helpers)
    return Rewritten(*take_out(code if shallow is None else shallow.filled(code)))


class _Lines:
    """On which lines of a file edits begin, all of them sorted.

    helped: without those of edits that need no helper. inner: without those at which a statement only moves as a
    whole. moved: where these begin.
    """

    def __init__(self, plan: Plan) -> None:
        self.moved = {at for loop in plan.loops for at in (*loop.before, *loop.tower, *loop.after)}
        again = {at for loop in plan.loops for a in loop.again for at in (*a.ats, *a.around)}
        split = {at for loop in plan.loops for block in (*loop.splits, *loop.behind) for at in block.stmts}
        edits = {*(r.at for r in plan.replaces), *(i.at for i in plan.inserts)}
        self.inner = sorted({at.line for at in (*edits, *again, *split)})
        self.every = sorted({*self.inner, *(at.line for run in (self.moved, *plan.pinned) for at in run)})
        plain = {r.at.line for r in plan.replaces if r.why == "TMG128" and "(" not in r.text}
        self.helped = [line for line in self.every if line not in plain]
        self._pinned = [(begin.line, end.line) for begin, end in plan.pinned]

    def concern(self, first: int, last: int) -> bool:
        """Whether an edit begins on one of these lines, or moves them into a block."""
        pinned = any(begin <= last and first <= end for begin, end in self._pinned)
        return pinned or _any_within(self.every, first, last)

    def change(self, first: int, last: int) -> bool:
        """Whether an edit on one of these lines does more than move a whole statement."""
        return _any_within(self.inner, first, last)


class _Rewriter(Transformer):
    """Visits only what holds an edit."""

    def __init__(self, plan: Plan, left: Outline, lines: _Lines, width: int, text: str) -> None:
        super().__init__()
        self._text = text
        self._tabs = "\t" in left.module.default_indent
        self.plan = plan
        self.left = left
        self.plain: list[str] = []  # statements of the tool's own that have names in the tree
        self.module = left.module
        self.width = width
        self.first_user = len(left.module.body)  # index of the first top level statement that needs the helpers
        self.replaces = {(r.at, r.end): r for r in plan.replaces}
        self.comments: list[tuple[At, cst.Comment]] = []  # of expressions that give way, with these places
        self.planned = "\n".join(_texts(plan))
        self.done: set[Insert | Replace] = set()  # edits that found their place
        self.reasoned: set[Replace] = set()  # those whose statement says why
        self.inserts: dict[At, list[Insert]] = {}
        for insert in plan.inserts:
            self.inserts.setdefault(insert.at, []).append(insert)
        blocks = [block for loop in plan.loops for block in (*loop.splits, *loop.behind)]
        split, opened = {at for block in blocks for at in block.stmts}, {block.at for block in blocks}
        self.split_out: dict[At, list[cst.BaseStatement]] = {at: [] for at in split - opened}
        self.repeated: dict[At, cst.BaseStatement] = {}  # statements that stand after the loop once more
        self.repeats = {at for loop in plan.loops for again in loop.again for at in (*again.ats, *again.around)}
        self.repeats |= split & opened
        self.lines = lines
        self.written: list[str] = [r.text for r in plan.replaces]  # what is the tool's own
        self.positions = left.positions
        if self.repeats:  # those of methods that are visited behind the loop stand there as they are
            lone = (node for node in self.positions if isinstance(node, cst.SimpleStatementLine))
            self.repeated.update((self._start(node), node) for node in lone if self._start(node) in self.repeats)

    def _touched(self, node: cst.CSTNode, lines: list[int] | None = None) -> bool:
        """Whether an edit begins within a node."""
        where = self.positions.get(node)
        if where is None:
            return not isinstance(node, cst.BaseParenthesizableWhitespace)
        return _any_within(self.lines.every if lines is None else lines, where.start.line, where.end.line)

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Module):
            return True
        whole = isinstance(node, cst.BaseStatement) and self._start(node) in self.lines.moved
        return self._touched(node, self.lines.inner if whole else None)

    def on_leave(self, original: cst.CSTNode, updated: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        if isinstance(original, cst.Module) and isinstance(updated, cst.Module):
            body = self._block(original.body, updated.body, 0)
            self._note_first(original)
            return updated.with_changes(body=body)
        if isinstance(original, cst.IndentedBlock) and self._touched(original):
            assert isinstance(updated, cst.IndentedBlock)
            return updated.with_changes(body=self._block(original.body, updated.body, self._depth(original)))
        if isinstance(original, cst.BaseExpression) and self.replaces:
            replace = self.replaces.get(self._span(original))
            if replace is not None:
                self.done.add(replace)
                self.comments += self._lost_comments(original)
                return _expression(self._broken(replace, original), original, self.module)
        if isinstance(original, cst.If) and isinstance(updated, cst.If) and self._start(original) in self.repeats:
            self.repeated[self._start(original)] = updated  # an elif stands in no block
        if isinstance(original, STATEMENTS) and isinstance(updated, STATEMENTS):
            return self._with_comments(original, self._with_reasons(original, updated))
        return updated

    def _with_reasons(self, original: Statement, updated: Statement) -> Statement:
        """Marks a statement with the rules of the replacements in it, and not in a statement inside of it."""
        open_ = [r for r in self.done if isinstance(r, Replace) and r not in self.reasoned]
        if not open_:
            return updated
        begin, end = self._span(original)
        mine = [r for r in open_ if begin <= r.at < end]
        self.reasoned.update(mine)
        marked = mark(updated, ",".join(sorted({r.why for r in mine}))) if mine else updated
        assert isinstance(marked, STATEMENTS)
        return marked

    def _lost_comments(self, original: cst.BaseExpression) -> list[tuple[At, cst.Comment]]:
        """The comments inside of an expression that gives way to another, and that no text of the plan has."""
        found = _Comments()
        original.visit(found)
        return [(self._span(original)[0], c) for c in found.comments if c.value not in self.planned]

    def _with_comments(self, original: Statement, updated: Statement) -> Statement:
        """A statement below the comments that have lost their place inside of it."""
        begin, end = self._span(original)
        mine = [comment for at, comment in self.comments if begin <= at < end]
        if not mine:
            return updated
        self.comments = [(at, comment) for at, comment in self.comments if not begin <= at < end]
        lines = [*updated.leading_lines, *(cst.EmptyLine(comment=comment) for comment in mine)]
        return updated.with_changes(leading_lines=lines)

    def _span(self, node: cst.CSTNode) -> tuple[At, At]:
        where = self.positions[node]
        return self._at(where.start), self._at(where.end)

    def _at(self, place: CodePosition) -> At:
        return At(place.line, place.column, self.plan.path)

    def _start(self, node: cst.CSTNode) -> At:
        if isinstance(node, cst.SimpleStatementLine) and node.body:
            node = node.body[0]
        return self._at(self.positions[node].start)

    def _depth(self, block: cst.IndentedBlock) -> int:
        return self._start(block.body[0]).column

    def _note_first(self, module: cst.Module) -> None:
        for index, stmt in enumerate(module.body):
            used = self._touched(stmt, self.lines.helped) and not isinstance(stmt, (cst.FunctionDef, cst.ClassDef))
            if used or (self.plan.flag_above and self._start(stmt) == self.plan.flag_above):
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
            if start in self.repeats:
                self.repeated[start] = stmt
        order = [s for s in starts if s not in self.split_out]
        for start in starts:
            if start in self.split_out:
                self.split_out[start] = statements[start]
        for loop in self.plan.loops:
            if loop.tower[0] in statements:
                moved = {*loop.before, *loop.tower, *loop.after}
                first = order.index(min(moved))
                rest = [s for s in order[first:] if s not in moved]
                among = self._among_reopened(loop)
                after = [at for at in loop.after if at not in among]
                order = [*order[:first], *loop.before, loop.tower[0], *after, *rest]
                for at in _out_of_order(loop):
                    statements[at] = mark_all(statements[at], MOVED)
                statements[loop.tower[0]] = self._loop(loop, statements, depth)
        return self._at_top(starts, self._pinned(order, statements, depth), depth)

    def _at_top(self, starts: Sequence[At], body: list[cst.BaseStatement], depth: int) -> list[cst.BaseStatement]:
        """A block with the lines that go to its top, below its docstring."""
        made = [
            s
            for at in starts
            for i in self.inserts.get(at, ())
            if i.where == "top"
            for s in self._lines([Line(line, i.why) for line in i.lines], depth)
        ]
        place = 1 if made and _is_docstring(body[0]) else 0
        return [*body[:place], *made, *body[place:]]

    def _with_inserts(self, start: At, stmt: cst.BaseStatement, depth: int) -> list[cst.BaseStatement]:
        result = [stmt]
        for insert in self.inserts.get(start, ()):
            self.done.add(insert)
            if insert.where == "top":
                continue
            made = self._lines([Line(line, insert.why) for line in insert.lines], depth)
            if insert.where == "after":
                result += made
            else:
                index = result.index(stmt)
                head, stmt = _split_leading(stmt, whole=True)
                result[index : index + 1] = [_with_leading(made[0], head), *made[1:], stmt]
        return result

    def _pinned(
        self,
        order: Sequence[At],
        statements: dict[At, list[cst.BaseStatement]],
        depth: int,
        runs: dict[At, At] | None = None,
    ) -> list[cst.BaseStatement]:
        """The statements in this order, runs of those that make variables under their device."""
        place = next((new for old, new in self.plan.helpers if old.startswith("variable_device")), "'/cpu:0'")
        result: list[cst.BaseStatement] = []
        for pinned, ats in _runs(order, dict(self.plan.pinned) if runs is None else runs):
            inside = [stmt for at in ats for stmt in statements[at]]
            if not pinned:
                result += inside
                continue
            if depth == 0:
                inside = visited(inside, _BlankLines())
            head, inside[0] = _split_leading(inside[0], whole=False)
            pinning = self._pinning(place)
            why = "TMG109,TMG139" if "custom_getter=" in pinning else "TMG109"
            (block,) = self._parse((f"{pinning}:\n    pass",), depth)
            assert isinstance(block, cst.With)
            body = cst.IndentedBlock(inside, header=header_of(mark(block, why)))
            result.append(_with_leading(block.with_changes(body=body), head))
        return result

    def _pinning(self, device: str) -> str:
        """The head of the with block in which variables are made outside of the towers."""
        tf, helper = self.plan.tensorflow, dict(self.plan.helpers).get("cut_variables")
        head = f"with {tf}.device({device})"
        if helper is None or self.plan.kept_whole is None:
            return head
        getter = getter_that_cuts(self.plan, helper)
        return f"{head}, {tf}.variable_scope({tf}.get_variable_scope(), custom_getter={getter})"

    def _reopened(
        self,
        blocks: tuple[Block, ...],
        statements: dict[At, list[cst.BaseStatement]],
        heads: dict[At, tuple[str, str]],
        at: At,
    ) -> list[cst.BaseStatement]:
        """A block of the towers, opened again for those of its statements that stay out of the loop.

        heads: what they enter where that is not what the script says, and a line to begin with.
        """
        if at not in statements:
            return []  # in another one of these blocks
        inside = {one.at: one for one in blocks}
        block = next(s for s in statements[at] if isinstance(s, (cst.With, cst.If)))
        return [self._entered(block, at, inside, heads)]

    def _entered(
        self,
        block: cst.BaseStatement,
        at: At,
        inside: dict[At, Block],
        heads: dict[At, tuple[str, str]],
    ) -> cst.BaseStatement:
        """A block of the towers around statements that were split out of it; heads: see `_reopened`."""
        body = self._split_off(inside[at].body, inside, heads)
        other = self._split_off(inside[at].orelse, inside, heads)
        if at in heads:
            items, first = heads[at]
            (head,) = self._parse((f"with {items}:\n    pass",), at[1])
            assert isinstance(head, cst.With)
            body = [*self._lines([Line(first, MOVED)] if first else [], at[1]), *body]
            block = block.with_changes(items=head.items)
        return _opened_again(block, body, other)

    def _split_off(
        self, ats: Iterable[At], inside: dict[At, Block], heads: dict[At, tuple[str, str]]
    ) -> list[cst.BaseStatement]:
        """Statements that were split out of a block, with the blocks in it that are opened again for theirs."""
        made: list[cst.BaseStatement] = []
        for at in ats:
            if at in inside:
                made.append(self._entered(self.repeated[at], at, inside, heads))
            else:
                made += mark_all(self.split_out[at], MOVED)
        return made

    def _loop(self, loop: Loop, statements: dict[At, list[cst.BaseStatement]], depth: int) -> list[cst.BaseStatement]:
        alone = self.plan.one_gpu.replace("> 1", "== 1")
        for scope in loop.scopes:
            if scope.within:
                statements[scope.at] = [self._scoped(s, scope, alone) for s in statements[scope.at]]
        towers = [s for at in loop.tower for s in statements[at]]
        if loop.early:
            towers = self._with_early(loop, statements, depth)
        text = loop_text(self.plan, loop, self._room(depth))
        step = len(self.module.default_indent.expandtabs(4))
        if depth == 0:
            towers = visited(towers, _BlankLines())
        if "\\" in self._text or '"""' in self._text or "'''" in self._text:
            towers = visited(towers, _Indented(2 * self.module.default_indent))
        head, towers[0] = _split_leading(towers[0], whole=False)
        prelude = [*self._lines(text.prelude, depth), *self._towers_only(self._lines(text.saved, depth + step), depth)]
        loops, scopes = text.headers
        margin = "    " * depth if self._tabs else " " * depth
        source = f"{loops.text}\n    " + scopes.text.replace("\n", f"\n    {margin}") + "\n        pass\n"
        towered = self._parse((source,), depth, fit=False)[0]
        inner = depth + 2 * step
        guarded = step if self.plan.one_gpu else 0
        above = self._towers_only(self._lines(text.above, inner + guarded), inner)
        below = self._towers_only(self._lines(text.below, inner + guarded), inner)
        anew = self._lines(text.anew, inner)
        towered = _fill(towered, [*anew, *above, *towers, *below], loops.why, scopes.why)
        kept = {scope.at: (scope.keep, scope.first) for scope in loop.scopes if scope.keep}
        entered = {scope.at: (scope.enter.replace("{alone}", alone), "") for scope in loop.scopes}
        splits = [s for one in loop.splits for s in self._reopened(loop.splits, statements, kept, one.at)]
        early = self._lines(text.early, depth)
        made = [*early, *splits, *prelude, towered]
        merged = self._lines(text.epilogue, depth + guarded)
        merged += [s for again in loop.again for s in self._again(again)]
        merged += self._lines(text.late, depth + guarded)
        merged += [s for at in loop.early for s in statements.pop(at)]
        statements.update((at, []) for at in loop.early)
        made += self._towers_only(merged, depth)
        among = self._among_reopened(loop)
        for stays, group in groupby(sorted((*(one.at for one in loop.behind), *among)), key=lambda at: at in among):
            ats = [*group]
            if stays:
                made += self._pinned(ats, statements, depth, {at: at for at in ats if self._is_pinned(at)})
            else:
                made += [s for at in ats for s in self._reopened(loop.behind, statements, entered, at)]
        made += self._towers_only(self._lines(text.closing, depth), depth)
        return [_with_leading(made[0], head), *made[1:]]

    def _scoped(self, stmt: cst.BaseStatement, scope: Scope, alone: str) -> cst.BaseStatement:
        """The with block of the towers that opens a scope, which without towers is the one in front of the loop."""
        if not isinstance(stmt, cst.With):
            return stmt
        (head,) = self._parse((f"with {scope.within.replace('{alone}', alone)}:\n    pass",), scope.at[1])
        assert isinstance(head, cst.With)
        return mark(stmt.with_changes(items=head.items), "TMG127")

    def _with_early(
        self, loop: Loop, statements: dict[At, list[cst.BaseStatement]], depth: int
    ) -> list[cst.BaseStatement]:
        """The towers' statements with those among them that, where there are no towers, may end the function."""
        towers: list[cst.BaseStatement] = []
        for early, group in groupby(sorted((*loop.tower, *loop.early)), key=lambda at: at in loop.early):
            made = [s for at in group for s in statements[at]]
            if early:
                alone = self.plan.one_gpu.replace("> 1", "== 1")
                made = [s.deep_clone().with_changes(leading_lines=[]) for s in made]
                made = self._under(alone, mark_all(made, "TMG127"), depth)
            towers += made
        return towers

    def _towers_only(self, inside: list[cst.BaseStatement], depth: int) -> list[cst.BaseStatement]:
        """Statements that only towers need; under a condition if other scripts build the model without towers."""
        if not self.plan.one_gpu or not inside:
            return inside
        return self._under(self.plan.one_gpu, inside, depth)

    def _under(self, condition: str, inside: list[cst.BaseStatement], depth: int) -> list[cst.BaseStatement]:
        """Statements under a condition of the tool's own."""
        (block,) = self._parse((f"if {condition}:\n    pass",), depth)
        assert isinstance(block, cst.If)
        body = cst.IndentedBlock(inside, header=header_of(mark(block, "TMG127")))
        return [block.with_changes(body=body)]

    def _among_reopened(self, loop: Loop) -> list[At]:
        """Statements that move after the loop and stood before a block that is opened again there: they stay so."""
        last = max((one.at for one in loop.behind), default=(0, 0))
        across = [(first, end) for first, end in self.plan.pinned if first < last <= end]
        return [at for at in loop.after if at < last and not any(first <= at <= end for first, end in across)]

    def _is_pinned(self, at: At) -> bool:
        """Whether a statement stands in a run that makes variables outside of the towers."""
        return any(first <= at <= end for first, end in self.plan.pinned)

    def _again(self, again: Again) -> list[cst.BaseStatement]:
        """A copy of statements of the towers, without the blank lines and comments above them."""
        made = mark_all([self.repeated[at].deep_clone().with_changes(leading_lines=[]) for at in again.ats], AGAIN)
        for at in reversed(again.around):
            block = cst.IndentedBlock(made, header=header_of(mark(self.repeated[at], AGAIN)))
            made = [self.repeated[at].with_changes(body=block, leading_lines=[])]
        return made

    def _lines(self, lines: Iterable[Line], depth: int) -> list[cst.BaseStatement]:
        """The tool's own lines with their rules; each of them is a statement, or all have one rule."""
        lines = [line._replace(text=fitted(line.text, self._room(depth))) for line in lines]
        if all(_PLAIN.fullmatch(line.text) for line in lines):
            self.written += [line.text for line in lines]
            names = [self.left.stand_in(line.text, self.plain) for line in lines]
            plain = [cst.SimpleStatementLine([cst.Expr(cst.Name(name))]) for name in names]
            return [mark(stmt, line.why) for line, stmt in zip(lines, plain, strict=True)]
        made = self._parse([line.text for line in lines], depth, fit=False)
        if len(made) != len(lines):
            (why,) = {line.why for line in lines}
            return mark_all(made, why)
        return [s for line, stmt in zip(lines, made, strict=True) for s in _marked(stmt, line)]

    def _parse(self, lines: Sequence[str], depth: int, fit: bool = True) -> list[cst.BaseStatement]:
        """Statements of the tool's own, no longer than the width allows at their depth."""
        if not lines:
            return []
        self.written += lines
        source = "\n".join(fitted(line, self._room(depth)) if fit else line for line in lines) + "\n"
        made = _parsed(self._with_tabs(source), self.module)
        first, *rest = made.body
        return [_with_leading(first, made.header), *rest]  # LibCST gives a comment at the top to the module

    def _room(self, depth: int) -> int:
        """How long a line may be behind an indentation of so many characters."""
        return self.width - (4 * depth if self._tabs else depth)

    def _with_tabs(self, source: str) -> str:
        """The tool's own lines, indented by tabs for a script that uses tabs."""
        if not self._tabs:
            return source
        return _MARGIN.sub(lambda found: "\t" * (len(found[0]) // 4) + " " * (len(found[0]) % 4), source)

    def _broken(self, replace: Replace, original: cst.BaseExpression) -> Replace:
        """A call that the tool writes in place of an expression, on lines of its own where its line would be too long.

        What stands beside it on the line is the user's, and stays.
        """
        begin, end = self._span(original)
        if len(replace.text) < _SHORT or begin.line != end.line or not replace.text.endswith(")"):
            return replace
        line = split_lines(self._text)[begin.line - 1]
        left, margin = line[: begin.column], len(line) - len(line.lstrip())
        rest = line[end.column :].partition("#")[0].rstrip()
        room = self._room(margin) - len(rest)
        kept = _IN_STRING.search(left) or rest.startswith(("(", "[", "."))  # or its value is used at once
        if begin.column - margin + len(replace.text) <= room or kept:
            return replace
        name = "_" * (begin.column - margin - len(" = ")) if left[margin:].endswith(" = ") else ""
        made = fitted(f"{name} = {replace.text}" if name else replace.text, room)
        return _replaced(replace, text=self._with_tabs(made.removeprefix(f"{name} = " if name else "")))


class _Comments(cst.CSTVisitor):
    """Collects the comments of a tree."""

    def __init__(self) -> None:
        super().__init__()
        self.comments: list[cst.Comment] = []

    def visit_Comment(self, node: cst.Comment) -> None:
        self.comments.append(node)


def _texts(plan: Plan) -> Iterator[str]:
    """The texts of a plan that may hold parts of the script."""
    yield from (replace.text for replace in plan.replaces)
    yield from (line for insert in plan.inserts for line in insert.lines)
    yield from (loop.gradient.create for loop in plan.loops if loop.gradient is not None)


class _BlankLines(Transformer):
    """Keeps blank lines of the top level blank when they move into a block."""

    def on_visit(self, node: cst.CSTNode) -> bool:
        return not isinstance(node, _NO_LINES) or bool(getattr(node, "lpar", ()))

    def leave_EmptyLine(self, original_node: cst.EmptyLine, updated_node: cst.EmptyLine) -> cst.EmptyLine:
        if updated_node.comment is None and not updated_node.whitespace.value:
            return updated_node.with_changes(indent=False)
        return updated_node


class _Indented(Transformer):
    """Indents what LibCST does not: lines continued behind a backslash, and strings that serve as comments."""

    def __init__(self, margin: str) -> None:
        super().__init__()
        self._margin = margin
        self._docstrings: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)) and isinstance(node.body, cst.IndentedBlock):
            self._docstrings += node.body.body[:1]
        return True

    def leave_SimpleWhitespace(
        self, original_node: cst.SimpleWhitespace, updated_node: cst.SimpleWhitespace
    ) -> cst.SimpleWhitespace:
        if "\\" not in updated_node.value:
            return updated_node
        return updated_node.with_changes(value=_CONTINUED.sub(rf"\g<0>{self._margin}", updated_node.value))

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        first = updated_node.body[0]
        text = first.value if isinstance(first, cst.Expr) else None
        if not isinstance(text, cst.SimpleString) or original_node in self._docstrings or "\n" not in text.value:
            return updated_node
        moved = text.with_changes(value=_FURTHER_LINES.sub(self._margin, text.value))
        return updated_node.with_changes(body=[first.with_changes(value=moved), *updated_node.body[1:]])


def _any_within(lines: list[int], first: int, last: int) -> bool:
    """Whether one of these sorted lines lies between two, both included."""
    return bisect_left(lines, first) < bisect_right(lines, last)


def _parsed(source: str, module: cst.Module) -> cst.Module:
    """The tree of the tool's own text, with the script's line ends inside strings too."""
    return cst.parse_module(source.replace("\n", module.default_newline))


def _marked(stmt: cst.BaseStatement, line: Line) -> list[cst.BaseStatement]:
    """A statement with all its lines marked; the nodes of a statement on a single line need not be visited."""
    if "\n" in line.text or not isinstance(stmt, cst.SimpleStatementLine):
        return mark_all([stmt], line.why)
    return [mark(stmt, line.why)]


def _expression(replace: Replace, original: cst.BaseExpression, module: cst.Module) -> cst.BaseExpression:
    text = replace.text.replace("\n", module.default_newline)
    made = cst.parse_expression(text)
    if original.lpar:
        made = made.with_changes(
            lpar=[*original.lpar, *made.lpar],
            rpar=[*made.rpar, *original.rpar],
        )
    return made


def _fill(loop: cst.BaseStatement, body: list[cst.BaseStatement], why: str, why_inner: str) -> cst.BaseStatement:
    """Puts statements into the innermost block of `for …: with …:`, and marks the two."""
    assert isinstance(loop, cst.For) and isinstance(loop.body, cst.IndentedBlock)
    scope = loop.body.body[0]
    assert isinstance(scope, cst.With)
    filled = scope.with_changes(body=cst.IndentedBlock(body, header=header_of(mark(scope, why_inner))))
    return mark(loop.with_changes(body=loop.body.with_changes(body=[filled], indent=None)), why)


def _opened_again(
    block: cst.BaseStatement, body: list[cst.BaseStatement], other: list[cst.BaseStatement]
) -> cst.BaseStatement:
    """A with block or a condition around other statements, without its comments; other: those of its `else`."""
    empty = mark_all([cst.SimpleStatementLine([cst.Pass()])], MOVED)
    filled = cst.IndentedBlock(body or empty, header=header_of(mark(block, MOVED)))
    if isinstance(block, cst.If):
        alone = other[0] if len(other) == 1 and isinstance(block.orelse, cst.If) else None
        made = cst.Else(cst.IndentedBlock(other)) if other else None
        block = block.with_changes(orelse=alone if isinstance(alone, cst.If) else made)
    return block.with_changes(body=filled, leading_lines=[])


def _out_of_order(loop: Loop) -> list[At]:
    """The statements that stood between those of the towers and are moved out."""
    before = [at for at in loop.before if at > min(loop.tower)]
    return before + [at for at in loop.after if at < max(loop.tower)]


def _runs(order: Sequence[At], pinned: dict[At, At]) -> list[tuple[bool, list[At]]]:
    """The statements of a block in groups: whether they are pinned, and where they begin in the script.

    Pinned runs are one group if all that stood between them goes elsewhere.
    """
    last: At | None = None
    groups: list[tuple[bool, list[At]]] = []
    for at in order:
        last = pinned.get(at) if last is None else last
        if not groups or groups[-1][0] != (last is not None):
            groups.append((last is not None, []))
        groups[-1][1].append(at)
        last = None if at == last else last
    return groups


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


def _helpers(module: cst.Module, place: int, plan: Plan, written: set[str], width: int) -> str:
    """The helpers, or imports of those that are `written`; "" for none."""
    if plan.helper_module:
        return helper_imports(plan, written, width)
    return helper_text(plan, module.default_indent, _imported(module.body[:place]))


def _with_helpers_place(module: cst.Module, place: int, plan: Plan) -> cst.Module:
    """The place of the helpers, after the imports and before the code that needs them: they are not part of the tree.

    They begin with imports, and a comment: no blank line above sets them apart from the script's own imports.
    As text they are what the tool knows them to be; to parse them would take a third of the time of the script.
    """
    blank = cst.EmptyLine(indent=False)
    end = cst.EmptyLine(indent=False, comment=cst.Comment(END + mark_text(SHARED if plan.helper_module else FRAME)))
    apart = place and not _is_import(module.body[place - 1])
    lines = [*([blank] if apart else []), cst.EmptyLine(indent=False, comment=cst.Comment(HELPERS)), end]
    if place == len(module.body):
        return module.with_changes(footer=[*lines, *module.footer])
    following: cst.BaseStatement = module.body[place]
    if place == 0 or not getattr(following, "leading_lines", ()):
        lines.append(blank)
    body = [*module.body[:place], _with_leading(following, lines), *module.body[place + 1 :]]
    return module.with_changes(body=body)


def _below_imports(module: cst.Module, first_user: int, left: Outline) -> int:
    """How many statements stand above the helpers: up to the last import, or line for imports, before their use."""
    place = 0
    for index, stmt in enumerate(module.body[:first_user]):
        if _is_import(stmt) or (index == 0 and _is_docstring(stmt)) or _adds_folder(module, stmt, left):
            place = index + 1
    return place


def _adds_folder(module: cst.Module, stmt: cst.BaseStatement, left: Outline) -> bool:
    """True for a line such as `sys.path.append('..')`: imports below it may need it."""
    return isinstance(stmt, cst.SimpleStatementLine) and "sys.path" in left.filled(module.code_for_node(stmt))


def _is_import(stmt: cst.BaseStatement) -> bool:
    if isinstance(stmt, cst.SimpleStatementLine):
        return any(isinstance(s, (cst.Import, cst.ImportFrom)) for s in stmt.body)
    return isinstance(stmt, cst.Try) and all(isinstance(s, cst.BaseStatement) and _is_import(s) for s in stmt.body.body)


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
    """The header's comments below the lines that must come first: shebang and coding cookie."""
    lines = list(module.header)
    place = lines_in_front([line.comment.value if line.comment else "" for line in lines])
    made = [cst.EmptyLine(indent=False, comment=cst.Comment(line + mark_text(HEADER))) for line in header.split("\n")]
    return module.with_changes(header=[*lines[:place], *made, *lines[place:]])
