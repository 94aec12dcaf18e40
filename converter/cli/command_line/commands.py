"""The command line as Typer reads it, helps with it and completes it, made from the table of commands."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from textwrap import fill, indent, shorten
from typing import Annotated, Any, Literal, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from converter import __version__
from converter.cli.command_line.table import (
    CODE,
    COMMANDS,
    HELP,
    HELP_ALL,
    INTERRUPTED,
    PROGRAM,
    VERSION,
    ArgumentRow,
    CommandRow,
    Option,
    UsageError,
)
from converter.cli.terminal import has_color

SHOWN_BY_SHELLS = 70  # characters
SHOWN_EXAMPLES = 2  # where not all is asked for
COMPLETIONS = ("--show-completion", "--install-completion")  # Typer's own options
WIDEST = 102  # Typer leaves the last two columns free
_WHOLE = "tf_multigpu.whole"  # in a context's `meta`: --help-all was given


class _PipeClosed(Exception):
    """Carries a BrokenPipeError through Typer, which would make another exit status of it."""


class _Command(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Removes the words `Value error, ` that Typer puts in front of some messages."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise

    def invoke(self, ctx: Any) -> Any:
        """Calls the function with None for each option that is not given: a configuration file may give it."""
        for name in ctx.params:
            source = ctx.get_parameter_source(name)
            if source is None or source.name != "COMMANDLINE":
                ctx.params[name] = None
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_options(COMMANDS[self.name or ""], formatter, _WHOLE in ctx.meta)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        _write_epilog(COMMANDS[self.name or ""], formatter, _WHOLE in ctx.meta)


class _Group(TyperGroup):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuses a word behind Typer's options for completion, which would pass over the shell that it names."""
        if args[1:] and args[0] in COMPLETIONS:
            raise typer.BadParameter("it is for the shell that runs it, and takes no name", param_hint=args[0])
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """Flags are off where they are not given: to read None, Typer would import Pydantic for each command's help."""
        params = super().get_params(ctx)
        for flag in params:
            flag.default = False if flag.default is None else flag.default
        return params

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_options(PROGRAM, formatter, _WHOLE in ctx.meta)
        _write_panel(formatter, "Commands", [(one.name, one.help) for one in COMMANDS.values()])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        _write_epilog(PROGRAM, formatter, _WHOLE in ctx.meta)


def _write_options(command: CommandRow, formatter: Any, whole: bool) -> None:
    """The arguments and options under their headings; the short help only names options that are seldom needed."""
    if command.arguments:
        _write_panel(formatter, "Arguments", [(one.metavar, one.help) for one in command.arguments])
    panels: dict[str, list[tuple[str, str]]] = {}
    for option in (*(one for one in command.options if whole or not one.rare), HELP):
        panels.setdefault(option.panel, []).append((_flags(option), _meaning(option, whole)))
    for heading, rows in panels.items():
        _write_panel(formatter, heading, rows)
    names = sorted(option.flags[0] for option in command.options if option.rare)
    if names and not whole:
        _write_text(formatter, f"More ({HELP_ALL.flags[0]}): {', '.join(names)}.")


def _write_panel(formatter: Any, heading: str, rows: Sequence[tuple[str, str]]) -> None:
    with formatter.section(_bold(heading)):
        formatter.write_dl(rows)


def _write_epilog(command: CommandRow, formatter: Any, whole: bool) -> None:
    """Examples, of which the short help shows the first ones, and the exit statuses."""
    if command.examples:
        with formatter.section(_bold("Examples")):
            for line, purpose in command.examples if whole else command.examples[:SHOWN_EXAMPLES]:
                fits = len(line) + len(purpose) + 4 <= formatter.width
                formatter.write(f"  {line}  {purpose}".rstrip() + "\n" if fits else f"  {line}\n")
                if not fits:
                    formatter.write(indent(fill(purpose, formatter.width - 6), " " * 6) + "\n")
    if command.statuses:
        _write_text(formatter, f"Exit status: {command.statuses}")


def _write_text(formatter: Any, text: str) -> None:
    formatter.write_paragraph()
    formatter.write(fill(text, formatter.width, break_on_hyphens=False) + "\n")


def _bold(heading: str) -> str:
    return typer.style(heading, bold=True) if has_color(sys.stdout) else heading


def _flags(option: Option) -> str:
    """The flags of an option, short ones first, and the word for its value."""
    return f"{', '.join(sorted(option.flags, key=len))} {option.metavar}".rstrip()


def _meaning(option: Option, whole: bool) -> str:
    """The help text of an option, followed by its default."""
    does = option.help if whole or not option.brief else option.brief
    if option.default in (None, ""):
        return does
    shown = f"{option.default:g}" if isinstance(option.default, float) else option.default
    return f"{does} [default: {shown}]"


app = typer.Typer(
    name="tf-multigpu",
    cls=_Group,
    context_settings={"help_option_names": list(HELP.flags), "max_content_width": WIDEST},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing Rich would take as long as all the rest
    no_args_is_help=True,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        _print(f"tf-multigpu {__version__}")


def _print_whole_help(ctx: typer.Context, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.meta[_WHOLE] = True
        _print(ctx.get_help())


def _print(text: str) -> NoReturn:
    """Print the text that an option such as --version asks for in place of a command, and exit."""
    try:
        print(text)
    except BrokenPipeError as error:
        raise _PipeClosed from error
    raise typer.Exit


_HelpAll = Annotated[bool, typer.Option(*HELP_ALL.flags, callback=_print_whole_help, is_eager=True, help=HELP_ALL.help)]


@app.callback(help=PROGRAM.help)
def _main(
    version: Annotated[
        bool, typer.Option(*VERSION.flags, callback=_print_version, is_eager=True, help=VERSION.help)
    ] = False,
    help_all: _HelpAll = False,
) -> None:
    pass


def _function(command: CommandRow) -> Callable[..., None]:
    """A function with the parameters of the command's row in the table, from which Typer reads the options."""
    tuples = {argument.name for argument in command.arguments if argument.many}
    tuples |= {option.name for option in command.options if option.many}

    def run(**values: Any) -> None:
        from converter.cli.config.layers import completed

        given = {name: tuple(value) if name in tuples else value for name, value in values.items() if value is not None}
        try:
            status = command.run(completed(command, given))
        except UsageError as error:
            raise typer.BadParameter(str(error), param_hint=error.about) from None
        except KeyboardInterrupt:
            status = INTERRUPTED
        except BrokenPipeError as error:
            raise _PipeClosed from error
        raise typer.Exit(status)

    parameters = list(_parameters(command))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _parameters(command: CommandRow) -> Iterator[inspect.Parameter]:
    yield from map(_argument, command.arguments)
    yield from map(_option, command.options)
    yield inspect.Parameter("help_all", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_HelpAll)


def _argument(argument: ArgumentRow) -> inspect.Parameter:
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
    """The help of an option on one line, for shell completion: zsh and fish offer each further line as a word."""
    return _shown(shorten(text, SHOWN_BY_SHELLS, placeholder=" …"))


def _shown(text: str) -> str:
    """A text as zsh can show it: Typer's quotes for that shell lose apostrophes."""
    return text.replace("'", "\u2019")


def _parameter(name: str, taken: Any, about: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[taken, about])


for _one in COMMANDS.values():
    app.command(_one.name, cls=_Command, help=f"{_one.help} {_one.more}".rstrip())(_function(_one))


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and returns its exit status."""
    try:
        app(list(arguments), prog_name="tf-multigpu")
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else int(done.code is not None)
    except _PipeClosed as closed:
        raise BrokenPipeError from closed
    return 0
