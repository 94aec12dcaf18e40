"""A refusal of towers says whether the cluster target takes the script; that is what a conversion for it shows."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from converter.cli.app import main
from converter.cli.convert import NO_OFFER
from converter.conversion import convert
from converter.options import Options
from converter.rule import all_rules
from converter.source import Source, from_bytes
from converter.targets.cluster.offer import takes
from tests.styles import STYLES

UNSEEDED = "import numpy as np\ndraws = np.random.RandomState()\n"
FLAGGED = "FLAG = '--task_index'\n"
RULES = {rule.code: rule for rule in all_rules() if rule.kind == "refusal" and rule.file == "train.py"}


def sources() -> dict[str, Source]:
    """The scripts of the rules that refuse one, those of the styles, and some that no target takes."""
    texts = {code: rule.before for code, rule in RULES.items()}
    texts |= {f"{code}, no seed": UNSEEDED + rule.before for code, rule in RULES.items() if code < "TMG210"}
    texts |= {style.name: style.script for style in STYLES if "\n" in style.script}
    return {name: from_bytes("train.py", text.encode()) for name, text in texts.items()}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", sources())
def test_what_is_offered_is_converted(name: str) -> None:
    source = sources()[name]
    towers = convert(source, Options(target="towers"))
    codes = {finding.code for finding in towers.diagnostics if finding.severity == "error"}
    if codes & NO_OFFER:
        return
    assert takes(source) is (convert(source, Options(target="cluster")).status == "converted")


@pytest.mark.parametrize(("before", "offered"), [("", True), (UNSEEDED, False), (FLAGGED, False)])
def test_the_offer_stands_below_the_refusal(
    before: str, offered: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(before + RULES["TMG204"].before)
    assert main(["convert", str(tmp_path / "train.py")]) == 2
    said = capsys.readouterr().err
    assert ("--target cluster would convert it" in said) is offered, said
    if offered:
        program, *command = shlex.split(said.splitlines()[-1])
        assert program == "tf-multigpu"
        assert main(command) == 0
        assert (tmp_path / "train_cluster.py").read_text().startswith("# tf-multigpu")


BY_HAND = """\
import numpy as np
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.LSTM(1, input_shape=(4, 2))])
model.compile('sgd', 'mse')
model.train_on_batch(np.ones((8, 4, 2)), np.ones((8, 1)))
"""


@pytest.mark.parametrize(("layer", "offered"), [("LSTM(1, ", True), ("LSTM(1, stateful=True, ", False)])
def test_the_offer_to_a_script_of_keras(
    layer: str, offered: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.py").write_text(BY_HAND.replace("LSTM(1, ", layer))
    assert main(["convert", str(tmp_path / "train.py")]) == 2
    said = capsys.readouterr().err
    assert "TMG289" in said and ("--target cluster would convert it" in said) is offered, said
