"""decision 53, 55: what was said in one conversation never surfaces in another's preamble, pins, chain or override."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.errors import OutOfScope
from jsonlstore.core.model import SessionState
from jsonlstore.restore.result import RestoreRequest
from jsonlstore.restore.scope import Scope
from tests.home import Home, task

ALICE = "agent:main:telegram:direct:alice"
BOB = "agent:main:telegram:direct:bob"
GROUP = "agent:main:telegram:group:club"
KEYS = (ALICE, BOB, GROUP)


def talk(home: Home, name: str, key: str, number: int = 1) -> None:
    """A chat in which something only this conversation may know was said."""
    home.past(
        f"{name}-{number}",
        channel="telegram",
        agent_id="main",
        session_key=key,
        hot_topics=[f"{name}topic"],
        active_projects=[f"{name}project"],
        recent_learnings=[f"{name}memory"],
        pending_tasks=[{**task(number), "task_id": f"{name}-task", "title": f"{name} title"}],
        working_memory=[{"content": f"{name} CRITICAL secret", "label": f"{name} pin"}],
        notes=[{"id": name, "type": "decision", "content": f"{name} decided"}],
        next_step=f"{name} next",
    )


@pytest.mark.parametrize("mine", KEYS)
def test_issue_must_show_two_people_and_a_group(home: Home, mine: str) -> None:
    for name, key in (("alice", ALICE), ("bob", BOB), ("club", GROUP)):
        talk(home, name, key)
    own = {ALICE: "alice", BOB: "bob", GROUP: "club"}[mine]
    answer = home.hook(
        "session-start", session_id="new", channel="telegram", agent_id="main", session_key=mine, prompt="hi"
    )
    said = json.dumps(answer) + json.dumps(home.pinned())
    assert f"{own} title" in said
    for other in {"alice", "bob", "club"} - {own}:
        assert other not in said
        with pytest.raises(OutOfScope):
            home.manager().force_inherit_session(f"{other}-1", into="new", agent="main")
        refused = home.run("continue", f"{other}-1", "--into", "new", check=False)
        assert refused.returncode == 1
        assert "another conversation" in refused.stderr
        assert "across" in refused.stderr
    assert home.store.get("new").previous_session_id == f"{own}-1"
    assert [state.session_id for state in home.manager().get_session_chain("new")] == [f"{own}-1", "new"]


@pytest.mark.parametrize(
    "key", [ALICE, "agent:main:direct:alice", "agent:main:telegram:work:direct:alice", "group:7", "+15550100"]
)
def test_decision_53_a_caller_without_a_key_gets_no_one_elses_chat(home: Home, key: str) -> None:
    talk(home, "alice", key)
    assert home.manager().preview(RestoreRequest("x", "telegram")).cold
    with pytest.raises(OutOfScope):
        home.manager().force_inherit_session("alice-1")


def test_decision_53_without_keys_the_channel_decides(home: Home) -> None:
    home.past("a", channel="cli", hot_topics=["radio"])
    assert not home.manager().preview(RestoreRequest("x", "cli")).cold
    assert home.manager().preview(RestoreRequest("x", "signal")).cold


def test_decision_53_other_agents_are_strangers_unless_the_scope_says_all(home: Home) -> None:
    home.past("a", channel="cli", agent_id="work", hot_topics=["radio"])
    assert home.manager().preview(RestoreRequest("x", "cli")).cold
    assert home.manager(scope="agent").preview(RestoreRequest("x", "cli")).cold
    assert not home.manager(scope="agent").preview(RestoreRequest("x", "signal", agent_id="work")).cold
    assert not home.manager(scope="all").preview(RestoreRequest("x", "signal")).cold


def test_decision_53_the_operator_may_reach_across_and_it_is_written_down(home: Home) -> None:
    talk(home, "alice", ALICE)
    home.manager().on_session_start("bobs", "telegram", agent_id="main", session_key=BOB)
    done = home.run("continue", "alice-1", "--into", "bobs", "--agent", "ops", "--across", "--json")
    assert "alice CRITICAL secret" in done.stdout
    audit = [
        json.loads(line)
        for line in home.store.paths.log("alice-1").read_bytes().splitlines()
        if b"session.override" in line
    ]
    assert [(one["by"], one["data"]["agent"], one["data"]["across"]) for one in audit] == [("operator", "ops", True)]
    metric = home.metrics("session_restored")[-1]
    assert (metric["agent"], metric["across"], metric["forced"]) == ("ops", True, True)
    chain = home.manager().get_session_chain("bobs")
    assert [state.session_id for state in chain] == ["bobs"]


def test_pins_set_in_another_open_conversation_are_not_taken_for_ones_own(home: Home) -> None:
    home.manager().on_session_start("alices", "telegram", session_key=ALICE)
    home.later(minutes=5)
    home.pin({"content": "alice's birthday plan", "label": "surprise"})
    home.later(minutes=5)
    bobs = home.manager()
    bobs.on_session_start("bobs", "telegram", session_key=BOB)
    bobs.update_session_state(hot_topics=["weather"])
    bobs.on_session_end("bobs")
    assert home.store.get("bobs").working_memory == ()
    home.manager().on_session_end("alices")
    assert [pin.label for pin in home.store.get("alices").working_memory] == ["surprise"], "nobody else was about"


def test_pins_inherited_into_the_shared_file_stay_with_their_conversation(home: Home) -> None:
    talk(home, "alice", ALICE)
    home.later(hours=1)
    home.manager().on_session_start("alices", "telegram", session_key=ALICE)
    assert "alice pin [inherited" in home.pinned()[0]["label"]
    home.later(hours=1)
    bobs = home.manager()
    bobs.on_session_start("bobs", "telegram", session_key=BOB)
    bobs.on_session_end("bobs")
    assert home.store.get("bobs").working_memory == ()
    home.manager().on_session_end("alices")
    assert [pin.content for pin in home.store.get("alices").working_memory] == ["alice CRITICAL secret"]


def test_peers_whose_ids_look_like_secrets_are_not_taken_for_one(home: Home) -> None:
    """What is stored of such a key is the same for both: then neither is anybody's."""
    for name in ("alice", "bob"):
        talk(home, name, f"agent:main:token:{name}4711")
    home.store.start("bobs", channel="telegram", agent_id="main", session_key="agent:main:token:bob4711")
    assert home.store.get("bobs").session_key == home.store.get("alice-1").session_key
    with pytest.raises(OutOfScope):
        home.manager().force_inherit_session("alice-1", into="bobs", agent="main")
    assert home.manager().on_session_start("bobs", "telegram").cold
    assert [state.session_id for state in home.manager().get_session_chain("bobs")] == ["bobs"]


def test_a_pin_of_the_same_name_from_another_conversation_is_not_shown_again(home: Home) -> None:
    for name, key in (("alice", ALICE), ("bob", BOB)):
        pin = {"content": f"{name} CRITICAL secret", "label": "plan"}
        home.past(f"{name}-1", channel="telegram", session_key=key, working_memory=[pin])
    home.later(hours=1)
    home.manager().on_session_start("alices", "telegram", session_key=ALICE)
    home.manager().on_session_start("bobs", "telegram", session_key=BOB)
    again = home.manager().on_session_start("bobs", "telegram", session_key=BOB, again=True)
    assert again.inherited_pins == ()
    mine = home.manager().on_session_start("alices", "telegram", session_key=ALICE, again=True)
    assert [pin.content for pin in mine.inherited_pins] == ["alice CRITICAL secret"]


keys = st.sampled_from([None, ALICE, BOB, GROUP, "agent:main:main", "agent:work:main"])
channels = st.sampled_from(["cli", "telegram", "unknown"])
agents = st.sampled_from([None, "main", "work"])


@given(keys, keys, channels, channels, agents, agents)
def test_a_named_peer_is_only_ever_reached_from_the_same_key(
    mine: str | None, theirs: str | None, here: str, there: str, me: str | None, they: str | None
) -> None:
    state = SessionState("s", "2026-11-10T10:00:00.000Z", channel=there, agent_id=they, session_key=theirs)
    allowed = Scope.of("conversation", me, mine, here).allows(state)
    if theirs in KEYS and mine != theirs:
        assert not allowed
    if allowed and mine and theirs:
        assert mine == theirs
    assert Scope.of("all", me, mine, here).allows(state)
