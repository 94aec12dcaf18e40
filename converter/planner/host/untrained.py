"""Branches of the script in which nothing trains, such as `else:` after `if train:`: they get one tower.

An evaluation over whole batches leaves out more rows where a batch is N times as large. A run of the script that comes
to such a branch takes no training step, so it needs no batch of all GPUs: with one tower it computes what the original
does. If a step is taken there after all, it is the original's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import field
from itertools import chain

from converter.analysis.facts import Facts, RunCall, TrainStep
from converter.analysis.values import Input, Mapping, Sequence, Sides, Site, Tensor, Value, built_from
from converter.dataclass import dataclass
from converter.planner.questions.conditions import Answers, Branch, Conditions, branches_around


def untrained_branches(facts: Facts, steps: Iterable[TrainStep]) -> list[Branch]:
    """The outermost branches around runs and pipelines that train nothing, where the condition decides that."""
    trained = {step.result.uid for step in (*steps, *facts.train_steps)}
    training = facts.runs_of((*steps, *facts.train_steps))
    if not training:
        return []
    modes = _Modes(Conditions(facts), frozenset(trained), tuple(training))
    sites = [*(run.site for run in facts.runs), *(made.site for made in facts.inputs if made.site is not None)]
    found = (modes.outermost(site) for site in sites)
    return list(dict.fromkeys(branch for branch in found if branch is not None))


@dataclass(frozen=True)
class _Modes:
    """What of a script trains.

    training: the runs that compute what is in trained. known: whether something that is fetched trains, once looked up.
    """

    conditions: Conditions
    trained: frozenset[int]
    training: tuple[RunCall, ...]
    known: dict[tuple[int, ...], bool] = field(default_factory=dict, compare=False)

    def outermost(self, site: Site) -> Branch | None:
        """The outermost branch around a statement in which nothing trains, of those where a line can be inserted."""
        around = branches_around(site)
        for number, branch in enumerate(around, 1):
            if not self._trains(around[:number]) and not branch.is_elif:
                return branch
        return None

    def _trains(self, known: list[Branch]) -> bool:
        """Whether a training run may be made where these sides are taken."""
        asked = (self.conditions.answers(one.stmt.test, one.frame, one.side) for one in known)
        answers = dict(chain.from_iterable(asked))
        sides = known[-1].sides
        return any(self._may_train(run, answers, sides) for run in self.training)

    def _may_train(self, run: RunCall, answers: Answers, sides: Sides) -> bool:
        if run.site.leaves_out(sides) or self.conditions.contradicts(run.site, answers):
            return False
        fetched = [part for value in run.fetches for part in self._chosen(value, answers)]
        key = tuple(part.uid for part in fetched)
        if key not in self.known:
            self.known[key] = not self.trained.isdisjoint(built_from(fetched))
        return self.known[key]

    def _chosen(self, value: Value, answers: Answers) -> Iterator[Value]:
        """The tensors that a fetch can give, if conditions have these known answers."""
        if isinstance(value, (Sequence, Mapping)):
            for part in value.parts():
                yield from self._chosen(part, answers)
            return
        taken = None
        if isinstance(value, Tensor) and _is_choice(value) and value.site is not None:
            assert isinstance(value.node, (ast.If, ast.IfExp))
            taken = self.conditions.truth(value.node.test, value.site.frame, answers)
        if taken is None:
            yield value
        else:
            yield from self._chosen(value.inputs[0 if taken else 1], answers)


def _is_choice(value: Tensor) -> bool:
    """Whether a tensor is one of two among which a condition chooses: the one of its body comes first."""
    both = len(value.inputs) == 2 and all(isinstance(v, Tensor) and not isinstance(v, Input) for v in value.inputs)
    return value.op == "join" and both and isinstance(value.node, (ast.If, ast.IfExp))
