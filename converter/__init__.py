"""tf-multigpu: rewrites single-GPU TensorFlow 1.x training scripts for several GPUs.

Text flows one way: source -> facts -> plan -> edits -> text, then report; beside it, verify.
"""

__version__ = "0.2.0"
