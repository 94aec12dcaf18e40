"""The script uses several GPUs already."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.effects import EffectKind
from converter.analysis.facts import Facts, behind_losses
from converter.diagnostics import Diagnostic
from converter.planner.cases import Selected, Started
from converter.planner.checking import check
from converter.planner.questions.imported import imported_names
from converter.planner.questions.several_gpus import devices_of_several_gpus, differs_by_turn
from converter.planner.questions.statements import is_executed
from converter.planner.steps import is_run, takes_a_step
from converter.planner.wording import finding

CODES = ("TMG216",)


BY_PACKAGE = {"multi_gpu_model": "TMG216 multi_gpu_model", "model_deploy": "TMG216 model_deploy"}


@check(Started, unless=("TMG217",))
def places_on_several_gpus(case: Started) -> Iterator[Diagnostic]:
    """Scripts that name several GPUs for their model, or import a file that was converted before."""
    facts = case.facts
    trains = any(map(is_run, facts.train_steps))
    for effect in facts.effects:
        if effect.kind is EffectKind.CONVERTED_MODULE:
            if takes_a_step(facts):
                yield finding(facts, effect.node, "TMG216 converted_module", name=effect.name)
            else:  # it goes on as it is: the module builds its model for one GPU here
                yield finding(facts, facts.tree, "TMG201 converted_module", name=effect.name)
    for effect in devices_of_several_gpus(facts):
        if not trains or is_executed(effect.site):
            yield finding(facts, effect.node, "TMG216 devices")
            return


@check(Selected)
def places_by_a_loop(case: Selected) -> Iterator[Diagnostic]:
    """Refuse training steps built in a loop over GPUs, `range(gpus)`, that runs once as written."""
    devices = [e for e in case.facts.effects_of(EffectKind.DEVICE) if differs_by_turn(e)] if case.unbatched else []
    sites = [v.site for v in behind_losses(case.unbatched).values() if v.site is not None] if devices else []
    model = {around.stmt for site in sites for around in site.chain()}
    for effect in devices:
        if is_executed(effect.site) and effect.site.stmt in model:
            yield finding(case.facts, effect.node, "TMG216 loop_over_gpus")
            return


@check(Selected)
def spread_by_a_package(case: Selected) -> Iterator[Diagnostic]:
    """Scripts without a training step of their own that a package spreads over GPUs."""
    if case.steps:
        return
    if not case.facts.train_steps or any(e.kind is EffectKind.OTHER_TRAINING for e in case.facts.effects):
        yield from several_gpus(case.facts)


def several_gpus(facts: Facts) -> Iterator[Diagnostic]:
    """The packages that spread a model over GPUs, where the script imports one of them."""
    for part, key in BY_PACKAGE.items():
        for name, node in imported_names(facts):
            if part in name.split("."):
                yield finding(facts, node, key)
                return
