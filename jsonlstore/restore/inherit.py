"""What is taken over from contributing sessions: pins, memories, topics and projects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from jsonlstore.core.clock import hours_between, parse_time
from jsonlstore.core.config import Config
from jsonlstore.core.logs import logger
from jsonlstore.core.model import SessionState, WorkingMemoryPin, strip_provenance
from jsonlstore.restore.pins import MOST_PINS, CurrentPins, same_pin, with_provenance
from jsonlstore.restore.result import InheritedMemory, MemorySource, PinDecision
from jsonlstore.restore.score import DecayEngine, DecayRate, qualifies
from jsonlstore.restore.select import Contributor

log = logger("jsonlstore.session")


class PinOffer(NamedTuple):
    """A pin a prior session offers."""

    pin: WorkingMemoryPin
    session_id: str
    end_time: str
    reason: str


class PinPlan(NamedTuple):
    """The pins to add, those a first attempt already added, and what became of each offer."""

    add: tuple[WorkingMemoryPin, ...]
    there: tuple[WorkingMemoryPin, ...]
    decisions: tuple[PinDecision, ...]
    sources: tuple[str, ...]


def offers(critical_from: Iterable[SessionState], best: Contributor | None, config: Config) -> list[PinOffer]:
    """CRITICAL pins of any session within their days, latest first, then the pins of the best session (decision 10)."""
    found = [
        PinOffer(pin, state.session_id, state.end_time or "", "CRITICAL")
        for state in critical_from
        for pin in state.working_memory
        if pin.critical
    ]
    if best is not None and qualifies(best.prior.score, config.pin_threshold):
        found += all_pins(best.state, "pins of the best session")
    return found


def all_pins(state: SessionState, reason: str) -> list[PinOffer]:
    """Every pin of one session, critical ones first."""
    ordered = sorted(state.working_memory, key=lambda pin: not pin.critical)
    return [PinOffer(pin, state.session_id, state.end_time or "", reason) for pin in ordered]


def plan_pins(offered: Iterable[PinOffer], now_pinned: CurrentPins, most: int) -> PinPlan:
    """Which offers fit: no collision with a current pin, `min(most, 10 - current)` in all (decision 12)."""
    current = {key: pin for pin in now_pinned.pins for key in same_pin(pin)}
    room = min(most, MOST_PINS - now_pinned.taken)
    add: list[WorkingMemoryPin] = []
    there: list[WorkingMemoryPin] = []
    decisions: list[PinDecision] = []
    sources: dict[str, None] = {}
    chosen: set[str] = set()
    for offer in offered:
        keys = same_pin(offer.pin)
        if keys & chosen:
            continue  # the same pin of another session, or offered twice
        chosen |= keys
        label = strip_provenance(offer.pin.label or "").strip() or offer.pin.content[:60]
        twin = next((current[key] for key in keys if key in current), None)
        if twin is not None:
            inherited = strip_provenance(twin.label or "") != (twin.label or "")
            # of the same name, but from somewhere else, it may be what another conversation left
            there += [twin] if twin.label == with_provenance(offer.pin, offer.session_id, offer.end_time).label else []
            reason = "inherited before" if inherited else "label collision with a current pin"
            decisions.append(PinDecision(label, offer.session_id, "already there" if inherited else "skipped", reason))
        elif len(add) >= room:
            reason = f"cap: {most} inherited, {MOST_PINS} in all, {now_pinned.taken} there"
            decisions.append(PinDecision(label, offer.session_id, "skipped", reason))
        else:
            add.append(with_provenance(offer.pin, offer.session_id, offer.end_time))
            sources[offer.session_id] = None
            decisions.append(PinDecision(label, offer.session_id, "added", offer.reason))
    return PinPlan(tuple(add), tuple(there), tuple(decisions), tuple(sources))


def decayed_memories(
    states: Sequence[SessionState], source: MemorySource | None, now: datetime, rate: DecayRate
) -> tuple[InheritedMemory, ...]:
    """Every memory the sessions created, with its confidence as of now; one of two sessions counts from the later end.

    A confidence that nobody knows is 1.0 (decision 31).
    """
    latest: dict[str, str] = {}
    scores: dict[str, float] = {}
    for state in sorted(states, key=lambda one: one.end_time or ""):
        latest.update(dict.fromkeys(state.recent_learnings, state.end_time or ""))
        scores.update((update.memory_id, float(update.new_score)) for update in state.confidence_updates)
    if not latest:
        return ()
    known = source.confidences(list(latest)) if source is not None else {}
    found = []
    for memory_id, end_time in latest.items():
        original = float(known.get(memory_id, scores.get(memory_id, 1.0)))
        hours = max(0.0, hours_between(parse_time(end_time), now)) if end_time else 0.0
        excluded = not DecayEngine.should_inherit(original, hours, rate=rate)
        left = DecayEngine.apply_decay(original, hours, rate=rate)
        found.append(InheritedMemory(memory_id, original, left, hours, excluded))
    return tuple(found)


def merged_topics(states: Sequence[SessionState], everyone: Sequence[Iterable[str]]) -> tuple[str, ...]:
    """The contributors' topics in score order, each once; what few sessions share comes first (decision 47)."""
    listed = [state.hot_topics for state in states if state.hot_topics]
    if listed and len(everyone) > 2:
        from jsonlstore.signals import by_rarity, session_rarity

        rarity = session_rarity(everyone)
        listed = [tuple(by_rarity(topics, rarity)) for topics in listed]
    return once(topic for topics in listed for topic in topics)


def once(items: Iterable[str]) -> tuple[str, ...]:
    """The items in their order, each once, whatever its case."""
    seen: dict[str, str] = {}
    for item in items:
        seen.setdefault(item.lower(), item)
    return tuple(seen.values())
