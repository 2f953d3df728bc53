"""Runs many command lines, each in a fork of one warm process; `sys.argv[1]` names a file of JSON lines.

Each line is `{"argv": [...], "stdin": "..."}`. A crash is shown as Python shows it at the end of a process.
"""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path

from jsonlstore.cli import entry
from jsonlstore.redact import redact_text


def run(argv: list[str], stdin: str) -> None:
    """One command line, to its end."""
    sys.argv = ["jsonlstore", *argv]
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8", "surrogatepass")))
    try:
        entry.run()
    except SystemExit:
        return  # however it ended: what it said is the matter
    except BaseException:  # noqa: BLE001 - as the interpreter does at its end
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]


def main() -> None:
    redact_text("export DB_PASSWORD=Zk19ddQp03xx")
    for text in Path(sys.argv[1]).read_text().splitlines():
        call = json.loads(text)
        child = os.fork()
        if child == 0:
            run(call["argv"], call["stdin"])
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        os.waitpid(child, 0)


main()
