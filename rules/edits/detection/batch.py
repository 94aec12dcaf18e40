"""The batch of a configuration is the one of all clones."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG156",
        title="batch_size of a configuration is multiplied by the number of GPUs",
        why="The Object Detection API's trainer takes batch_size as the batch of all clones: each clone gets "
        "batch_size // num_clones examples. Multiplied by the number of GPUs, each clone takes what the one "
        "GPU took. With --batch total the number stays, and must be a multiple of the number of GPUs. "
        "Everything else in the configuration stays as it is, comments too. The trainer is told the number of "
        "GPUs by --num_clones (convert prints the command); it never reads its flag --ps_tasks. Evaluation "
        "and export go on using one GPU and the same configuration.",
        before="""\
model {
  ssd {
    num_classes: 37
  }
}
train_config {
  batch_size: 24
  optimizer {
    adam_optimizer {
      learning_rate {
        manual_step_learning_rate {
          initial_learning_rate: 0.0002
          schedule {
            step: 90000
            learning_rate: 0.00002
          }
        }
      }
    }
  }
  num_steps: 120000
}
""",
        after="""\
  batch_size: 48
""",
        references=("TensorFlow's models: research/object_detection/legacy/trainer.py and train.py",),
        file="pipeline.config",
    ),
)
