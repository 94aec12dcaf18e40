"""Two folders of a project, original and converted: every converted script, and those that import a changed file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from converter.source.header import HeaderError, find_header
from converter.source.project.above import start_of
from converter.source.quick_checks import SCRIPTS, code_of, scripts_in
from converter.verify.data import CheckResult, Progress, Report, VerifyError, VerifySettings
from converter.verify.processes.interpreters import Interpreters, opened
from converter.verify.run import verify
from converter.verify.runs.flags import modules_of


def verify_folders(
    single: Path,
    multi: Path,
    settings: VerifySettings,
    tell: Callable[[Progress], None] | None = None,
    pool: Interpreters | None = None,
) -> Report:
    """The report of the first converted script; each further one is a check of it.

    After the training of the first one, the scripts that import a file that the conversion changed run in both
    folders, and those of `settings.also`; see other_scripts.py.

    Raises:
        VerifyError: no script of the one folder is a conversion of one in the other.
    """
    names = converted_in(single, multi)
    if not names:
        raise VerifyError(f"{multi.name} holds no script that was converted from one in {single.name}")
    until = time.monotonic() + settings.timeout
    also = tuple(dict.fromkeys((*settings.also, *_reached(single, names[0], affected_in(single, multi, names)))))
    checks = []
    with opened(pool) as interpreters:
        report = verify(single / names[0], multi / names[0], replace(settings, also=also), None, tell, interpreters)
        for name in names[1:]:
            asked = replace(settings, timeout=max(1.0, until - time.monotonic()), also=())
            found = verify(single / name, multi / name, asked, None, None, interpreters)
            checks.append(CheckResult(name, found.status, found.reason))
    entries = [check.entry() for check in checks]
    failed = [check for check in checks if check.status != "passed"]
    origin = replace(report.origin, script=names[0])
    report = replace(report, checks=(*report.checks, *checks), ledger=(*report.ledger, *entries), origin=origin)
    if report.verdict != "passed":
        return replace(report, reason=f"{names[0]}: {report.reason}")
    if not failed:
        return report
    worst = min(failed, key=lambda check: check.status)  # failed, then skipped
    return replace(
        report,
        verdict="failed" if worst.status == "failed" else "not comparable",
        reason=f"{worst.name}: {worst.detail}",
    )


def _reached(single: Path, trained: str, names: Iterable[str]) -> Iterator[str]:
    """Scripts that lie in the folder which is copied for the training of one, by their paths from that one's folder."""
    root = Path(start_of(str((single / trained).resolve())).root)
    for name in names:
        if (single / name).resolve().is_relative_to(root):
            yield os.path.relpath(name, os.path.dirname(trained) or ".")


def converted_in(single: Path, multi: Path) -> list[str]:
    """The scripts of a folder that were converted from those of the same names, by their paths from there."""
    found = []
    for name in scripts_in(str(multi), None, SCRIPTS):
        try:
            header = find_header(code_of(name, (multi / name).read_bytes()).decode("utf-8", "replace"))
        except HeaderError:
            continue
        if header is not None and not header.script and (single / name).is_file():
            found.append(name)
    return found


def affected_in(single: Path, multi: Path, converted: list[str]) -> list[str]:
    """The other scripts that nothing imports and that import a file of which the two folders have different bytes."""
    names = [name for name in scripts_in(str(single)) if (multi / name).is_file()]
    changed = {name for name in names if (single / name).read_bytes() != (multi / name).read_bytes()}
    imports = {name: modules_of(single, name) for name in names}
    imported = set().union(*imports.values())
    return [
        name
        for name in names
        if name not in imported and name not in converted and name not in changed and imports[name] & changed
    ]
