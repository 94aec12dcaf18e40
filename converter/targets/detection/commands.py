"""How the Object Detection API's programs are started with a configuration.

The flags are those of legacy/train.py, legacy/eval.py and export_inference_graph.py (research/object_detection in
TensorFlow's models repository, as of TensorFlow 1.13 and 1.15).
"""

from __future__ import annotations

import shlex

from converter.plan.decisions import Command


def commands(path: str, gpus: int) -> tuple[Command, ...]:
    """The commands for training on several GPUs, and for what stays on one.

    path: of the configuration, as seen from where the commands are run.
    """
    devices = ",".join(str(gpu) for gpu in range(gpus))
    config = shlex.quote(f"--pipeline_config_path={path}")
    return (
        Command(
            "train",
            f"CUDA_VISIBLE_DEVICES={devices} python object_detection/legacy/train.py --logtostderr {config} "
            f"--train_dir=TRAIN_DIR --num_clones={gpus}",
        ),
        Command(
            "evaluate",
            f"CUDA_VISIBLE_DEVICES=0 python object_detection/legacy/eval.py --logtostderr {config} "
            "--checkpoint_dir=TRAIN_DIR --eval_dir=EVAL_DIR",
        ),
        Command(
            "export",
            "CUDA_VISIBLE_DEVICES=0 python object_detection/export_inference_graph.py --input_type=image_tensor "
            f"{config} --trained_checkpoint_prefix=TRAIN_DIR/model.ckpt-STEP --output_directory=EXPORT_DIR",
        ),
    )
