"""Compares values of the converted text with the original's: equal, of the whole batch or of a tower's part."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from collections.abc import Sequence as SequenceType
from dataclasses import field, replace

from converter.analysis.counts.degrees import degree_in
from converter.analysis.counts.reading import SIZE, TermReader
from converter.analysis.counts.terms import Terms, atom, number
from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts, TrainStep
from converter.analysis.flow.joined import choices, is_variable, left_out
from converter.analysis.tensors import algebra
from converter.analysis.tensors.spreading import CONSTANT
from converter.analysis.tensors.updates import is_update
from converter.analysis.traits import Trait, has, name_of
from converter.analysis.values import (
    COLLECTION,
    FED,
    LISTED,
    Absent,
    Bound,
    Choice,
    Class,
    Constant,
    Count,
    Function,
    Host,
    Input,
    Instance,
    Mapping,
    Module,
    Number,
    Partial,
    Sequence,
    ShapeOf,
    Symbol,
    Tensor,
    Typed,
    Value,
    Variable,
    is_none,
    is_of_own,
    needed,
    stands_for_unseen,
    tensors_in,
)
from converter.choices import ScaleLr
from converter.conversion.review.converted_walk import ConvertedWalk
from converter.conversion.review.towers import (
    COUNTED,
    GROWN,
    MERGE,
    REUSES,
    ROWS,
    SHARD,
    SHARE,
    TOWERS,
    TRIM,
    WEIGHT,
    WHOLE,
    Averaged,
    TowerPart,
    TowerRecords,
    behind,
    turn_of,
)
from converter.dataclass import dataclass

Mode = int | None  # the tower whose part a value is to be; None for the whole batch's
GPUS = re.compile(r"[0-9, ]+")  # a list of GPUs
_UPDATES = COLLECTION + name_of(Trait.UPDATES_COLLECTION)  # what layers add their updates to
SLICED = "div"  # how look-ups are told that a table is cut into slices of successive rows
MIXED = 99  # a number of the batch that was computed in a way in which its factor is not followed


@dataclass(frozen=True)
class Difference:
    """Two values that ought to be the same; why: how they differ, to be shown.

    doubtful: right conversions are known in which this is found, as the walk knows too little of them.
    """

    one: Value
    two: Value
    why: str
    doubtful: bool = False


class Factors(TermReader):
    """Reads numbers as terms in which the number of towers is the size that grows."""

    def __init__(self, towers: TowerRecords) -> None:
        super().__init__(frozenset(), lambda _: None)
        self._towers = towers

    def _read(self, value: Value, deep: int) -> Terms:
        for made, exponent in ((self._towers.sizes, -1), (self._towers.grown, 1)):
            if value.uid in made:
                return self.of(made[value.uid], deep) * atom(SIZE).raised(number(exponent))
        if isinstance(value, Number) and value.turn:  # where a batch begins, which is no number of rows
            return atom(("value", value.uid))
        named = value.inputs[0] if isinstance(value, Number) and not value.op and len(value.inputs) == 1 else None
        if isinstance(named, Number):  # `batch_size = int(n / 4)` has an origin of its own
            return self.of(named, deep)
        return super()._read(value, deep)


@dataclass
class WalkComparison:
    """The comparison of two walks: their facts, and the pairs that were compared already."""

    first: Facts
    second: ConvertedWalk
    total: bool = False  # whether the script's batch size is that of all towers
    added: bool = False  # whether the towers' sums over their examples are added up, not averaged
    scale_lr: ScaleLr = "none"
    known: dict[tuple[int, int, Mode], Difference | None] = field(default_factory=dict)
    numbers: dict[tuple[int, int], bool] = field(default_factory=dict)  # the same but for the number of towers
    powers: dict[int, int] = field(default_factory=dict)  # uid of a number -> the power of the number of towers in it
    unread: dict[str, int] = field(default_factory=dict)
    schedules: list[tuple[Tensor, Tensor]] = field(default_factory=list)  # of learning rates
    optimizers: dict[int, Value] = field(default_factory=dict)  # of the converted text -> of the script
    filled: list[tuple[Value, Value]] = field(default_factory=list)  # lists and dicts that change, read by the host
    rates: list[tuple[Number, Number, ast.AST | None]] = field(default_factory=list)  # that optimizers are given

    def __post_init__(self) -> None:
        self.towers = self.second.towers
        self.reading = Factors(self.towers)
        self.nodes = self.second.alignment.nodes
        self.statements = self.second.alignment.statements
        self.steps = {step.result.uid: step for step in self.first.train_steps}
        self.steps_too = {step.result.uid: step for step in self.second.facts.train_steps}
        self.arrays = {made.uid: uid for uid, made in self.first.cut.items()}
        self.trained = frozenset(root for step in self.first.train_steps for root in step.loss.roots)
        losses = [loss for averaged in self.towers.averages.values() for loss in averaged.losses]
        losses += [loss for _, held in self.towers.optimizers.values() for loss in held.parts()]
        self.losses = {v.uid for loss in losses for v in (loss, *loss.inputs)}  # of the towers
        self.inputs: dict[int, Value] = {}  # of the original -> of the converted text
        self.labels = {value.label for value in self.first.inputs if value.label}
        self.changed = {
            effect.value.uid
            for facts in (self.first, self.second.facts)
            for effect in facts.effects
            if effect.kind is EffectKind.MUTATION and effect.value is not None
        }
        self.changed |= {
            access.place.owner
            for facts in (self.first, self.second.facts)
            for access in facts.accesses
            if access.write and access.place.kind == "item"
        }
        self.turns: set[tuple[int, int]] = set()
        self.turns |= set(self._in_turn())
        self.sizes = {o.key for number, _, _ in self.first.batch_sizes for o in getattr(number, "origins", ())}

    def _in_turn(self) -> Iterator[tuple[int, int]]:
        """Variables that a loop over all of the graph's takes in the same turn: they may be made in another order."""
        whole: dict[ast.AST, Value] = {s.stmt: held for s, held in self.first.turned.items() if _is_gathered(held)}
        whole |= {node: held for node, held in self.first.comprehended if _is_gathered(held)}
        if not whole:
            return
        heres: list[tuple[ast.AST, Value]] = [
            *((self.statements.get(s.stmt, s.stmt), held) for s, held in self.second.facts.turned.items()),
            *((self.nodes.get(node, node), held) for node, held in self.second.facts.comprehended),
        ]
        for node, here in heres:
            there = whole.get(node)
            if isinstance(there, Sequence) and isinstance(here, Sequence) and self._are_alike(there, here):
                yield from ((a.uid, b.uid) for a, b in zip(there.elements, here.elements, strict=False))

    def _are_alike(self, there: Sequence, here: Sequence) -> bool:
        """Whether two lists of the graph's hold the same, in any order."""
        if _is_listed(there):
            return self._listed(there, here) is None
        return self._as_collected(there.elements, here.elements) is not here.elements

    # -- what is what ---------------------------------------------------------------------------

    def turn(self, value: Value, mode: Mode) -> Mode:
        """The number of the tower in which a value was computed."""
        return mode if not value.time else turn_of(self.towers, value.time)

    def same_node(self, one: ast.AST | None, two: ast.AST | None) -> bool:
        """Whether two expressions are the same one, or the second is none of the original's."""
        if one is None or two is None:
            return True
        known = self.nodes.get(two, two if self.second.facts.path_of(two) == self.first.path_of(one) else None)
        return known is None or known is one or two not in self.nodes

    # -- values ---------------------------------------------------------------------------------

    def read(self, one: Value, two: Value, mode: Mode) -> Difference | None:
        """The first difference between values that an expression reads; former contents of lists are not known."""
        if isinstance(one, (Sequence, Mapping)) and {one.uid, two.uid} & self.changed:
            if mode is None:
                self.filled.append((one, two))
            return None
        if isinstance(one, (Sequence, Mapping)) and not any(tensors_in(one)):
            return None  # what is read of it is compared where it is read
        return self.differ(one, two, mode)

    def differ(self, one: Value, two: Value, mode: Mode) -> Difference | None:
        """The first difference between two values, or between the values that they were computed from."""
        key = one.uid, two.uid, mode
        if key not in self.known:
            self.known[key] = None
            self.known[key] = self._differ(one, two, mode)
        return self.known[key]

    def _differ(self, one: Value, two: Value, mode: Mode) -> Difference | None:
        if (one.uid, two.uid) in self.turns:
            return None
        if isinstance(one, (Sequence, Mapping)) and {one.uid, two.uid} & self.changed and mode is not None:
            return None
        if isinstance(one, Input) and one.uid in self.arrays and not isinstance(two, Tensor):
            return None if mode is None else Difference(one, two, "the towers read the whole data set")
        made = self.turn(two, mode)
        if made != mode and not isinstance(two, (Sequence, Mapping, Number)):
            if mode is not None and two.uid in self.towers.merges and self._is_batched(one):
                return Difference(one, two, "a tower reads what all towers made")
            if isinstance(two, Tensor) and two.op != MERGE and self._is_batched(one):
                return Difference(one, two, _elsewhere(mode, made), doubtful=not one.roots)
            if mode is None and made and is_update(one):
                return Difference(one, two, "the update of a later tower is run, and not the first one's")
            mode = made
        if isinstance(two, Tensor):
            if two.uid in self.towers.cuts and two.op == SHARD:
                return self._shard(one, two, mode)
            if two.uid in self.towers.merges:
                return self._merged(one, two, mode)
            if two.op == WHOLE and mode is not None:
                return self.differ(one, two.inputs[0], mode)
            if two.op == "join" and mode is not None and not self._is_same_join(one, two):
                own = [v for v in two.inputs if self.turn(v, mode) == mode]
                if len(own) == 1:  # the other is what the tower before has left, of another branch
                    return self.differ(one, own[0], mode)
            if two.op == "join" and mode is None and isinstance(one, Variable) and is_variable(two):
                parts = choices(two)  # what each tower's branch leaves
                return next((d for part in parts if (d := self.differ(one, part, self.turn(part, None)))), None)
        if isinstance(one, Tensor) and isinstance(two, Tensor):
            return self._tensors(one, two, mode)
        if isinstance(one, Number) and isinstance(two, Number):
            return self._numbers(one, two, mode)
        if isinstance(one, Number) and isinstance(two, Count) and any(o.key[0] == FED for o in one.origins):
            why = "a batch size that is fed in the script, and counted of one tower's rows in the converted text"
            return None if mode is not None else Difference(one, two, why)
        if isinstance(one, Absent) and left_out(two)[0]:
            return None  # what the loop puts back where it is there, and leaves as it was elsewhere
        if type(one) is not type(two):
            return None if self._is_own(one, two) else _unlike(one, two)
        return self._others(one, two, mode)

    def _is_same_join(self, one: Value, two: Tensor) -> bool:
        """Whether a value joins what the branches leave that a join of the converted text joins."""
        return isinstance(one, Tensor) and one.op == two.op and self.same_node(one.node, two.node)

    def _is_batched(self, one: Value) -> bool:
        """Whether a value depends on the batches of training: what is computed of others alone is not cut."""
        whole = bool(one.roots) and not one.roots & self.trained
        return isinstance(one, Tensor) and one.batch.kind != "free" and not whole

    def all_differ(
        self, ones: SequenceType[Value], twos: SequenceType[Value], mode: Mode, of: tuple[Value, Value]
    ) -> Difference | None:
        """The first difference among several values in their order, one without doubt if there is any."""
        ones, twos = _without_elements(ones), _without_elements(twos)
        if any(isinstance(v, Tensor) and v.op.startswith(COLLECTION) for v in ones):
            twos = self._as_collected(ones, twos)
        if len(ones) < len(twos):  # what the tool has added looks at the whole batch
            rest = [v for v in twos[len(ones) :] if not any(isinstance(b, Tensor) and b.op == WHOLE for b in behind(v))]
            twos = [*twos[: len(ones)], *(v for v in rest if getattr(v, "value", None) != SLICED)]
        if len(ones) != len(twos):
            why = f"made of {len(ones)} values in the script and of {len(twos)} in the converted text"
            return Difference(*of, why, doubtful=not isinstance(of[0], Tensor))  # lists grow, calls get arguments
        found = [d for a, b in zip(ones, twos, strict=True) if (d := self.differ(a, b, mode))]
        return next((d for d in found if not d.doubtful), found[0] if found else None)

    def _as_collected(self, ones: SequenceType[Value], twos: SequenceType[Value]) -> SequenceType[Value]:
        """The values of a collection in the order of the original's: what stands before the towers came in first."""
        left = list(twos)
        found: list[Value] = []
        for one in ones:
            node = getattr(one, "node", None)
            value = next((v for v in left if node is not None and self._made_by(v) is node), None)
            if value is not None:
                left.remove(value)
                found.append(value)
        return twos if len(found) < len(ones) else [*found, *left]

    def _made_by(self, two: Value) -> ast.AST | None:
        """The original's expression that made a value, or the towers' parts of it."""
        merged = self.towers.merges.get(two.uid)
        node = getattr(merged.parts[0] if merged is not None else two, "node", None)
        return self.nodes.get(node, node) if node is not None else None

    def _is_own(self, one: Value, two: Value) -> bool:
        """True if the tool replaces a value on purpose: a name, the number of GPUs, the longest length in the batch."""
        if isinstance(one, Constant) and isinstance(one.value, str) and GPUS.fullmatch(one.value):
            return True
        if isinstance(two, Host) and two.call == "helper":
            return True
        return any(isinstance(v, Tensor) and v.op == WHOLE for v in behind(two))

    def _shard(self, one: Value, two: Tensor, mode: Mode) -> Difference | None:
        cut = self.towers.cuts[two.uid]
        if mode is None:
            return Difference(one, two, "the whole batch in the script, one tower's shard in the converted text")
        if cut.gpu != mode:
            return Difference(one, two, "the shard of another tower")
        whole = cut.whole
        if isinstance(one, Input) and one.uid in self.arrays and not isinstance(whole, Tensor):
            return None
        if not isinstance(one, Tensor):
            why = "the converted text cuts it, and it is no tensor of a batch"
            return None if isinstance(one, (Host, Sequence)) else Difference(one, two, why)
        if isinstance(one, Input) and one.is_own:
            return self.differ(one, whole, None)
        if one.batch.kind == "example" and one.batch.axis != cut.axis:
            return Difference(one, two, f"cut along axis {cut.axis}, and its examples lie along axis {one.batch.axis}")
        if one.batch.kind != "example":
            return Difference(one, two, "the converted text cuts it, and it has no row for each example")
        return self.differ(one, whole, None)

    def _tensors(self, one: Tensor, two: Tensor, mode: Mode) -> Difference | None:
        by_rows = one.op == CONSTANT and one.batch.kind != "free"  # made of data row by row
        if by_rows and one.roots and mode is not None:
            shards = [v for v in behind(two) if isinstance(v, Tensor) and v.op == SHARD]
            same = bool(shards) and all(self.towers.cuts[v.uid].gpu == mode for v in shards)
            return None if same else Difference(one, two, "the towers read the whole data set")
        if one.op == "train op" or two.op == "train op" or one.op == "gradients" or two.uid in self.towers.averages:
            return self._trained(one, two, mode)
        largest = one.op != two.op and all(op == "reduce" or has(op, Trait.LARGEST) for op in (one.op, two.op))
        if (one.op != two.op and not largest) or type(one) is not type(two):
            same = isinstance(one, Input) and isinstance(two, Input) and self.same_node(one.node, two.node)
            return None if same else _unlike(one, two)
        if largest:
            return self.differ(one.inputs[0], two.inputs[0], mode)
        if not self.same_node(one.node, two.node):
            why = f"the name stands for another {one.op or 'operation'} in the converted text"
            return Difference(one, two, why)
        if has(one.op, Trait.SCHEDULES):
            self.schedules.append((one, two))
        if isinstance(one, Input) and one.label != two.label and two.label in self.labels:
            return Difference(one, two, f"{one.label} in the script, {two.label} in the converted text")
        if isinstance(one, Input):
            self.inputs[one.uid] = two
        if mode is not None and isinstance(two, Input) and isinstance(one, Input) and one.is_batch:
            return Difference(one, two, "the towers read the whole batch")
        found = self.all_differ(self._without_updates(one, two, mode), two.inputs, mode, (one, two))
        listed = isinstance(one, Variable) and self._is_another(one, two)
        if found is not None and isinstance(one, Variable) and (mode is not None or listed):
            return replace(found, doubtful=True)  # of a later tower, or of a layer that is reused
        return found

    def _is_another(self, one: Tensor, two: Tensor) -> bool:
        """Whether other expressions made two variables: they stand at one place of a list."""
        return two.node is not None and self.nodes.get(two.node, two.node) is not one.node

    def _without_updates(self, one: Tensor, two: Tensor, mode: Mode) -> SequenceType[Value]:
        """What a value is made of; of a loss that is written out behind the layers' updates, without these.

        `with tf.control_dependencies(update_ops): optimizer.minimize(loss + decay)` orders the sum, which reads none of
        the moving averages that they set.
        """
        loss = mode is not None and not two.control and any(step.loss is one for step in self.first.train_steps)
        updates = [v for v in one.control if isinstance(v, Tensor) and v.op == _UPDATES] if loss else []
        return [v for v in one.inputs if v not in updates] if updates else one.inputs

    # -- merges ---------------------------------------------------------------------------------

    def _merged(self, one: Value, two: Tensor, mode: Mode) -> Difference | None:
        merged = self.towers.merges[two.uid]
        if mode is not None:
            return Difference(one, two, "a tower reads what all towers made")
        if not isinstance(one, Tensor):
            return Difference(one, two, f"{_named(one)} in the script, a merge of tensors in the converted text")
        if len(merged.parts) != TOWERS:
            return Difference(one, two, f"{len(merged.parts)} parts of {TOWERS} towers are merged")
        kind = one.batch.kind
        if merged.how == "concat" and kind == "example" and one.batch.axis != merged.axis:
            return Difference(one, two, f"put together along axis {merged.axis} instead of {one.batch.axis}")
        if merged.how == "add" and kind == "example":
            return Difference(one, two, "the towers' rows are added up")
        if merged.how == "concat" and kind == "reduced":
            return Difference(one, two, "the towers' means or sums are put behind each other")
        cut = {part.whole.uid for part in self.towers.cuts.values()}
        made = [part.inputs[0] if isinstance(part, Tensor) and part.op == TRIM else part for part in merged.parts]
        whole = not any(root.uid in cut for part in made for root in part.roots)
        elsewhere = whole and bool(one.roots and self.trained) and not one.roots & self.trained
        if elsewhere and any(self.towers.cuts.keys().isdisjoint(needed([part])) for part in made):
            return Difference(one, two, "each tower makes all of it, of inputs that are not cut")
        if algebra.is_of_pairs(one):
            return Difference(one, two, "it has an entry for each two examples, and towers see those of their shards")
        for gpu, part in enumerate(merged.parts):
            if (found := self._part(one, part, gpu, merged.how)) is not None:
                return found
        return None

    def _part(self, one: Tensor, part: Value, gpu: int, how: str) -> Difference | None:
        """One tower's part of a merge: its share of a mean or a sum, or its rows."""
        share = ""
        if isinstance(part, Tensor) and part.op == TRIM:
            rows = self._cut_behind(part.inputs[1], (ROWS,))
            if rows is not None and rows.gpu != gpu:
                return Difference(one, part, "trimmed to the rows of another tower")
            part = part.inputs[0]
        elif isinstance(part, Tensor) and part.op == SHARE:
            weight = self._cut_behind(part.inputs[1], (WEIGHT,))
            share = "weight" if weight is not None else "rows"
            if weight is not None and weight.gpu != gpu:
                return Difference(one, part, "weighted as another tower")
            if weight is None and not self._may_be_added(one):
                why = "the towers' parts of a mean are added up without their weights"
                return Difference(one, part, why)
            part = part.inputs[0]
        elif isinstance(part, Tensor) and part.op == COUNTED:
            part = part.inputs[0]
        elif how == "add" and isinstance(part, Tensor) and not self._may_be_added(one):
            return Difference(one, part, "the towers' parts of what is a mean or a constant are added up")
        if share == "weight" and self._is_sum(one) and (self.total or part.uid not in self.losses):
            return Difference(one, part, "the towers' parts of a sum are averaged")
        return self._of_branch(one, part, gpu)

    def _of_branch(self, one: Tensor, part: Value, gpu: int) -> Difference | None:
        """A tower's own value; if branches leave theirs in one place, the value of one of them."""
        among = choices(part) if isinstance(part, Tensor) and len(choices(one)) == 1 else []
        differences = [self.differ(one, value, gpu) for value in ([part, *among] if len(among) > 1 else [part])]
        return None if None in differences else differences[0]

    def _may_be_added(self, one: Tensor) -> bool:
        rows = one.batch.kind == "example" and not self.added  # averaged, as towers with a batch each are
        lost = one.batch.kind == "opaque" and not is_of_own(one)
        return lost or (self._is_sum(one) and not rows)

    def _is_sum(self, one: Tensor) -> bool:
        """Whether it is a sum over the examples; of a loss with a row for each, the gradients are those of the sum."""
        return one.batch.kind == "example" or (one.batch.kind == "reduced" and one.batch.how == "sum")

    def _cut_behind(self, value: Value, ops: tuple[str, ...]) -> TowerPart | None:
        for inner in behind(value):
            if isinstance(inner, Tensor) and inner.op in ops:
                return self.towers.cuts.get(inner.uid)
        return None

    # -- training -------------------------------------------------------------------------------

    def _trained(self, one: Tensor, two: Tensor, mode: Mode) -> Difference | None:
        """A training step, or the gradients in front of one."""
        step, other = self.steps.get(one.uid), self.steps_too.get(two.uid)
        averaged = self.towers.averages.get(two.uid)
        if averaged is None and step is not None and other is None:
            averaged = next((self.towers.averages[v.uid] for v in _near(two) if v.uid in self.towers.averages), None)
        if step is not None and averaged is not None:
            return self._averaged(step, averaged, one, two)
        if one.op != two.op:
            return _unlike(one, two)
        if step is None or other is None:
            if one.op == "train op":
                return self._applied(one, two, mode)
            return self.all_differ(one.inputs, two.inputs, mode, (one, two))
        return self._whole_step(step, other, mode)

    def _applied(self, one: Tensor, two: Tensor, mode: Mode) -> Difference | None:
        """Gradients that are applied to variables; pairs of them may come in another order."""
        found = self.all_differ(one.inputs, two.inputs, mode, (one, two))
        if found is None or not isinstance(found.one, Variable) or not isinstance(found.two, Variable):
            return found
        there, here = ([t for v in each.inputs for t in tensors_in(v)] for each in (one, two))
        if len(there) != len(here):
            return Difference(one, two, f"{len(there)} tensors in the script, {len(here)} in the converted text")
        variables = [Sequence(t for t in side if isinstance(t, Variable)) for side in (there, here)]
        rest = [[t for t in side if not isinstance(t, Variable)] for side in (there, here)]
        return self._listed(*variables) or self.all_differ(rest[0], rest[1], mode, (one, two))

    def _averaged(self, step: TrainStep, averaged: Averaged, one: Tensor, two: Tensor) -> Difference | None:
        """A training step, and the average of the towers' gradients that took its place."""
        found = self._losses(step, averaged.losses, two)
        if found is not None:
            return found
        used = {other.uid: other for other in averaged.optimizers if other is not None}
        if len(used) > 1:
            return Difference(one, two, "each tower takes its gradients by an optimizer of its own")
        receiver = two.inputs[0] if two.op == "train op" and two.inputs else None
        if isinstance(receiver, Typed) and receiver.kind == "Optimizer" and used and receiver.uid not in used:
            return Difference(one, two, "the gradients are applied by another optimizer than the one that takes them")
        pairs = [(step.optimizer, other) for other in averaged.optimizers]
        pairs += [(step.variables, other) for other in averaged.variables]
        if two.op == "train op" and one.op == "train op":
            pairs.append((argument(one, 1, "global_step"), argument(two, 1, "global_step")))
        for first, second in pairs:
            if is_none(first) != is_none(second):
                return Difference(one, two, "an argument of the training step is on one side only")
            found = self.differ(first, second, self.turn(second, None)) if first is not None and second else None
            if found is not None:
                return found
        return None

    def _losses(self, step: TrainStep, losses: SequenceType[Value], two: Value) -> Difference | None:
        if len(losses) != TOWERS:
            return Difference(step.loss, two, f"gradients of {len(losses)} losses of {TOWERS} towers are averaged")
        return next((d for gpu, loss in enumerate(losses) if (d := self._loss_of(step.loss, loss, gpu))), None)

    def _loss_of(self, one: Tensor, loss: Value, gpu: int) -> Difference | None:
        """A tower's share of the loss; of a loss that a branch chooses, the share of each choice."""
        there, here = choices(one), choices(loss) if isinstance(loss, Tensor) else []
        if len(here) > 1 and len(there) == len(here):
            return next((d for a, b in zip(there, here, strict=True) if (d := self._loss_of(a, b, gpu))), None)
        if not isinstance(loss, Tensor) or loss.op not in (SHARE, COUNTED):
            if not self.added or not self._may_be_added(one):
                why = "the gradients of a tower's loss are taken without its weight"
                return Difference(one, loss, why)
            return self.differ(one, loss, gpu)
        return self._part(one, loss, gpu, "add")

    def _whole_step(self, step: TrainStep, other: TrainStep, mode: Mode) -> Difference | None:
        """A training step that was left in one piece; a function that builds it may be given the towers' losses."""
        own = self.towers.optimizers.get(other.optimizer.uid) if other.optimizer is not None else None
        found = self.differ(step.loss, other.loss, mode)
        if found is None and own is not None:
            found = self._losses(step, own[1].elements if isinstance(own[1], Sequence) else (), other.result)
        if found is None and own is None and step.optimizer is not None and other.optimizer is not None:
            found = self.differ(step.optimizer, other.optimizer, mode)
        if found is None and is_none(step.variables) != is_none(other.variables):
            return Difference(step.result, other.result, "the variables of the step are given on one side only")
        if found is None and step.variables is not None and other.variables is not None:
            found = self.differ(step.variables, other.variables, mode)
        if own is None and found is None and len(step.result.inputs) == len(other.result.inputs):
            found = self.all_differ(step.result.inputs, other.result.inputs, mode, (step.result, other.result))
        return found

    # -- numbers --------------------------------------------------------------------------------

    def _numbers(self, one: Number, two: Number, mode: Mode) -> Difference | None:
        if not self._same_number(one, two):
            why = f"{_number(one)} in the script, {_number(two)} in the converted text"
            return Difference(one, two, why, doubtful=one.value is None or two.value is None)
        power = self.power(two)
        if mode is not None and power not in (0, -1, MIXED):
            why = "a tower reads the size of the whole batch" if power > 0 else "the size of a shard is cut again"
            return Difference(one, two, why)
        return None

    def _same_number(self, one: Number, two: Number) -> bool:
        """True if a number is the original's, apart from factors of the number of towers."""
        key = one.uid, two.uid
        if key not in self.numbers:  # each sum holds both of its parts, and those of a loop all that came before
            self.numbers[key] = True
            self.numbers[key] = self._is_same_number(one, two)
        return self.numbers[key]

    def _is_same_number(self, one: Number, two: Number) -> bool:
        if one.value is not None and two.value is not None:
            return one.value == two.value
        inner = self._without_towers(two)
        if inner is not two:
            return isinstance(inner, Number) and self._same_number(one, inner)
        if one.inputs or two.inputs:
            return len(one.inputs) == len(two.inputs) and all(
                (
                    self._same_number(a, b)
                    if isinstance(a, Number) and isinstance(b, Number)
                    else self.differ(a, b, self.turn(b, None)) is None
                )
                for a, b in zip(one.inputs, two.inputs, strict=True)
            )
        there, here = {o.node for o in one.origins}, {self.nodes.get(o.node, o.node) for o in two.origins}
        return bool(there & here) or not there or not here

    def _without_towers(self, two: Number) -> Value:
        """The number that the tool's own product or helper was given."""
        return self.towers.sizes.get(two.uid) or self.towers.grown.get(two.uid) or two

    def power(self, two: Value) -> int:
        """The power of the number of towers in a number; MIXED where it is not a factor."""
        if not isinstance(two, Number):
            return 0
        if two.uid not in self.powers:
            terms = self.reading.of(two)
            known = SIZE in terms.atoms or not any(o.key[-1] == GROWN for o in two.origins)
            found = degree_in(terms) if known else None
            self.powers[two.uid] = MIXED if found is None or found.denominator > 1 else int(found)
        return self.powers[two.uid]

    # -- anything else --------------------------------------------------------------------------

    def _others(self, one: Value, two: Value, mode: Mode) -> Difference | None:
        both = one, two
        if isinstance(one, Constant) and isinstance(two, Constant):
            why = f"{one.value!r} in the script, {two.value!r} in the converted text"
            return None if one.value == two.value or self._is_own(one, two) else Difference(one, two, why)
        if isinstance(one, Symbol) and isinstance(two, Symbol):
            same = (one.library, one.name) == (two.library, two.name)
            return None if same else _doubt(one, two, f"{one.name} in the script, {two.name} in the converted text")
        if isinstance(one, (Function, Class)) and isinstance(two, (Function, Class)):
            same = self.statements.get(two.node, self.nodes.get(two.node, two.node)) is one.node
            return None if same else _doubt(one, two, f"{one.name} in the script, {two.name} in the converted text")
        if isinstance(one, Instance) and isinstance(two, Instance):
            return None if (one.cls is None) == (two.cls is None) else _doubt(one, two, "another object")
        if isinstance(one, (Count, ShapeOf)) and isinstance(two, (Count, ShapeOf)):
            return self.differ(one.tensor, two.tensor, mode)
        if isinstance(one, Sequence) and isinstance(two, Sequence):
            if _is_listed(one) and not self.first.told_by_position:
                return self._listed(one, two)
            if one.unmeasured or two.unmeasured:
                return self.all_differ(one.elements[:1], two.elements[:1], mode, both)
            if one.many != two.many:
                return _doubt(one, two, "as many elements as are known on one side only")
            return self.all_differ(one.elements, two.elements, mode, both)
        if isinstance(one, Mapping) and isinstance(two, Mapping):
            return self.all_differ(list(one.parts()), list(two.parts()), mode, both)
        if isinstance(one, Typed) and isinstance(two, Typed):
            return self._typed(one, two, mode)
        if isinstance(one, Bound) and isinstance(two, Bound):
            if one.name != two.name:
                return _doubt(one, two, f".{one.name} in the script, .{two.name} in the converted text")
            return self.differ(one.receiver, two.receiver, mode)
        if isinstance(one, Host) and isinstance(two, Host) and one.call != two.call:
            return _doubt(one, two, f"{one.call} in the script, {two.call} in the converted text")
        if isinstance(one, (Module, Absent)):
            return None
        if isinstance(one, (Host, Partial, Choice)):
            return self.all_differ(one.inputs, two.inputs, mode, both)
        return None

    def _listed(self, one: Sequence, two: Sequence) -> Difference | None:
        """Lists of the graph's variables: the same ones in any order; gradients beside them in theirs."""
        tensors = [[e for e in each.elements if isinstance(e, Tensor) and e.op != LISTED] for each in (one, two)]
        there = {id(t.node) for t in tensors[0] if t.op != "gradient"}
        here = {id(self.nodes.get(t.node, t.node) if t.node else None) for t in tensors[1] if t.op != "gradient"}
        if there != here:
            return _doubt(one, two, "other variables are listed")
        gradients = [[t for t in side if t.op == "gradient"] for side in tensors]
        return self.all_differ(gradients[0], gradients[1], None, (one, two))

    def _typed(self, one: Typed, two: Typed, mode: Mode) -> Difference | None:
        if two.uid in self.towers.optimizers:
            own, losses = self.towers.optimizers[two.uid]
            return self.differ(one, own, mode)
        if one.kind != two.kind or one.name != two.name:
            return Difference(one, two, f"{one.name} in the script, {two.name} in the converted text")
        if has(one.kind, Trait.RUNS) or has(one.kind, Trait.SETTINGS) or one.kind == "Settings":
            return None
        if one.kind == "Optimizer":
            if self.optimizers.setdefault(two.uid, one) is not one:
                return Difference(one, two, "two optimizers of the script are one in the converted text")
            pairs = zip(one.inputs, two.inputs, strict=False)
            self.rates += [(a, b, one.node) for a, b in pairs if isinstance(a, Number) and isinstance(b, Number)]
            return self.all_differ(one.inputs, self._at_own_rate(one, two), mode, (one, two))
        if one.kind == "VariableScope" and self.turn(two, mode):  # a later tower's scope reuses variables anyway
            return self.all_differ(_without_reuse(one), _without_reuse(two), mode, (one, two))
        return self.all_differ(one.inputs, two.inputs, mode, (one, two))

    def _at_own_rate(self, one: Typed, two: Typed) -> tuple[Value, ...]:
        """An optimizer's arguments without the learning rate that --scale-lr changes."""
        written = two.kwargs.get("learning_rate")
        added = self.scale_lr != "none" and len(two.inputs) == len(one.inputs) + 1 and "learning_rate" not in one.kwargs
        return tuple(self._unscaled(value) for value in two.inputs if not added or value is not written)

    def _unscaled(self, rate: Value) -> Value:
        """A learning rate without the factor that --scale-lr asks for.

        What the towers' updates wait for may stand behind both, where the product is made in the graph.
        """
        product = isinstance(rate, Number) or (isinstance(rate, Tensor) and rate.op == "multiply")
        if self.scale_lr == "none" or not product or len(rate.inputs) < 2:
            return rate
        inner, factor = rate.inputs[:2]
        grows = isinstance(factor, Number) and self.towers.origin in factor.origins
        linear = isinstance(factor, Number) and self.towers.origin in factor.linear
        return inner if grows and linear == (self.scale_lr == "linear") else rate


def _without_reuse(scope: Typed) -> list[Value]:
    return [value for value in scope.inputs if value is not scope.kwargs.get(REUSES)]


def _is_listed(value: Value) -> bool:
    """Whether it is a list of all of the graph's variables."""
    return isinstance(value, Sequence) and any(isinstance(e, Tensor) and e.op == LISTED for e in value.elements)


def _is_gathered(value: Value) -> bool:
    """Whether it is a list of all that the graph holds of a kind: its variables, or a collection."""
    gathered = isinstance(value, Sequence) and bool(value.elements)
    last = value.elements[-1] if gathered and isinstance(value, Sequence) else None
    return isinstance(last, Tensor) and stands_for_unseen(last)


def argument(tensor: Tensor, position: int, name: str) -> Value | None:
    """An argument of the method call that made a tensor."""
    call = tensor.node
    if not isinstance(call, ast.Call) or any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    given = tensor.inputs[1:]
    names = [k.arg for k in call.keywords]
    if len(given) < len(call.args) + len(names):
        return None
    if name in names:
        return given[len(call.args) + names.index(name)]
    return given[position] if position < len(call.args) else None


def _near(two: Tensor) -> list[Value]:
    """The values in which gradients are passed on: pairs, zipped lists."""
    found: list[Value] = []
    todo: list[Value] = list(two.inputs)
    while todo and len(found) < 50:
        value = todo.pop(0)
        found.append(value)
        if isinstance(value, Sequence):
            todo += value.elements
        elif isinstance(value, Tensor) and value.op == "gradient":
            todo += value.inputs
    return found


def _elsewhere(mode: Mode, made: Mode) -> str:
    if mode is None:
        return "the whole batch's in the script, and one tower's in the converted text"
    return "a tower reads the whole batch's" if made is None else "a tower reads what another one made"


def _doubt(one: Value, two: Value, why: str) -> Difference:
    """True if the walk itself may cause a difference, by following another number of iterations or calls."""
    return Difference(one, two, why, doubtful=True)


def _unlike(one: Value, two: Value) -> Difference:
    if isinstance(two, Symbol) and two.library == "builtins":
        return Difference(one, two, f"nothing is bound to {two.name} yet in the converted text")
    why = f"{_named(one)} in the script, {_named(two)} in the converted text"
    listed = any(isinstance(v, Tensor) and v.op == LISTED for v in (one, two))
    listed |= isinstance(two, Tensor) and not two.op
    return Difference(one, two, why, doubtful=listed or (isinstance(two, Tensor) and has(two.op, Trait.CONCATENATES)))


def _named(value: Value) -> str:
    if isinstance(value, Tensor):
        return value.op or "a tensor"
    if isinstance(value, Typed):
        return value.name
    if isinstance(value, Host):
        return value.call or "a value of Python"
    return type(value).__name__.lower()


def _number(value: Number) -> str:
    return "another number" if value.value is None else repr(value.value)


def _without_elements(values: SequenceType[Value]) -> SequenceType[Value]:
    """Values without the elements of a list of any number that stands among them: how many of these are seen varies."""
    held = {e.uid for v in values if isinstance(v, Sequence) and v.many for e in v.elements}
    return [v for v in values if v.uid not in held] if held else values


__all__ = ["WalkComparison", "Difference"]
