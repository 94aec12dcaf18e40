"""The clones cannot share the batch."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG268",
        title="the batch size of a configuration cannot be shared by the GPUs",
        why="The Object Detection API's trainer gives each clone batch_size // num_clones examples, so a "
        "remainder is left out of every step, and with a batch that is smaller than the number of GPUs (many "
        "Faster R-CNN configurations have a batch of one) each clone would take none. Write a number that can "
        "be shared, or leave --batch total out: then each GPU takes the batch that the one GPU took.",
        before="""\
model {
  ssd {
    num_classes: 37
  }
}
train_config {
  batch_size: 1
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
        references=("TensorFlow's models: research/object_detection/legacy/trainer.py",),
        options=("--batch", "total",),
        file="pipeline.config",
    ),
)
