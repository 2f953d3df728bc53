"""Histories to look at: made-up sessions of a year, the same every time."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from jsonlstore.core.clock import format_time

if TYPE_CHECKING:
    from datetime import datetime

    from jsonlstore.store import SessionStore

PROJECTS = {
    "ham-radio": ["ft-991a", "hamlib", "antenna tuner", "cat control", "ptt line", "swr", "balun"],
    "club-website": ["css grid", "footer", "newsletter", "static site", "dark mode", "deploy"],
    "greenhouse": ["valve 2", "soil sensor", "relay", "mqtt", "watering plan", "esp32"],
    "tax-2026": ["receipts", "depreciation", "vat", "ledger import", "csv"],
    "jam-session": ["chord sheet", "setlist", "midi clock", "mixing desk"],
    "family-archive": ["scans", "ocr", "1950s letters", "exif dates", "backup"],
}
TASKS = [
    "finish {} before the weekend",
    "test {} on the bench",
    "write down how {} works",
    "replace {}",
    "ask about {}",
]
DECISIONS = ["Use {} instead of the old one.", "Keep {} as it is until spring.", "Move {} into its own repository."]
CHANNELS = ["telegram", "webchat", "whatsapp", "cli"]
ENDS = ["new", "new", "reset", "idle", "daily"]


def make_history(store: SessionStore, clock: Any, now: datetime, count: int, *, days: int = 180) -> None:
    """`count` sessions in the last `days`, more of them lately, each with what a real one leaves."""
    dice = random.Random(23)
    starts = sorted(now - timedelta(days=days * dice.random() ** 1.4, minutes=30) for _ in range(count))
    names = list(PROJECTS)
    previous: dict[str, str] = {}
    with store.index.batch():
        for number, around in enumerate(starts):
            hour = min(23, max(6, round(dice.gauss(15, 4))))
            start = min(around.replace(hour=hour, minute=dice.randrange(60)), now - timedelta(minutes=30))
            project = dice.choices(names, weights=[9, 6, 5, 3, 2, 2])[0]
            session_id = f"{dice.getrandbits(32):08x}-{number:04d}-4000-8000-000000000000"
            _session(store, clock, dice, session_id, start, project, previous.get(project))
            previous[project] = session_id


def _session(
    store: SessionStore,
    clock: Any,
    dice: random.Random,
    session_id: str,
    start: datetime,
    project: str,
    before: str | None,
) -> None:
    topics = dice.sample(PROJECTS[project], k=min(4, len(PROJECTS[project])))
    clock.moment = start
    channel = dice.choice(CHANNELS)
    known = {"previous_session_id": before} if before else {}
    store.start(session_id, channel=channel, agent_id="main", session_key=f"agent:main:{channel}:dm:4711", **known)
    if before:
        store.link(before, session_id)
        if dice.random() < 0.6:
            block = f'PENDING TASKS:\n- "{dice.choice(TASKS).format(topics[0])}"\n\nACTIVE PROJECTS: {project}'
            taken = {"from": [before], "scores": [round(dice.uniform(0.3, 0.8), 3)], "pins": dice.randrange(3)}
            store.note(
                session_id, "session.inherited", {**taken, "tasks": [f"text-{dice.randrange(99):02d}"], "block": block}
            )
    clock.moment = start + timedelta(minutes=min(25, 3 + dice.expovariate(1 / 20)))
    fields: dict[str, Any] = {
        "hot_topics": [project, *topics],
        "active_projects": [project],
        "next_step": dice.choice(TASKS).format(topics[0]),
        "last_request": {
            "text": f"Please look at {topics[1]} again, it is not right yet.",
            "at": format_time(start),
            "fate": "answered",
        },
        "last_answer": f"Done: {topics[1]} works as expected now, and the test for it passes.",
        "tokens": {"used": int(dice.betavariate(2, 3) * 200_000), "window": 200_000, "estimated": False},
        "files": [
            {"path": f"~/src/{project}/{topic.replace(' ', '_')}.py", "changes": dice.randrange(1, 9)}
            for topic in topics[:2]
        ],
        "commits": [
            {"sha": f"{dice.getrandbits(160):040x}", "subject": f"Make {topics[2]} work", "at": format_time(start)}
        ],
    }
    if dice.random() < 0.12:
        fields["pending_tasks"] = [
            {"task_id": f"task-{session_id[:8]}", "title": dice.choice(TASKS).format(topics[2]), "stage": "build"}
        ]
    if dice.random() < 0.3:
        fields["notes"] = [
            {"id": f"n-{session_id[:8]}", "type": "decision", "content": dice.choice(DECISIONS).format(topics[3]),
             "timestamp": format_time(start), "confidence": 0.9}
        ]  # fmt: skip
    if dice.random() < 0.04:
        store.update(session_id, fields)
        store.recover(session_id, format_time(clock.moment))
    else:
        store.end(session_id, fields, reason=dice.choice(ENDS))
