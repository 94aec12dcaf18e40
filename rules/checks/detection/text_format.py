"""What is no configuration to train with."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG267",
        title="the configuration cannot be read, or trains nothing",
        why="A configuration is a message in protobuf's text format with a train_config. The message says where "
        "reading ended: a brace that closes nothing, a field without a value, a message that is there twice.",
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
  num_steps 120000
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
        references=("https://protobuf.dev/reference/protobuf/textformat-spec",),
        file="pipeline.config",
    ),
)
