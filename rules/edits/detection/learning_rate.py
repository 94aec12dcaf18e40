"""Learning rates of a configuration follow --scale-lr."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG157",
        title="the learning rates of a configuration are multiplied",
        why="With --scale-lr linear or sqrt every rate of train_config.optimizer is multiplied: the constant "
        "rate, the first one and each later one of a schedule, the one of the warm-up. Steps stay: they count "
        "batches, and a batch has more examples now.",
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
          initial_learning_rate: 0.0004
            step: 90000
            learning_rate: 4e-05
""",
        references=("TensorFlow's models: research/object_detection/protos/optimizer.proto",),
        options=("--scale-lr", "linear",),
        file="pipeline.config",
    ),
)
