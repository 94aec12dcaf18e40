"""Another script does not find the module of helpers."""

from __future__ import annotations

import os
from collections.abc import Iterator

from converter.diagnostics import Diagnostic
from converter.planner.cases import Shared
from converter.planner.checking import check
from converter.planner.writing.aliases import helper_home
from converter.planner.writing.findings import at_user

CODES = ("TMG265",)


@check(Shared)
def helpers_not_found(case: Shared) -> Iterator[Diagnostic]:
    """Other scripts that do not find the module of helpers that the changed files import."""
    script = os.path.dirname(os.path.abspath(case.facts.path))
    here = helper_home(case.facts.path, case.plans[0])
    module = case.plans[0].helper_module
    beside = module and not module.startswith(".") and case.options.helpers != "package"
    where = f"beside {os.path.basename(case.facts.path)}" if here == script else f"in {os.path.relpath(here, script)}"
    led = {os.path.abspath(plan.path) for plan in case.plans if plan.helper_path}
    for user in case.users if beside else ():
        if here not in user.folders and user.path not in led:
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
