"""Quantisation-aware training stores its ranges under the clones' names."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG270",
        title="the graph is quantised while several clones train",
        why="tf.contrib.quantize names the variables for the ranges of weights and activations after the scope "
        "that they are found in. With several clones that is clone_0/, clone_1/, so each clone learns ranges "
        "of its own, and no checkpoint has those that evaluation, export and training on one GPU look for: they end "
        "with NotFoundError, Key …/act_quant/min not found in checkpoint. "
        "Train without graph_rewriter on several GPUs, then go on from that checkpoint on one GPU with it.",
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
graph_rewriter {
  quantization {
    delay: 48000
    weight_bits: 8
    activation_bits: 8
  }
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
        references=("TensorFlow 1.15.5, two clones: tf.contrib.quantize makes clone_0/Conv/act_quant/min",),
        file="pipeline.config",
    ),
)
