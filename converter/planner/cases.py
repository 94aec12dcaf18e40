"""What is known of a script after each pass: what the checks of that stage see, and what the next pass takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from converter.analysis.facts import Facts, TrainStep
from converter.analysis.values import Origin
from converter.dataclass import dataclass
from converter.diagnostics import Diagnostic
from converter.options import Options
from converter.plan import Plan
from converter.planner.batch_size.batch_size import BatchSize
from converter.planner.batch_size.evaluated import Evaluated, evaluated
from converter.planner.batch_size.intervals import SizeReads, reads_of
from converter.planner.host.evaluations import Evaluations
from converter.planner.questions.conditions import Branch
from converter.planner.region.executions import StepGroup
from converter.planner.region.region import Region
from converter.planner.towers.merges.wanted import Wanted
from converter.planner.writing.free_names import TakenNames
from converter.source.project.array_readers import RowsTaken
from converter.source.project.graph_readers import GraphReader
from converter.source.project.users import User


@dataclass(frozen=True)
class Sources:
    """The files that may be planned.

    read: gives a file's text by its path, "" for the script. several: whether other files than the
    script may change. taken: whether a module, by its path from the script's folder, cannot be the one that carries
    the helpers and this definition. users: other scripts that import some of these files, which are
    given by their absolute paths. mention: whether another file of the project holds one of these names. readers:
    calls in other scripts of the folder that read the graph of a checkpoint. asked: texts there that may be names of
    its operations. rows: numbers by which these scripts reshape what they load.
    """

    read: Callable[[str], str]
    several: bool
    taken: Callable[[str, str], bool]
    users: Callable[[list[str]], Sequence[User]]
    mention: Callable[[list[str], Collection[str]], bool]
    readers: Callable[[], Sequence[GraphReader]] = tuple
    asked: Callable[[], frozenset[str]] = frozenset
    rows: Callable[[], Sequence[RowsTaken]] = tuple


def single_file(text: str) -> Sources:
    """The sources of a script without other files."""
    return Sources(
        read=lambda path: text,
        several=False,
        taken=lambda module, define: False,
        users=lambda paths: (),
        mention=lambda paths, names: False,
    )


@dataclass(frozen=True)
class Started:
    """A script as the analysis read it, how it is to be converted, and the names that its files have."""

    facts: Facts
    options: Options
    sources: Sources
    names: TakenNames


@dataclass(frozen=True)
class Selected(Started):
    """A script and its training steps.

    steps: the training steps that a batch goes into. unbatched: those that no batch is seen to go into.
    searches: those that only search values for a trained model: they stay on one GPU.
    """

    steps: tuple[TrainStep, ...]
    unbatched: tuple[TrainStep, ...]
    searches: tuple[TrainStep, ...]

    @property
    def trains_on_batches(self) -> bool:
        """Whether some call minimises a loss that a batch goes into."""
        return any(step.loss.batch.kind != "free" for step in self.facts.train_steps)


@dataclass(frozen=True)
class WithBatchSize(Selected):
    """A script whose batch size is known; the options say whether it grows with the number of towers."""

    size: BatchSize


@dataclass(frozen=True)
class Placed(WithBatchSize):
    """A script and where its loops stand.

    groups: the training steps by the loops that they share.
    """

    groups: tuple[StepGroup, ...]

    @property
    def regions(self) -> tuple[Region, ...]:
        """Where the loops stand."""
        return tuple(group.region for group in self.groups)

    @cached_property
    def size_reads(self) -> SizeReads:
        """The reads of a batch size that grows, outside the towers, and what tells what they count."""
        grown = self.size.scaled if self.options.batch == "per-gpu" else frozenset[Origin]()
        return reads_of(self.facts, self.regions, self.steps, grown)

    @property
    def evaluated(self) -> Evaluated:
        """The evaluations that keep the script's batch size, as --eval-batch asks."""
        return evaluated(self.facts, self.options, self.regions, self.steps, self.size.scaled)

    @property
    def evaluations(self) -> Evaluations:
        """The evaluations, as batches of all GPUs would change them."""
        return Evaluations(
            facts=self.facts,
            regions=self.regions,
            steps=self.steps,
            sizes=self.size.scaled if self.options.batch == "per-gpu" else frozenset(),
            gpus=self.options.num_gpus or 2,
            kept=self.evaluated.calls,
        )


@dataclass(frozen=True)
class Leaving(Placed):
    """One of the loops, and the values that leave its towers."""

    region: Region
    wanted: Wanted


@dataclass(frozen=True)
class Planned(Placed):
    """A script and the plans of the files that change, the script's first.

    noted: warnings that came up while they were made. one_tower: branches in which one tower is built.
    module: the name of the module that carries the helpers; "" where the script does.
    """

    plans: tuple[Plan, ...]
    noted: tuple[Diagnostic, ...]
    one_tower: tuple[Branch, ...]
    module: str


@dataclass(frozen=True)
class Shared(Planned):
    """The same, once other scripts of the project that import these files are known."""

    users: tuple[User, ...]
