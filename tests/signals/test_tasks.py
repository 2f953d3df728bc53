"""Work left undone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.core.model import WorkingMemoryPin
from jsonlstore.signals.pipeline import closed_in_pipeline, pipeline_tasks
from jsonlstore.signals.tasks import MOST_OPEN, TaskBook
from jsonlstore.signals.titles import LONGEST_TITLE, TitleIndex


def open_after(*texts: str) -> list[str]:
    book = TaskBook()
    for text in texts:
        book.read(text)
    return [task.task_id for task in book.pending()]


def test_pipeline_tasks_in_a_pending_stage_are_open() -> None:
    """DECISION 22, 23: with id, title and stage, and not flagged as found in text."""
    found = pipeline_tasks(
        {
            "active_tasks": [
                {"task_id": "task-004", "title": "Session persistence", "status": "active", "current_stage": "build"},
                {"task_id": "task-005", "title": "Design only", "current_stage": "design"},
                {"task_id": "task-006", "title": "Finished", "status": "completed", "current_stage": "verify"},
                {"task_id": "task-007", "title": "Killed", "status": "killed", "current_stage": "test"},
                {"task_id": "task-008", "title": "Over", "current_stage": "done"},
                {"title": "no id", "current_stage": "build"},
                "junk",
            ],
            "completed_tasks": [{"task_id": "task-001"}, "task-002"],
        }
    )
    assert found is not None
    assert [(task.task_id, task.stage, task.flagged_incomplete) for task in found] == [("task-004", "build", False)]


def test_stages_are_configurable() -> None:
    document = {"active_tasks": [{"task_id": "t", "title": "x", "current_stage": "design"}]}
    assert [task.task_id for task in pipeline_tasks(document, ["design"]) or ()] == ["t"]


@pytest.mark.parametrize("document", [None, [], "x", {}, {"active_tasks": 3}])
def test_a_document_that_is_no_pipeline_is_told_apart_from_an_empty_one(document: object) -> None:
    assert pipeline_tasks(document) is None
    assert pipeline_tasks({"active_tasks": []}) == []


def test_closed_ids_are_found_wherever_they_are_listed() -> None:
    document = {"active_tasks": [{"task_id": "a", "status": "done"}], "completed_tasks": ["b", {"id": "c"}]}
    assert closed_in_pipeline(document) == {"a", "b", "c"}


@pytest.mark.parametrize(
    "text",
    [
        "task-017 needs the serial port.",
        "TODO task-017 serial port incomplete",
        "We are in the build stage of task-017.",
        "- [ ] task-017 wire the relay",
    ],
)
def test_an_id_opens_a_task(text: str) -> None:
    assert open_after(text) == ["task-017"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("TODO: write the migration guide", "write the migration guide"),
        ("[TASK] calibrate the SWR meter", "calibrate the SWR meter"),
        ("- [ ] solder the PL-259 plug", "solder the PL-259 plug"),
    ],
)
def test_a_marker_opens_a_task_with_a_stable_id_and_its_title(text: str, title: str) -> None:
    book = TaskBook()
    book.read(text)
    (task,) = book.pending()
    assert task.title == title
    assert task.flagged_incomplete
    assert task.task_id.startswith("text-")
    assert open_after(text) == open_after("well.", text) == [task.task_id]


@pytest.mark.parametrize(
    "text",
    [
        "A task-based scheduler is task-specific.",
        "What about task-017?",
        "The word incomplete is an adjective.",
        "```\n# TODO: fix later\n```",
        "> TODO: quoted",
        "the todos app",
        "see https://example.com/task-017/x",
    ],
)
def test_what_merely_looks_like_a_task_opens_none(text: str) -> None:
    assert open_after(text) == []


@pytest.mark.parametrize(
    "closing",
    [
        "task-017 is done.",
        "Finished task-017!",
        "task-017, the one with the port, is finally fixed.",
        "The serial port wiring is done.",
        "- [x] task-017",
        "task-017 was cancelled.",
        "task-017 ist erledigt.",
    ],
)
def test_later_evidence_closes_a_task(closing: str) -> None:
    """DECISION 24: a done-word in the same sentence as the id, or as two words of the title."""
    assert open_after("TODO task-017 serial port wiring", closing) == []


@pytest.mark.parametrize(
    "said",
    [
        "The relay is done.",
        "task-017 is not done yet.",
        "task-018 is done.",
        "Is task-017 done?",
        "task-017 needs to be finished.",
    ],
)
def test_other_evidence_does_not(said: str) -> None:
    assert "task-017" in open_after("TODO task-017 serial port wiring", said)


def test_a_closed_task_stays_closed_until_somebody_reopens_it() -> None:
    assert open_after("task-017 is done.", "As in task-017 we use a relay.") == []
    assert open_after("task-017 is done.", "Reopened task-017, the relay sticks.") == ["task-017"]


def test_several_ids_in_one_sentence_go_by_their_own_part() -> None:
    assert open_after("task-017 is done, task-018 is next") == ["task-018"]


def test_the_stage_is_taken_from_the_text() -> None:
    book = TaskBook()
    book.read("task-017 entered the build stage.")
    book.read("task-017 is now in stage: verify")
    assert [task.stage for task in book.pending()] == ["verify"]


def test_a_pin_that_says_incomplete_opens_a_task_and_one_that_says_done_closes_it() -> None:
    """FR-008, second source."""
    book = TaskBook()
    book.read_pin(WorkingMemoryPin("finish the tuner firmware, incomplete", label="tuner"))
    book.read_pin(WorkingMemoryPin("task-021 in progress"))
    book.read_pin(WorkingMemoryPin("the antenna is 20 m long"))
    assert len(book.pending()) == 2
    book.read_pin(WorkingMemoryPin("task-021 is done"))
    assert [task.task_id.startswith("text-") for task in book.pending()] == [True]


def test_a_message_without_acknowledgement_leaves_its_task_open() -> None:
    """FR-008, third source."""
    book = TaskBook()
    book.read_mail("task-030 review", "Please have a look at the tuner.")
    book.read_mail("lunch", "At noon?")
    assert [task.task_id for task in book.pending()] == ["task-030"]
    book.read_ack("ack task-030 review completed")
    assert book.pending() == []


@given(st.lists(st.text(max_size=120), max_size=6))
def test_any_text_is_safe_and_titles_are_short(texts: list[str]) -> None:
    book = TaskBook()
    for text in texts:
        book.read(text)
        book.read_ack(text)
        book.read_mail(text, text)
        book.read_pin(WorkingMemoryPin(text, label=text))
    assert all(len(task.title) <= LONGEST_TITLE and task.task_id for task in book.pending())


def test_memory_is_bounded_and_the_oldest_go() -> None:
    book = TaskBook()
    for number in range(1_000, 1_000 + 2 * MOST_OPEN):
        book.read(f"TODO: task-{number}")
    ids = [task.task_id for task in book.pending(10_000)]
    assert len(ids) == MOST_OPEN
    assert ids[-1] == f"task-{999 + 2 * MOST_OPEN}"


TITLES = st.frozensets(st.sampled_from(["pier", "buoy", "chart", "гавань", "港口", "口图", "mapa", "à"]), max_size=4)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), TITLES), max_size=12),
    st.lists(st.sampled_from(["pier", "Buoy", "chart-x", "гавани", "港口图", "mapas", "à", "."]), max_size=5),
)
def test_the_index_of_titles_is_what_the_open_tasks_say(
    changes: list[tuple[str, frozenset[str]]], said: list[str]
) -> None:
    """However tasks came and went, a text touches those that share two words with it, or their only one."""
    index = TitleIndex()
    held: dict[str, frozenset[str]] = {}
    for task_id, words in changes:
        if task_id in held:
            index.remove(task_id, held.pop(task_id))
        else:
            index.add(task_id, words)
            held[task_id] = words
    text = " ".join(said)
    named = {word for word in text.lower().split() if word.isascii()}
    shared = [
        (len({word for word in words if word in named or (not word.isascii() and word in text.lower())}), len(words))
        for words in held.values()
    ]
    assert index.touched_by(text) == any(count and count >= min(2, size) for count, size in shared)


@given(
    st.lists(
        st.sampled_from(["TODO: ", "task-17 ", "chart", "the pier", " done", ".", "\n", "- [ ] ", "Status INCOMPLETE"])
    )
)
def test_a_line_that_cannot_tell_is_passed_over_without_loss(parts: list[str]) -> None:
    """Talk that names no task, before and after what does, changes nothing about what is open."""
    text = "".join(parts)
    assert open_after(f"we look at the sea\n\n{text}\n\nand go home") == open_after(text)
