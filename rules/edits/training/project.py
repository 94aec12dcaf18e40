"""Scripts whose model, gradients or batch size stand in other files of their project."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.files.files_that_change import MODEL
from rules.checks.files.other_scripts import MODEL_AND_USER

RULES = (
    Rule(
        code="TMG115",
        title="several files share one module of helpers",
        why="Local imports are followed, and what the towers need changes where it stands: the loop in the "
        "file that builds the model and its loss, the gradients where they are taken, the batch size where "
        "it is defined, the configuration where the session is made. The helpers, and the number of GPUs, "
        "then lie in one module beside the script, from which these files import them. Each changed file "
        "carries a header of its own; files that need no change are not written.",
        before=MODEL,
        after="""\
import tower_helpers

batch_size = 64 * tower_helpers.num_gpus
""",
    ),
    Rule(
        code="TMG127",
        title="other scripts go on building the model for one GPU",
        why="A file that changes with the script is imported by others too, for evaluation or prediction. They "
        "must not get towers: they may build the model without its loss, feed as many rows as a placeholder has "
        "on one GPU, or read tensors by their names. So the number of towers is one, and the model is built as it "
        "was, without towers' names and devices, unless the converted script is the one that is run: it alone "
        "sets the number, before it imports the files that read it. Scripts, packages and notebooks in and below "
        "the folder that holds the script and the changed files are looked through; those that the script "
        "imports itself count where they can be run. The example is converted in place.",
        before=MODEL_AND_USER,
        after="""\
if __name__ == '__main__':
    tower_helpers.num_gpus = 2
from model import Net
""",
    ),
)
