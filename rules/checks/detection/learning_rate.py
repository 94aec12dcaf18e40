"""A learning rate that --scale-lr cannot change."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG273",
        title="a learning rate that --scale-lr is to change is not written in the configuration",
        why="--scale-lr multiplies the rates that the configuration names. One that is left out takes a default "
        "of the Object Detection API, which would stay as it is while the others grow. Write it out.",
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
        references=("TensorFlow's models: research/object_detection/protos/optimizer.proto",),
        options=("--scale-lr", "linear",),
        file="pipeline.config",
    ),
)
