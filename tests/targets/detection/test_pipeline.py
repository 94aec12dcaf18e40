"""Configurations of the Object Detection API: what changes for several GPUs, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from converter.conversion import Conversion, commands_of, convert
from converter.options import Options
from converter.source import from_bytes

CONFIG = """\
# SSD for pets
model { ssd { num_classes: 37 } }
train_config: {
  batch_size: 24  # for one GPU
  optimizer {
    rms_prop_optimizer: {
      learning_rate: {
        exponential_decay_learning_rate {
          initial_learning_rate: 0.004
          decay_steps: 800720
        }
      }
      momentum_optimizer_value: 0.9
    }
  }
  num_steps: 200000
}
train_input_reader: { label_map_path: "pets.pbtxt" }
eval_config: { num_examples: 1101 }
eval_input_reader: { queue_capacity: 10 }
"""
RATE = "          initial_learning_rate: 0.004\n          decay_steps: 800720\n"


def converted(text: str, **options: object) -> Conversion:
    return convert(from_bytes("p.config", text.encode()), replace(Options(), **options))  # type: ignore[arg-type]


def body(done: Conversion) -> str:
    """A converted configuration without its header."""
    assert done.status == "converted", done.diagnostics
    lines = (done.text or "").splitlines(keepends=True)
    assert all(line.startswith("# tf-multigpu") for line in lines[:2])
    return "".join(lines[2:])


def findings(text: str, **options: object) -> list[tuple[str, int, int]]:
    done = converted(text, **options)
    assert (done.status == "refused") == bool(done.diagnostics)
    return [(finding.code, finding.line, finding.column) for finding in done.diagnostics]


def with_train(line: str) -> str:
    return CONFIG.replace("  num_steps", f"  {line}\n  num_steps")


# -- what changes ------------------------------------------------------------------------------------


def test_only_the_batch_changes() -> None:
    assert body(converted(CONFIG)) == CONFIG.replace("batch_size: 24", "batch_size: 48")


def test_the_total_may_stay() -> None:
    assert body(converted(CONFIG, batch="total", num_gpus=4)) == CONFIG


def test_one_gpu_changes_nothing() -> None:
    assert body(converted(CONFIG, num_gpus=1)) == CONFIG


def test_a_batch_of_one_becomes_one_for_each() -> None:
    assert "batch_size: 3 " in body(converted(CONFIG.replace("24", "1"), num_gpus=3))


def test_line_ends_stay() -> None:
    text = CONFIG.replace("\n", "\r\n")
    done = converted(text)
    assert body(done) == text.replace("batch_size: 24", "batch_size: 48")
    assert (done.text or "").count("\n") == (done.text or "").count("\r\n")


@pytest.mark.parametrize(
    "text",
    [
        # Other numbers and names that look like the batch of the training.
        CONFIG.replace("queue_capacity: 10", "batch_size: 8"),
        CONFIG.replace("num_examples: 1101", "batch_size: 1"),
        CONFIG.replace("# SSD for pets", "# train_config { batch_size: 7 }"),
        CONFIG.replace('"pets.pbtxt"', '"batch_size: 5"'),
        with_train("batch_queue_capacity: 24"),
        with_train("sync_replicas: false"),
        with_train("replicas_to_aggregate: 8"),
        with_train('fine_tune_checkpoint_version: "V1"'),
        CONFIG + "graph_rewriter { }\n",
    ],
)
def test_near_misses(text: str) -> None:
    assert body(converted(text)) == text.replace("batch_size: 24", "batch_size: 48")


@pytest.mark.parametrize(
    ("schedule", "scaled"),
    [
        ("constant_learning_rate { learning_rate: .5 }", "constant_learning_rate { learning_rate: 2 }"),
        ("constant_learning_rate { learning_rate: 1e-3f }", "constant_learning_rate { learning_rate: 0.004 }"),
        (
            "manual_step_learning_rate { initial_learning_rate: 1 schedule { step: 9 learning_rate: 0.25 } }",
            "manual_step_learning_rate { initial_learning_rate: 4 schedule { step: 9 learning_rate: 1 } }",
        ),
        (
            "cosine_decay_learning_rate { learning_rate_base: 1 total_steps: 9 warmup_learning_rate: 0.5 }",
            "cosine_decay_learning_rate { learning_rate_base: 4 total_steps: 9 warmup_learning_rate: 2 }",
        ),
        (
            "exponential_decay_learning_rate { initial_learning_rate: 1 decay_factor: 0.9 min_learning_rate: 0.5 }",
            "exponential_decay_learning_rate { initial_learning_rate: 4 decay_factor: 0.9 min_learning_rate: 2 }",
        ),
    ],
)
def test_every_rate_follows_the_option(schedule: str, scaled: str) -> None:
    kind = "        exponential_decay_learning_rate {\n" + RATE + "        }\n"
    before, after = CONFIG.replace(kind, schedule), CONFIG.replace(kind, scaled)
    assert body(converted(before, num_gpus=4, scale_lr="linear")) == after.replace("batch_size: 24", "batch_size: 96")
    assert body(converted(before, num_gpus=4)) == before.replace("batch_size: 24", "batch_size: 96")


def test_the_square_root() -> None:
    assert "initial_learning_rate: 0.008\n" in body(converted(CONFIG, num_gpus=4, scale_lr="sqrt"))


def test_converting_again_changes_nothing() -> None:
    done = converted(converted(CONFIG).text or "")
    assert (done.status, [finding.code for finding in done.diagnostics]) == ("unchanged", ["TMG009"])


def test_what_is_decided_is_said() -> None:
    told = {decision.topic: decision.text for decision in converted(CONFIG, num_gpus=4).decisions}
    assert told == {
        "batch": "24 becomes 96: each of 4 GPUs takes 24 (line 4)",
        "GPUs": "told to the trainer by --num_clones; it never reads its flag --ps_tasks",
        "learning rate": "unchanged",
        "steps": "unchanged, and each takes 4 times the examples: "
        "num_steps 200000 (line 16), decay_steps 800720 (line 10)",
    }


def test_lines_say_which_rule_changed_them() -> None:
    done = converted(CONFIG, scale_lr="linear")
    lines = (done.text or "").split("\n")
    assert [(codes, lines[line - 1].strip()) for line, codes in done.trace[1:]] == [
        (("TMG156",), "batch_size: 48  # for one GPU"),
        (("TMG157",), "initial_learning_rate: 0.008"),
    ]


def test_the_commands() -> None:
    options = Options(num_gpus=3)
    done = convert(from_bytes("p.config", CONFIG.encode()), options)
    train, evaluate, export = commands_of(done, "my configs/p3.config", options)
    path = "'--pipeline_config_path=my configs/p3.config'"
    assert train.line.startswith("CUDA_VISIBLE_DEVICES=0,1,2 python object_detection/legacy/train.py ")
    assert path in train.line and train.line.endswith("--num_clones=3") and "ps_tasks" not in train.line
    for command in (evaluate, export):
        assert command.line.startswith("CUDA_VISIBLE_DEVICES=0 python ") and path in command.line
        assert "num_clones" not in command.line


def test_scripts_have_no_commands() -> None:
    assert commands_of(convert(from_bytes("t.py", b"import os\n"), Options()), "t.py", Options()) == ()


# -- what is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "found"),
    [
        (CONFIG, {"batch": "total", "num_gpus": 5}, [("TMG268", 4, 15)]),
        (CONFIG.replace("24", "1"), {"batch": "total"}, [("TMG268", 4, 15)]),
        (CONFIG.replace("24", "0x18"), {}, [("TMG268", 4, 15)]),
        (CONFIG.replace("24", "0"), {}, [("TMG268", 4, 15)]),
        (CONFIG.replace("24", "-1"), {}, [("TMG268", 4, 15)]),
        (CONFIG.replace("  batch_size: 24", "  "), {}, [("TMG268", 3, 1)]),
        (with_train("sync_replicas: true"), {}, [("TMG269", 16, 18)]),
        (CONFIG + "graph_rewriter { quantization { delay: 48000 } }\n", {}, [("TMG270", 21, 18)]),
        (with_train("fine_tune_checkpoint_version: V2"), {}, [("TMG272", 16, 33)]),
        (CONFIG.replace("train_config", "train_cfg"), {}, [("TMG267", 1, 1)]),
        (CONFIG + "train_config { batch_size: 9 }\n", {}, [("TMG267", 21, 1)]),
        (CONFIG.replace("num_steps: 200000", "num_steps 200000"), {}, [("TMG267", 16, 13)]),
        (CONFIG.replace("# SSD", "ä: 'ä' }"), {}, [("TMG267", 1, 1)]),
        (CONFIG.replace("# SSD for pets", "a: 'ä' }"), {}, [("TMG267", 1, 9)]),  # columns count bytes
        (CONFIG.replace(RATE, ""), {"scale_lr": "linear"}, [("TMG273", 8, 9)]),
        (CONFIG.replace("0.004", "fast"), {"scale_lr": "linear"}, [("TMG273", 9, 34)]),
        (CONFIG.replace("optimizer {", "optimiser {"), {"scale_lr": "linear"}, [("TMG273", 3, 1)]),
        (CONFIG, {"num_gpus": None}, [("TMG271", 1, 1)]),
        (CONFIG, {"shared": ("x",), "loss": "global"}, [("TMG271", 1, 1), ("TMG271", 1, 1)]),
        (CONFIG, {"target": "mirrored"}, [("TMG271", 1, 1)]),
        (CONFIG, {"helpers": "module"}, [("TMG271", 1, 1)]),
    ],
)
def test_what_is_refused(text: str, options: dict[str, object], found: list[tuple[str, int, int]]) -> None:
    assert findings(text, **options) == found


def test_one_gpu_may_do_all_that_clones_cannot() -> None:
    text = with_train("sync_replicas: true") + "graph_rewriter { quantization { delay: 48000 } }\n"
    assert findings(text, num_gpus=1) == []


def test_a_batch_that_cannot_be_shared_says_what_would_be_left_out() -> None:
    messages = [converted(CONFIG.replace("24", size), batch="total", num_gpus=5).diagnostics[0].message
                for size in ("24", "3")]  # fmt: skip
    assert "gives each 4, 4 of 24 examples are left out of each step" in messages[0]
    assert "gives each 0, which is an error" in messages[1]


def test_sync_replicas_shared_the_batch() -> None:
    text = with_train("sync_replicas: true\n  replicas_to_aggregate: 8")
    assert "batch_size was shared by 8 replicas" in converted(text).diagnostics[0].hint
