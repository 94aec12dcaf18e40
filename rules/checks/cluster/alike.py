"""Generators that differ between workers."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.cluster import changed

READ = "images, labels = np.load('images.npy'), np.load('labels.npy')\n"
ORDER = "images = images[generator.permutation(len(images))]\n"

RULES = (
    Rule(
        code="TMG260",
        title="each worker would draw other numbers",
        why="All workers prepare the same batches, and each trains on its part of them. random.seed and "
        "numpy.random.seed are the same in all, whatever the script gives them, and so is the order of shuffled "
        "datasets. A generator that the script makes without a seed begins with the system's randomness, differently "
        "in each worker: parts of different batches would overlap. A worker that finds so in its first steps ends "
        "with a message; this refusal says it before.",
        before=changed(READ, f"{READ}generator = np.random.RandomState()\n{ORDER}"),
        after=changed(READ, f"{READ}generator = np.random.RandomState(1)\n{ORDER}"),
        options=("--target", "cluster"),
    ),
)
