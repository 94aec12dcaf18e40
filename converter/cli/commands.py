"""The commands by name; each is imported when it is run, or listed."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from converter import __version__

_BODIES = {
    "convert": "converter.cli.convert:convert_command",
    "verify": "converter.cli.verify:verify_command",
    "profile": "converter.cli.profile:profile_command",
    "explain": "converter.cli.explain:explain_command",
    "rules": "converter.cli.rules:rules_command",
}


class _Commands(MutableMapping[str, Any]):
    """Command objects by name, made on first use."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _make(name, *_BODIES[name].split(":"))
        return self._made[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_BODIES)

    def __len__(self) -> int:
        return len(_BODIES)


def _make(name: str, module: str, function: str) -> Any:
    loaded = import_module(module)
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
    # A command that says TAKES_TEXT has text and flags for parameters, and checks the text itself.
    kind = _TextCommand if getattr(loaded, "TAKES_TEXT", False) else TyperCommand
    alone.command(name, cls=kind, epilog=getattr(loaded, "EPILOG", None))(getattr(loaded, function))
    return typer.main.get_command(alone)


class _TextCommand(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _leave_text_alone(super().get_params(ctx))


class _Group(TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Commands()

    def get_params(self, ctx: Any) -> list[Any]:
        return _leave_text_alone(super().get_params(ctx))


def _leave_text_alone(parameters: list[Any]) -> list[Any]:
    """Spares parameters Typer's conversion where their value is text, or missing, and may stay so.

    From 0.29 on Typer converts with pydantic, text to text too: 70 ms, more than all else before the work.
    """
    for parameter in parameters:
        if "process_value" not in vars(parameter):
            parameter.process_value = _processor(parameter, parameter.process_value)
    return parameters


def _processor(parameter: Any, convert: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def process_value(context: Any, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            is_text = bool(value) and all(isinstance(item, str) for item in value)
        else:
            is_text = isinstance(value, str) or (value is None and not parameter.required)
        if not is_text:
            return convert(context, value)
        return parameter.callback(context, parameter, value) if parameter.callback else value

    return process_value


app = typer.Typer(
    name="tf-multigpu",
    cls=_Group,
    rich_markup_mode="rich",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tf-multigpu {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Rewrites single-GPU TensorFlow 1.x training scripts for several GPUs.

    Exit status: 0 done; 1 would change or not up to date; 2 refused or bad usage; 3 not proven;
    4 internal error.
    """


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and returns its exit status."""
    try:
        app(list(arguments), prog_name="tf-multigpu")
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    except Exception as error:
        typer.echo(traceback.format_exc(), err=True)
        message = f"tf-multigpu: TMG090 internal error: {type(error).__name__}: {error}"
        typer.echo(
            f"{message}\n    please report it to the project, with the command and the lines above", err=True
        )
        return 4
    return 0
