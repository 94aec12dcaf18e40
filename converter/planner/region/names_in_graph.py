"""Names in the graph that the model takes on one GPU, and that the towers' scopes leave free."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.facts import Facts
from converter.analysis.inputs.graph_names import name_expression, pattern_of
from converter.planner.region.region import Region


def names_taken(facts: Facts, region: Region) -> Iterator[str]:
    """The names, as patterns, that the model has at the top of its scope on one GPU."""
    for tensor in facts.tensors:
        depth = region.depth_of(tensor) if region.in_tower(tensor.site) else None
        if depth is None:
            continue
        given = name_expression(tensor)
        if len(tensor.scopes) > depth:
            yield tensor.scopes[depth].replace("?", "*").lower()
        elif given is not None:
            yield pattern_of(given).partition("/")[0].lower()
        else:  # TensorFlow names an operation by its function: Mean for tf.reduce_mean
            function = getattr(getattr(tensor.node, "func", None), "attr", tensor.op)
            yield function.lower().replace("reduce_", "").replace("_", "")
