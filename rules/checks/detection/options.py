"""Options that a configuration has no place for."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG271",
        title="this option has no effect for a configuration of the Object Detection API",
        why="Where variables live, how much memory a GPU gives and which inputs are shared are decided by the "
        "trainer. A configuration is not a program, so it cannot count GPUs (--num-gpus auto) and nothing of it can "
        "be run (--verify, --trace). Leave the option out; in pyproject.toml it holds for scripts alone.",
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
        options=("--variables", "gpu:0",),
        file="pipeline.config",
    ),
)
