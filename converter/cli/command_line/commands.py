"""The commands as Typer knows them, made from the table: what completes, and says what is wrong with a command line."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from textwrap import shorten
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup

from converter import __version__
from converter.cli.command_line.table import (
    CODE,
    COMMANDS,
    COMPLETION,
    HELP,
    PROGRAM,
    VERSION,
    Argument,
    Command,
    Option,
    UsageError,
)
from converter.cli.command_line.usage import help_text

SHOWN_BY_SHELLS = 70  # characters
SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")  # that Typer has a script for
SHOW, INSTALL = "--show-completion", "--install-completion"  # Typer's own options, which take no value


class _Command(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Errors in the library's words, without its name for their kind, which Typer puts in front of some."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise

    def invoke(self, ctx: Any) -> Any:
        """Calls the function with what the command line gives, and None for all else: others may have a say in that."""
        for name in ctx.params:
            source = ctx.get_parameter_source(name)
            if source is None or source.name != "COMMANDLINE":
                ctx.params[name] = None
        return super().invoke(ctx)

    def get_help(self, ctx: Any) -> str:
        return help_text(COMMANDS[self.name or ""])


class _Group(TyperGroup):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Typer takes what stands behind its options for completion as a command, and never runs it."""
        if args[:1] in ([SHOW], [INSTALL]) and len(args) > 1:
            if args[0] == INSTALL:
                message = f"it is for the shell that runs it, and takes no name; {SHOW} prints the script of any"
            else:
                message = f"{' '.join(args[1:])!r} is not one of {', '.join(SHELLS)}"
            raise typer.BadParameter(message, param_hint=args[0])
        return super().parse_args(ctx, args)

    def get_help(self, ctx: Any) -> str:
        return help_text()


app = typer.Typer(
    name="tf-multigpu",
    cls=_Group,
    context_settings={"help_option_names": list(HELP.flags)},
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tf-multigpu {__version__}")
        raise typer.Exit


@app.callback(help=PROGRAM.help)
def _main(
    version: Annotated[
        bool, typer.Option(*VERSION.flags, callback=_print_version, is_eager=True, help=VERSION.help)
    ] = False,
) -> None:
    pass


def _function(command: Command) -> Callable[..., None]:
    """What Typer calls, with the parameters of the table for it to read."""
    tuples = {argument.name for argument in command.arguments if argument.many}
    tuples |= {option.name for option in command.options if option.many}

    def run(**values: Any) -> None:
        from converter.cli.config.layers import completed

        given = {
            name: tuple(value) if name in tuples else value for name, value in values.items() if value is not None
        }
        try:
            status = command.run(completed(command, given))
        except UsageError as error:
            raise typer.BadParameter(str(error), param_hint=error.about) from None
        raise typer.Exit(status)

    parameters = [*map(_argument, command.arguments), *map(_option, command.options)]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _argument(argument: Argument) -> inspect.Parameter:
    offered = _codes if argument is CODE else None
    about = typer.Argument(metavar=argument.metavar, help=argument.help, autocompletion=offered)
    taken: Any = list[str] if argument.many else str
    default = None if argument.optional else inspect.Parameter.empty
    return _parameter(argument.name, taken | None if argument.optional else taken, about, default)


def _option(option: Option) -> inspect.Parameter:
    metavar = None if option.kind is bool else option.metavar
    about = typer.Option(*option.flags, metavar=metavar, help=_on_one_line(option.help), min=option.least)
    taken: Any = Literal[option.choices] if option.choices else list[str] if option.many else option.kind
    default = None if option.many else option.usual
    return _parameter(option.name, taken | None if default is None else taken, about, default)


def _codes(incomplete: str) -> list[tuple[str, str]]:
    """The codes that a shell offers, with their titles."""
    from converter.rule import all_rules

    return [(rule.code, _shown(rule.title)) for rule in all_rules() if rule.code.startswith(incomplete)]


def _on_one_line(text: str) -> str:
    """What a shell shows beside an option: Typer would break it into lines, which zsh and fish offer as words."""
    return _shown(shorten(text, SHOWN_BY_SHELLS, placeholder=" …"))


def _shown(text: str) -> str:
    """A text as zsh can show it: Typer's quotes for that shell lose apostrophes."""
    return text.replace("'", "\u2019")


def _parameter(name: str, taken: Any, about: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[taken, about]
    )


for _one in COMMANDS.values():
    app.command(_one.name, cls=_Command, help=_one.help)(_function(_one))


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and returns its exit status."""
    shell = arguments[1] if tuple(arguments) in [(SHOW, shell) for shell in SHELLS] else ""
    if shell:
        os.environ[COMPLETION] = f"source_{shell}"  # as a shell's start-up file may ask for the same script
    try:
        app([] if shell else list(arguments), prog_name="tf-multigpu")
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    finally:
        if shell:
            del os.environ[COMPLETION]
    return 0
