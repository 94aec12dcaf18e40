"""Summaries, savers and other host side objects: they stay after the loop."""

from __future__ import annotations

from converter.analysis.call import Call, Handler
from converter.analysis.effects import EffectKind
from converter.analysis.rows import below, makes, nothing, on_host, table, unbatched
from converter.analysis.traits import Argument, Trait
from converter.analysis.values import Tensor, Value
from rules.calls.training.loss import note_scope


def _merge(call: Call) -> Value:
    call.walk.effect(EffectKind.GRAPH_STATE, call.name, None, call.node)
    if call.name == "summary.merge_all":
        note_scope(call, 1)
    return Tensor(inputs=call.values(), op="merged summary")


def _of_graph(call: Call) -> Value:
    call.walk.effect(EffectKind.GRAPH_STATE, call.name, None, call.node)
    return on_host(call)


def _checkpoint(call: Call) -> Value:
    of_saver = call.name.startswith("Saver.")
    path = call.get(1, "save_path") if of_saver else call.get(0, "checkpoint_dir")
    call.walk.effect(EffectKind.CHECKPOINT, call.name, path, call.node)
    return on_host(call)


SUMMARIES = "scalar histogram image audio text"
OLD = "scalar_summary histogram_summary image_summary audio_summary".split()
HOST = (
    "FileWriter.add_summary FileWriter.add_graph FileWriter.flush FileWriter.close "
    "SummaryWriter.add_summary Coordinator.join Coordinator.should_stop Coordinator.request_stop "
    "train.start_queue_runners train.checkpoint_exists "
    "gfile.Exists gfile.MakeDirs gfile.DeleteRecursively gfile.GFile gfile.Open gfile.IsDirectory gfile.ListDirectory "
    "train.write_graph train.global_step train.import_meta_graph logging.info logging.warn "
    "Graph.finalize train.NewCheckpointReader"
).split()
CHECKPOINTS = "Saver.save Saver.restore train.get_checkpoint_state train.latest_checkpoint".split()

POSITIONS: dict[Argument, dict[str, int]] = {Argument.NAME: {"summary": 0}}

TRAITS: dict[Trait, str] = {
    Trait.SHOWS: "summary.scalar summary.histogram summary.image summary.audio summary.text Print add_summary",
    Trait.ENDS_EAGERNESS: "disable_v2_behavior disable_eager_execution",
    Trait.NO_OPERATIONS: "compat.as_* errors.* gfile.* logging.* summary.FileWriter* Summary*",
    Trait.READS_STEP: "train.global_step",
    Trait.SEEDS: "set_random_seed random_set_random_seed",
    Trait.SAVES: "train.Saver",
    Trait.CHECKPOINTS: "save restore",
    Trait.TAKES_VARIABLES: "Saver",
    Trait.TAKES_VARIABLE: "Saver",
    Trait.TAKES_ALL_VARIABLES: "train.Saver",
}

CALLS: dict[str, Handler] = table(
    ((*below("summary.", SUMMARIES), *OLD), unbatched(op="summary", effect=EffectKind.COLLECTION, about="summaries")),
    ("summary.merge summary.merge_all merge_summary merge_all_summaries", _merge),
    ("summary.FileWriter", makes("FileWriter", EffectKind.GRAPH_STATE)),
    *(
        (f"train.{kind}", makes(kind, EffectKind.GRAPH_STATE))
        for kind in ("Saver", "SummaryWriter", "Coordinator", "Supervisor", "SessionManager")
    ),
    ("add_check_numerics_ops", unbatched(effect=EffectKind.GRAPH_STATE)),
    ("Graph.get_operations Graph.as_graph_def", _of_graph),
    (HOST, on_host),
    (CHECKPOINTS, _checkpoint),
    (
        "set_random_seed random_set_random_seed random_set_seed reset_default_graph disable_v2_behavior "
        "disable_eager_execution logging.set_verbosity Graph.seed Saver.__call__",
        nothing,
    ),
)
