"""When an agent is asked to write down what must last: each threshold once per cycle of the window.

Pure: a cycle is a number, the highest threshold that fired since the window was last emptied. The OpenClaw plugin has
the same rules in `flush.js`; both are held to `fixtures/flush_cycles.json` by tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jsonlstore.core.session_settings import FlushThreshold

REARMED_BELOW = 25
MARKER = "[SYSTEM: memory flush]"
_SILENT = "NO_REPLY"
_THEN = "Store what must last, then answer the user."
_OWN_TURN = f"If nothing to store, reply with {_SILENT}."


class FlushCycle(NamedTuple):
    """The highest percentage that fired in this cycle, and how many compactions the cycle began after."""

    fired: int = 0
    compactions: int = 0

    def at(self, percent: float, compactions: int = 0) -> FlushCycle:
        """The cycle as it stands now: re-armed below 25 % and after a compaction (decision 36)."""
        if compactions > self.compactions or percent < REARMED_BELOW:
            return FlushCycle(0, max(compactions, self.compactions))
        return self

    def fire(
        self, percent: float, stages: Sequence[FlushThreshold], compactions: int = 0, *, once: bool = True
    ) -> tuple[FlushThreshold | None, FlushCycle]:
        """The stage that is due, and the cycle after it. The highest one reached fires and marks all lower ones.

        Without `once`, a stage that was reached fires again every time.
        """
        now = self.at(percent, compactions)
        reached = [one for one in stages if one.percent <= percent]
        if not reached or (once and reached[-1].percent <= now.fired):
            return None, now
        return reached[-1], FlushCycle(reached[-1].percent, now.compactions)


def percent_used(used: int, window: int, *, reserve: int = 0) -> float:
    """How full the usable part of a window is (decision 62)."""
    usable = window - reserve
    return 100 * used / usable if usable > 0 else 100.0


def flush_text(stage: FlushThreshold, day: str, *, own_turn: bool = False, last: bool = False) -> str:
    """What is said. Beside a user's prompt nothing may ask for silence: it would swallow the answer."""
    lines = [line for line in stage.prompt.replace("YYYY-MM-DD", day).splitlines() if _SILENT not in line]
    if own_turn and last:
        lines.append(_OWN_TURN)
    elif not own_turn and (last or _SILENT in stage.prompt):
        lines.append(_THEN)
    text = "\n".join(lines)
    return f"{MARKER}\n{text}" if stage.inject_as == "marked" and not text.startswith("[SYSTEM:") else text
