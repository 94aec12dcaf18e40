"""Replicas of several machines beside clones."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG269",
        title="sync_replicas is set, and there are several clones",
        why="sync_replicas waits for workers on several machines. With it and several clones the Object Detection "
        "API's trainer ends with a ValueError. The clones of one machine need nothing of the kind: one step "
        "adds up the gradients of all of them. The trainer also divides batch_size by replicas_to_aggregate, "
        "so a batch size from such a configuration may be too large for one GPU.",
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
  sync_replicas: true
  replicas_to_aggregate: 8
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
  sync_replicas: false
  replicas_to_aggregate: 8
  num_steps: 120000
}
""",
        references=("TensorFlow's models: research/object_detection/legacy/trainer.py",),
        file="pipeline.config",
    ),
)
