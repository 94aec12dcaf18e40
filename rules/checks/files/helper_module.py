"""Another script does not find the module of helpers."""

from __future__ import annotations

import os
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.writing.findings import at_user
from converter.rule import Rule
from rules.checks.files.other_scripts import MODEL_AND_USER

_APART = MODEL_AND_USER.replace("# --- model.py ---", "# --- nets/__init__.py ---\n# --- nets/model.py ---").replace(
    "from model import", "from nets.model import", 1
).replace("# --- train.py ---", "# --- nets/train.py ---")

RULES = (
    Rule(
        code="TMG265",
        title="another script does not find the module of helpers",
        why="Files that change import the number of towers and their helpers from a module beside the converted "
        "script, or in a folder that all scripts which import such a file have on their path. Here there is none: a "
        "script in another folder imports such a file, too, does not look for modules beside the converted one, and "
        "would end with an ImportError. Put both scripts into one folder, or let the other one add the folder to "
        "sys.path. The example is converted in place.",
        before=_APART,
        after=_APART.replace("# --- nets/train.py ---", "# --- train.py ---").replace(
            "from model import", "from nets.model import"
        ),
    ),
)


@check(Shared)
def helpers_not_found(case: Shared) -> Iterator[Diagnostic]:
    """Other scripts that do not find the module of helpers that the changed files import."""
    script = os.path.dirname(os.path.abspath(case.facts.path))
    here = os.path.normpath(os.path.join(script, case.plans[0].helper_folder))
    module = case.plans[0].helper_module
    beside = module and not module.startswith(".") and case.options.helpers != "package"
    where = f"beside {os.path.basename(case.facts.path)}" if here == script else f"in {os.path.relpath(here, script)}"
    for user in case.users if beside else ():
        if here not in user.folders:
            yield at_user(
                case.facts,
                user,
                "TMG265",
                f"it imports files that change, and does not find {module} {where}, which these will import",
                f"add {_way(user.path, here)} to sys.path in front of this import, or put the two scripts into one "
                "folder",
            )


def _way(user: str, folder: str) -> str:
    """The folder of the helpers as another script would write it: `ae`, `../nets`."""
    way = os.path.relpath(folder, os.path.dirname(user)).replace(os.sep, "/")
    return f"the folder {way}" if way != "." else "its own folder"
