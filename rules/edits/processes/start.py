"""How the processes start, and which GPU each has."""

from __future__ import annotations

from converter.rule import Rule
from rules.checks.processes import SCRIPT, changed

RULES = (
    Rule(
        code="TMG176",
        title="torchrun starts a process for each GPU",
        why="torchrun starts the script once for each GPU and tells each process its number. The processes join each "
        "other before the script does its first work, all with the same random state, so that a random split of "
        "the data is the same in all; only rank 0 prints. Where there is no GPU they run on the CPU, connected "
        "by gloo. start_processes() stands in front of the script's own seeds, which go on meaning what they "
        "meant. At the end the threads of gloo go with the last reference to the process group; threads that are "
        "left when Python ends may abort the process (PyTorch 2.13). So a wrapper that the module holds is let go of, "
        "and torch.distributed.nn, whose functions have the group as a default if the wrapper imports it, is imported "
        "before there is one.",
        before=SCRIPT,
        after="""\
# tf-multigpu: helpers for training with a process for each GPU
rank, world_size = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])
start_processes()
x, y = torch.load('images.pt', map_location='cpu'), torch.load('labels.pt', map_location='cpu')
dist.destroy_process_group()
""",
        references=("torchrun (torch/distributed/run.py, PyTorch 2.13)",),
    ),
    Rule(
        code="TMG181",
        title="each process has a GPU of its own",
        why="start_processes() sets the current GPU of each process, which is what cuda means from then on; a number "
        "behind it would put all processes on one GPU. What torch.save has written is loaded to the CPU first: "
        "without map_location every process would load it to the GPU that it was saved from. load_state_dict() "
        "then copies it to where the model is.",
        before=changed("'cuda'", "'cuda:0'"),
        after="""\
net.to('cuda')
""",
    ),
)
