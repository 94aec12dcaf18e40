"""tf.contrib.training.HParams: settings that a text on the command line may replace."""

from __future__ import annotations

import re

from converter.analysis.call import Call, Handler
from converter.analysis.python.calling import SPREAD
from converter.analysis.python.items import get_attribute
from converter.analysis.python.settings import replace_sizes, set_all, set_attribute
from converter.analysis.rows import table
from converter.analysis.values import ENTRIES, Constant, Host, Typed, Value


def _hparams(call: Call) -> Value:
    made = call.typed("HParams")
    made.state.update({name: value for name, value in call.kwargs.items() if name != SPREAD})
    if SPREAD in call.kwargs:
        replace_sizes(call.walk, made, call.kwargs[SPREAD], call.node)
    return made


def _parse(call: Call) -> Value:
    """`hparams.parse('lr=0.1,layers=2')`: any of the settings, where the text is not written there."""
    assert call.receiver is not None
    text = call.constant(0, "values", "values_json")
    if not isinstance(text, str) or any("batch" in name.lower() for name in re.findall(r"\w+", text)):
        replace_sizes(call.walk, call.receiver, Host(call.args), call.node)
    return call.receiver


def _override(call: Call) -> Value:
    assert call.receiver is not None
    set_all(call.walk, call.receiver, call.get(0, "values_dict") or Host(), call.node)
    return call.receiver


def _set(call: Call) -> Value:
    name, value = call.constant(0, "name"), call.get(1, "value")
    if isinstance(name, str) and call.receiver is not None and value is not None:
        set_attribute(call.walk, call.receiver, name, value, call.node)
    return Constant(None)


def _get(call: Call) -> Value:
    name = call.constant(0, "key")
    if not isinstance(name, str) or call.receiver is None:
        return Host(call.values(), "get", call.node)
    return get_attribute(call.walk, call.receiver, name, call.node)


def _values(call: Call) -> Value:
    assert call.receiver is not None
    return Typed(ENTRIES, call.name, [call.receiver], {}, call.node)


CALLS: dict[str, Handler] = table(
    ("contrib.training.HParams", _hparams),
    ("HParams.parse HParams.parse_json", _parse),
    ("HParams.override_from_dict", _override),
    ("HParams.set_hparam HParams.add_hparam", _set),
    ("HParams.get", _get),
    ("HParams.values", _values),
)
