"""Settings in dicts whose entries are attributes, too: a batch size is scaled where it is written."""

from __future__ import annotations

import pytest

from tests.scripts import INPUTS, MODEL, STEP, TRAINING, codes, converted

REST = INPUTS.replace("batch_size = 32\n", "{settings}") + MODEL + STEP + TRAINING


def script(settings: str, imports: str = "from easydict import EasyDict\n", size: str = "cfg.train.size") -> str:
    text = imports + REST.replace("{settings}", settings)
    return text.replace("next_batch(batch_size)", f"next_batch({size})".replace("size", "batch_size"))


@pytest.mark.parametrize(
    ("settings", "written", "size"),
    [
        (
            "cfg = EasyDict()\ncfg.train = EasyDict()\ncfg.train.batch_size = 32\n",
            "cfg.train.batch_size = 32 * num_gpus\n",
            "cfg.train.size",
        ),
        ("cfg = EasyDict({'train': {'batch_size': 32}})\n", "{'batch_size': 32 * num_gpus}", "cfg.train.size"),
        ("cfg = EasyDict(train=EasyDict(batch_size=32))\n", "EasyDict(batch_size=32 * num_gpus)", "cfg.train.size"),
        ("cfg = EasyDict()\ncfg['batch_size'] = 32\n", "cfg['batch_size'] = 32 * num_gpus\n", "cfg.size"),
        ("cfg = EasyDict()\ncfg.batch_size = 32\n", "cfg.batch_size = 32 * num_gpus\n", "cfg['size']"),
        ("cfg = EasyDict()\ncfg.update(batch_size=32)\n", "batch_size=32 * num_gpus)\n", "cfg.get('size')"),
        ("cfg = EasyDict()\ncfg.batch_size = 8\ncfg.batch_size = 32\n", "= 32 * num_gpus\n", "cfg.size"),
    ],
)
def test_a_batch_size_is_scaled_where_it_is_written(settings: str, written: str, size: str) -> None:
    assert written in converted(script(settings, size=size))


@pytest.mark.parametrize(
    ("imports", "maker"),
    [
        ("from easydict import EasyDict as edict\n", "edict()"),
        ("import munch\n", "munch.Munch()"),
        ("from types import SimpleNamespace\n", "SimpleNamespace()"),
    ],
)
def test_other_classes_of_that_kind(imports: str, maker: str) -> None:
    text = converted(script(f"cfg = {maker}\ncfg.batch_size = 32\n", imports, "cfg.size"))
    assert "cfg.batch_size = 32 * num_gpus\n" in text


@pytest.mark.parametrize(
    "settings",
    [
        "import yaml\ncfg = EasyDict({'batch_size': 32})\ncfg.update(yaml.safe_load(open('c.yml')))\n",
        "import yaml\ncfg = EasyDict({'batch_size': 32})\nread = yaml.safe_load(open('c.yml'))\n"
        "for k, v in read.items():\n    cfg[k] = v\n",
    ],
)
def test_a_size_that_a_file_may_replace_is_scaled_where_it_is_read(settings: str) -> None:
    text = converted(script(settings, size="cfg.size"))
    assert "next_batch(cfg.batch_size * num_gpus)" in text
    assert "{'batch_size': 32}" in text


def test_a_dict_from_a_file_alone_is_read_as_settings() -> None:
    settings = "import yaml\ncfg = EasyDict(yaml.safe_load(open('c.yml')))\n"
    assert "next_batch(cfg.batch_size * num_gpus)" in converted(script(settings, size="cfg.size"))


def test_other_numbers_stay() -> None:
    text = converted(script("cfg = EasyDict({'batch_size': 32, 'epochs': 7})\ncfg.units = 32\n", size="cfg.size"))
    assert "'epochs': 7}" in text and "cfg.units = 32\n" in text
    assert codes(script("cfg = EasyDict({'batch_size': 32})\n", size="cfg.size")) == []


OWN = "class Settings(dict):\n    {body}\n\n\n"
ITSELF = "def __init__(self, *args, **kwargs):\n        {}.__init__({}*args, **kwargs)\n        self.__dict__ = self"


@pytest.mark.parametrize(
    "body",
    [
        ITSELF.format("super(Settings, self)", ""),
        ITSELF.format("super()", ""),
        ITSELF.format("dict", "self, "),
        "__getattr__ = dict.get\n    __setattr__ = dict.__setitem__",
        "__getattr__ = dict.__getitem__\n    __setattr__ = dict.__setitem__",
    ],
)
@pytest.mark.parametrize(
    ("settings", "written"),
    [
        ("cfg = Settings({'batch_size': 32})\n", "{'batch_size': 32 * num_gpus}"),
        ("cfg = Settings(batch_size=32)\n", "Settings(batch_size=32 * num_gpus)"),
        ("cfg = Settings()\ncfg.batch_size = 32\n", "cfg.batch_size = 32 * num_gpus\n"),
        ("cfg = Settings()\ncfg['batch_size'] = 32\n", "cfg['batch_size'] = 32 * num_gpus\n"),
        ("cfg = Settings()\ncfg.update(batch_size=32)\n", "cfg.update(batch_size=32 * num_gpus)\n"),
    ],
)
def test_dicts_of_the_script_s_own_class(body: str, settings: str, written: str) -> None:
    assert written in converted(script(settings, OWN.format(body=body), "cfg.size"))


def test_a_dict_whose_attributes_are_its_own() -> None:
    """Its entries are no attributes: `cfg.batch_size` is what the constructor sets."""
    body = ITSELF.format("dict", "self, ").replace("self.__dict__ = self", "self.batch_size = 8")
    text = converted(script("cfg = Settings(batch_size=32)\n", OWN.format(body=body), "cfg.size"))
    assert "self.batch_size = 8 * num_gpus" in text and "Settings(batch_size=32)" in text


def test_a_model_in_such_a_dict() -> None:
    made = OWN.format(body=ITSELF.format("dict", "self, "))
    graph = INPUTS.replace("batch_size = 32\n", "g = Settings()\n")
    graph = graph.replace("X = ", "X = g.x = ").replace("Y = ", "Y = g.y = ")
    fed = TRAINING.replace("{X: xs, Y: ys}", "{g.x: xs, g.y: ys}").replace("batch_size", "32")
    assert codes(made + graph + MODEL + STEP + fed) == []
