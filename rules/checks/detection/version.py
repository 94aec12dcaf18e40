"""Configurations for TensorFlow 2."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG272",
        title="the configuration is for TensorFlow 2",
        why="fine_tune_checkpoint_version: V2 is for model_main_tf2.py, which trains under "
        "tf.distribute.MirroredStrategy on all visible GPUs without being told. The trainer with clones, "
        "legacy/train.py, cannot load such a checkpoint.",
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
  fine_tune_checkpoint_version: V2
  num_steps: 120000
}
""",
        after="""\
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
        references=("TensorFlow's models: research/object_detection/model_main_tf2.py",),
        file="pipeline.config",
    ),
)
