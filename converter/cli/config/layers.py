"""The options in force: the command line overrides the file's override, that the table, and that the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from converter.cli.command_line.table import CONVERT, VERIFY, WHAT, CommandRow, ConfigurationError, Problem, UsageError
from converter.cli.config.file import Configuration, Path, named, nearest
from converter.cli.config.keys import ARGS, OVERRIDES, key_of

# Where the results of a run go: one of these on the command line stands for all of them.
_PLACES = ("output", "output_dir", "in_place", "diff", "check")
# What has no meaning without one of some other options, and what a run does that no other does in it.
_ONLY_WITH = {"html": ("verify",), "network": ("verify",), "python": ("verify", "trace"), "ignore_all_space": ("diff",)}
_NEVER_WITH = {"verify": ("check",), "trace": ("check",), "jobs": ("verify", "trace"), "output_format": ("json",),
               "quiet": ("verbose",), "verbose": ("quiet",)}  # fmt: skip
_OF_A_HOOK = {"skip_non_training": True, "refused": "pass"}  # the defaults of a hook
_STDIN = "-"

Place = TypeVar("Place")


class Layers(NamedTuple):
    """The options of one run, by where they come from.

    command: that is run. given: what its command line says. file: the configuration, None without one.
    searched: whether the file was looked for, and not named or ruled out.
    """

    command: CommandRow
    given: Mapping[str, object]
    file: Configuration | None
    searched: bool = False

    def values(self, path: str = "") -> dict[str, object]:
        """The values of all parameters of the command; with `path`, also the overrides for this file."""
        usual = self.command.usual | (_OF_A_HOOK if self.given.get("hook") else {})
        return usual | {name: value for name, (value, _) in self._set(path).items()}

    def set_by(self, path: str = "") -> dict[str, str]:
        """Which options are given, in the words of whoever looks for the place: `--batch`, or `pyproject.toml:3:1`."""
        return {name: origin for name, (_, origin) in self._set(path, True).items()}

    def configured(self, path: str = "") -> frozenset[str]:
        """The options that the configuration file sets, also those that the command line overrides."""
        return frozenset(self.of_file(path))

    def _set(self, path: str, places: bool = False) -> dict[str, tuple[object, str]]:
        """All values that are not defaults; with `places`, also the flag or the place in the file."""
        of_file = self.of_file(path)
        fitting = {name: value for name, (value, _) in of_file.items() if self._fits(name, of_file)}
        found = {name: (value, self._place(of_file[name][1]) if places else "") for name, value in fitting.items()}
        flags = {option.name: option.flags[0] for option in self.command.options}
        _override(found, {name: (value, flags.get(name, name)) for name, value in self.given.items()})
        return found

    def _place(self, where: Path) -> str:
        assert self.file is not None
        line, column = self.file.place(*where)
        return f"{self.file.path}:{line}:{column}"

    def of_file(self, path: str) -> dict[str, tuple[object, Path]]:
        """The file's values for this command, each with the keys that lead to it."""
        if self.file is None:
            return {}
        known = {option.name for option in self.command.options}
        if self.command is VERIFY:
            known = (known | {ARGS}) - {"batch"}  # the header of the converted script says it
        found: dict[str, tuple[object, Path]] = {}
        tables: list[tuple[Path, Mapping[str, object]]] = [((), self.file.values)]
        tables += [((OVERRIDES, n), one.values) for n, one in self.file.overriding(path)] if path else []
        for where, values in tables:
            _override(found, {n: (value, (*where, key_of(n))) for n, value in values.items() if n in known})
        return found

    def _fits(self, name: str, of_file: Mapping[str, tuple[object, object]]) -> bool:
        """True unless the command line rules out what the file says of this option."""
        given = {one for one, value in self.given.items() if value}
        if self.command is CONVERT and name in _PLACES:
            return given.isdisjoint(_PLACES) and bool(self.given.get("sources"))
        if self.command is CONVERT and not self._has_use(name, given, of_file):
            return False
        return given.isdisjoint(_NEVER_WITH.get(name, ()))

    def _has_use(self, name: str, given: set[str], of_file: Mapping[str, tuple[object, object]]) -> bool:
        """Whether a `convert` with these options can do anything with one that the file gives."""
        sources = self._sources()
        if name in _ONLY_WITH and not any(one in given or self._is_on(one, of_file) for one in _ONLY_WITH[name]):
            return False
        if name == "html":
            return self._is_one_script()
        if name == "output_format":  # no script goes to standard output
            return not sources or not given.isdisjoint(_PLACES) or any(self._is_on(one, of_file) for one in _PLACES)
        return name != "trace" or _STDIN not in sources

    def _is_on(self, name: str, of_file: Mapping[str, tuple[object, object]]) -> bool:
        return name in of_file and bool(of_file[name][0]) and self._fits(name, of_file)

    def _sources(self) -> tuple[str, ...]:
        held = self.given.get("sources", ())
        return held if isinstance(held, tuple) else ()

    def _is_one_script(self) -> bool:
        from os.path import isdir

        return len(self._sources()) == 1 and not isdir(self._sources()[0])

    def check(self) -> None:
        """Checks values of the file that are texts, such as batch-axis = "x=1", by the rules of their options.

        Raises:
            ConfigurationError: TMG033.
        """
        if self.file is None:
            return
        from converter.source.header import from_flags

        tables: list[tuple[Path, Mapping[str, object]]] = [((), self.file.values)]
        tables += [((OVERRIDES, number), one.values) for number, one in enumerate(self.file.overrides)]
        problems: list[Problem] = []
        for where, values in tables:
            problems += self._contradictions(where, values)
            for option in (option for option in CONVERT.options if option.panel == WHAT and option.name in values):
                value = values[option.name]
                try:
                    for one in value if isinstance(value, tuple) else (value,):
                        if isinstance(one, str):
                            from_flags([option.flags[0], one])
                except ValueError as error:
                    line, column = self.file.place(*where, key_of(option.name))
                    message = str(error).removeprefix(f"{option.flags[0]}: ")
                    message = f"{key_of(option.name)}: {message}"
                    problems.append(Problem("TMG033", self.file.path, line, column, message))
        if problems:
            raise ConfigurationError(*problems)

    def _contradictions(self, where: Path, values: Mapping[str, object]) -> list[Problem]:
        """Contradictions about one input in one table."""
        shared, axes = values.get("shared", ()), values.get("batch_axis", ())
        assert self.file is not None and isinstance(shared, tuple) and isinstance(axes, tuple)
        names = [_input(axis) for axis in axes]
        found = []
        for name in dict.fromkeys(names):
            if name in shared or names.count(name) > 1:
                line, column = self.file.place(*where, "batch-axis")
                message = f"{name} is shared and has a batch axis" if name in shared else f"{name} has two batch axes"
                found.append(Problem("TMG033", self.file.path, line, column, message))
        return found


def _override(found: dict[str, tuple[object, Place]], layer: Mapping[str, tuple[object, Place]]) -> None:
    """Adds the values of a layer, which override those of the layers below it.

    What these say about an input by the other of the two options goes; a layer that contradicts itself keeps both.
    """
    for name, (value, _) in layer.items():
        other = {"shared": "batch_axis", "batch_axis": "shared"}.get(name, "")
        if other in found and isinstance(value, tuple):
            said = {_input(one) for one in value}
            held, at = found[other]
            assert isinstance(held, tuple)
            found[other] = (tuple(one for one in held if _input(one) not in said), at)
    found.update(layer)


def _input(text: str) -> str:
    """The input that --shared NAME or --batch-axis NAME=K speaks of."""
    return text.partition("=")[0]


def completed(command: CommandRow, given: Mapping[str, object]) -> dict[str, object]:
    """The values of all parameters of a command, from what its command line says.

    Raises:
        UsageError: --config beside --no-config. ConfigurationError: a configuration that cannot be followed.
    """
    if not command.configured:
        return command.usual | dict(given)
    given = dict(given)
    config, without = given.pop("config", None), given.pop("no_config", False)
    if config and without:
        raise UsageError("--config and --no-config exclude each other")
    file = named(str(config)) if config else None if without else nearest(_paths(command, given))
    layers = Layers(command, given, file, searched=not (config or without))
    values = layers.values(str(given["single"]) if command is VERIFY else "")
    del values["config"], values["no_config"]
    return values | {"layers": layers}


def _paths(command: CommandRow, given: Mapping[str, object]) -> tuple[str, ...]:
    """The paths above which a configuration is looked for."""
    if command is VERIFY:
        return (str(given["single"]),)
    held = given.get(command.arguments[0].name)
    paths = tuple(path for path in held if path != _STDIN) if isinstance(held, tuple) else ()
    return paths or (".",)
