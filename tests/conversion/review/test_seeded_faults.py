"""Faults that are put into right plans are found, each with the script's line and the converted one."""

from __future__ import annotations

import re
from dataclasses import replace
from unittest.mock import patch

import pytest

from converter.conversion import Conversion, convert
from converter.options import Options
from converter.plan import Plan
from converter.planner import passes
from converter.source import read
from tests.conversion.review.faults import faults
from tests.goldens import FIXTURES

# A fixture, and a fault as tests/conversion/review/faults.py names it.
FAULTS = [
    ("accumulated_steps", "input_not_cut x"),
    ("accumulated_steps", "input_not_cut y"),
    ("argparse_main", "input_not_cut images"),
    ("accumulated_steps", "inputs_swapped y/x"),
    ("argparse_main", "inputs_swapped labels/images"),
    ("arrays_in_graph", "inputs_swapped ys/xs"),
    ("accumulated_steps", "not_restored x"),
    ("accumulated_steps", "not_restored y"),
    ("argparse_main", "not_restored images"),
    ("accumulated_steps", "not_merged logits"),
    ("accumulated_steps", "not_merged loss"),
    ("argparse_main", "not_merged loss"),
    ("accumulated_steps", "rows_added logits"),
    ("argparse_main", "rows_added logits"),
    ("arrays_in_graph", "rows_added prediction"),
    ("accumulated_steps", "mean_joined loss"),
    ("argparse_main", "mean_joined loss"),
    ("arrays_in_graph", "mean_joined error"),
    ("accumulated_steps", "mean_summed loss"),
    ("argparse_main", "mean_summed loss"),
    ("attention", "mean_summed loss"),
    ("accumulated_steps", "axis_of_merge logits"),
    ("argparse_main", "axis_of_merge logits"),
    ("arrays_in_graph", "axis_of_merge prediction"),
    ("accumulated_steps", "left_behind line 20"),
    ("accumulated_steps", "left_behind line 21"),
    ("argparse_main", "left_behind line 59"),
    ("accumulated_steps", "too_early line 20"),
    ("accumulated_steps", "too_early line 21"),
    ("argparse_main", "too_early line 59"),
    ("accumulated_steps", "out_of_order lines 20, 21"),
    ("attention", "out_of_order lines 56, 57"),
    ("attention", "out_of_order lines 57, 59"),
    ("accumulated_steps", "expression_left line 8 TMG110"),
    ("argparse_main", "expression_left line 69 TMG110"),
    ("autoencoder", "expression_left line 15 TMG110"),
    ("accumulated_steps", "size_counted_twice line 8"),
    ("argparse_main", "size_counted_twice line 69"),
    ("attention", "size_counted_twice named, line 77"),
    ("accumulated_steps", "argument_lost line 28 var_list"),
    ("clipped_gradients", "argument_lost line 50 var_list"),
    ("decay_per_epoch", "argument_lost line 25 global_step"),
    ("arrays_in_graph", "sum_averaged error"),
    ("arrays_in_graph", "sum_averaged loss"),
    ("full_batch", "sum_averaged cost"),
    ("averaged_moments", "before_the_merge line 55"),
    ("base_model", "context_left_out TowerCollections"),
    ("inference_loss_training", "context_left_out SharedVariables"),
    ("model_by_flag", "context_left_out TowerCollections"),
    ("placeholders_in_model", "context_left_out TowerInputs"),
    ("placeholders_in_model", "not_restored net.images"),
    ("placeholders_in_model", "not_restored net.weights"),
    ("step_in_branch", "not_merged self.scores"),
    ("step_in_branch", "mean_joined self.loss"),
    ('collected_losses', "collections_not_merged 'losses'"),
    ("ctc", "not_computed_again 0"),
    ("distributions", "not_computed_again 0"),
    ("moving_averages", "not_computed_again 0"),
    ("drawn_noise", "another_loss line 58"),
    ("drawn_noise", "another_loss line 59"),
    ("gradient_penalty", "another_loss line 49"),
    ("fixed_batch", "size_of_whole_batch self.batch_size"),
    ("reading_pipeline", "size_of_whole_batch BATCH_SIZE"),
    ("recurrent", "size_of_whole_batch batch_size"),
    ("graph_dict", "too_late line 33"),
    ("graph_namedtuple", "tuple_not_remade inputs"),
    ("step_decoder", "tuple_not_remade hps"),
    ("step_decoder", "tuple_not_remade self.hps"),
    ("graph_namedtuple", "tuple_not_rebuilt outputs"),
    ("lazy_property", "not_reset self._cache_prediction"),
    ("lazy_property", "not_reset self._cache_hidden"),
    ("python_between", "not_reset scope_name.used"),
    ("listed_inputs", "nest_not_cut inputs"),
    ("optional_parts", "nest_not_cut self.places"),
    ("optional_parts", "nest_not_cut self.shift"),
    ('parsed_examples', "axis_of_shard basket['items']"),
    ('parsed_examples', "axis_of_shard basket['amounts']"),
    ("parsed_examples", "axis_of_shard paid"),
    ("loss_in_function", "size_of_whole_batch score"),
    ("loss_in_function", "size_of_whole_batch penalty"),
    ("loss_in_function", "parts_swapped score/penalty"),
    ("loss_in_function", "not_restored score"),
]
LINES = re.compile(r"\(line \d+ of the converted text: .+\)")


def converted_with(fixture: str, fault: str) -> Conversion:
    """A fixture's conversion by a plan that has a fault."""
    decide = passes.decide

    def decide_wrongly(*given: object) -> object:
        made = decide(*given)
        if not isinstance(made, passes.Decided):  # the script is read once more, with other inputs
            return made
        wrong: dict[str, Plan] = dict(faults(made.plans[0]))
        return replace(made, plans=(wrong[fault], *made.plans[1:]))

    with patch.object(passes, "decide", decide_wrongly):
        return convert(read(str(FIXTURES / fixture / "single.py")), Options())


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("fixture", "fault"), FAULTS)
def test_seeded_faults_are_found(fixture: str, fault: str) -> None:
    conversion = converted_with(fixture, fault)
    if conversion.status == "refused":
        (finding,) = conversion.diagnostics
        assert finding.code == "TMG290" and finding.line > 0
        assert LINES.search(finding.message)
    else:
        assert any(LINES.search(doubt) for doubt in conversion.unread)


def test_faults_are_of_many_kinds() -> None:
    assert len(FAULTS) >= 40 and len({fault.split()[0] for _, fault in FAULTS}) >= 25
