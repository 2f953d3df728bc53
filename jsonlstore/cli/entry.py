"""The console script. A hook call goes straight to its handler: it does not pay for a command line it never sees."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

_WITH_VALUE = ("--state-dir", "--config")
_FLAGS = ("-v", "--verbose", "--debug", "-q", "--quiet")


def run() -> None:
    """Run the process's command line and exit with its code."""
    sys.excepthook = tell_crash
    arguments = sys.argv[1:]
    if "hook" in arguments:
        call = hook_call(arguments)
        if call is not None:
            gc.disable()  # the process is gone before there is anything worth collecting
            from jsonlstore.cli.hook import run_hook

            run_hook(*call)
    from jsonlstore.cli.main import main

    try:
        code = main()
    finally:
        gc.freeze()  # what ends with the process need not be looked through for garbage first
    sys.exit(code)


def tell_crash(kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
    """A traceback as Python shows it, without secrets: it quotes what it stumbled over."""
    import traceback

    from jsonlstore.redact import shown

    sys.stderr.write(shown("".join(traceback.format_exception(kind, problem, trace))))


def hook_call(arguments: list[str]) -> tuple[str, dict[str, str]] | None:
    """The event and the options of a plain hook call; None for anything else, help and mistakes included."""
    options: dict[str, str] = {}
    words: list[str] = []
    rest = iter(arguments)
    for word in rest:
        name, has_value, value = word.partition("=")
        if name in (*_WITH_VALUE, "--now"):
            options[name.lstrip("-")] = value if has_value else next(rest, "")
        elif word in (*_FLAGS, "--dry-run", "--json"):
            options[word.lstrip("-")] = "1"
        elif word.startswith("-"):
            return None
        else:
            words.append(word)
    if len(words) != 2 or words[0] != "hook" or "" in options.values():
        return None
    return words[1], options
