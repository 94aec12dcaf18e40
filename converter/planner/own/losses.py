"""Losses of which each tower has its own example, and the terms that they are sums of: the towers' mean is exact."""

from __future__ import annotations

from collections.abc import Iterator

from converter.analysis.facts import Facts
from converter.analysis.traits import Trait, has
from converter.analysis.values import Batch, Tensor, is_of_own, tensors_in


def settle_losses(facts: Facts) -> Facts:
    """The facts, in which losses of towers' own examples are means, and the numbers that these are sums of, too.

    A tower's loss is what one GPU computes from the same example, so the mean over the towers is that over their
    examples. The same holds for what is added up to it: `loss = box_loss + 0.1 * size_loss`.
    """
    for step in facts.train_steps:
        for term in _terms(step.loss) if is_of_own(step.loss) and not step.loss.dims else ():
            term.batch = Batch("reduced", how="mean")
    return facts


def _terms(loss: Tensor) -> Iterator[Tensor]:
    """A loss and the numbers that it is a weighted sum of, as far as they depend on the batch."""
    todo, seen = [loss], set[int]()
    while todo:
        value = todo.pop()
        if value.uid in seen or not is_of_own(value) or not (value is loss or value.dims == ()):
            continue
        seen.add(value.uid)
        yield value
        operands = [tensor for part in value.operands for tensor in tensors_in(part)]
        varying = [tensor for tensor in operands if tensor.batch.kind != "free"]
        numerator = value.op != "divide" or varying == operands[:1]
        weighted = has(value.op, Trait.SCALES) and len(varying) == 1 and numerator
        if has(value.op, Trait.ADDS) or has(value.op, Trait.LINEAR) or weighted:
            todo += varying
