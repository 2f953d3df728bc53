"""`doctor`: is everything well, and can it be mended?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from jsonlstore.cli.app import Session, json_option, pass_session, print_json, progress, say, with_example
from jsonlstore.cli.formatting import counted, say_folded
from jsonlstore.core.config import load_config
from jsonlstore.core.errors import ConfigError

if TYPE_CHECKING:
    from jsonlstore.store.doctor import Check


@with_example("jsonlstore doctor", "jsonlstore doctor --fix")
@click.command("doctor")
@click.option("--fix", is_flag=True, help="Mend what can be mended.")
@json_option
@pass_session
@click.pass_context
def doctor(ctx: click.Context, /, session: Session, fix: bool, as_json: bool) -> None:
    """Look the store over. Changes nothing without --fix; exit 1 if something is wrong."""
    from jsonlstore.store.doctor import Check, Doctor
    from jsonlstore.store.store import SessionStore

    try:
        loaded = load_config(session.state_dir, session.config_file)
        checks = [Check("config", True, "valid")]
    except ConfigError as problem:
        loaded = load_config(session.state_dir, session.config_file, lenient=True)
        checks = [Check("config", False, problem.message, problem.hint)]
    store = SessionStore.open(session.state_dir, sessions_dir=loaded.config.sessions_dir, clock=session.clock)
    checks += Doctor(store, progress("reading")).examine(fix=fix)
    if as_json:
        print_json({"checks": [check.to_dict() for check in checks]})
    else:
        _print(checks)
    ctx.exit(0 if all(check.ok for check in checks) else 1)


def _print(checks: list[Check]) -> None:
    for check in checks:
        mark, style = ("ok", {}) if check.ok else ("FAIL", {"fg": "red"})
        say_folded(f"{mark:<4}  {check.name}: {check.detail}", indent="      ", **style)
        if not check.ok and check.fix:
            say_folded(f"      fix: {check.fix}", indent="      ")
    failed = sum(not check.ok for check in checks)
    say("everything is well" if not failed else f"{counted(failed, 'check')} failed", bold=True)
