"""The full-text index keeps what it is given, finds it, and lets go of it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsonlstore.core.errors import SearchUnavailable
from jsonlstore.recall.documents import BLOCK_CHARS, Document, Turn
from jsonlstore.recall.fulltext import SearchIndex
from jsonlstore.recall.index_file import remove_index
from jsonlstore.recall.query import read_query
from jsonlstore.recall.ranking import rank

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
AT = "2026-09-21T14:00:00.000Z"


@pytest.fixture
def index(tmp_path: Path) -> SearchIndex:
    return SearchIndex.open(tmp_path / "search.sqlite")


def add(index: SearchIndex, name: str, *texts: str, at: str = AT) -> None:
    index.append(
        Document("session", name, name), [Turn(f"{name}{n}", at, "user", text) for n, text in enumerate(texts)]
    )


def ask(index: SearchIndex, text: str) -> list[str]:
    return [one.document.id for one in rank(index, read_query([text], NOW, UTC))]


VOCABULARY = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "größe", "東京塔", "мир")
WORDS = st.lists(st.sampled_from(VOCABULARY), max_size=30)


@settings(max_examples=40, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=8), st.integers(0, 7))
def test_turns_added_one_by_one_are_stored_as_if_added_at_once(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]], cut: int
) -> None:
    """However the turns arrive, the blocks are the same, and removing the document leaves no term."""
    turns = [Turn(str(n), AT, "user", " ".join(words)) for n, words in enumerate(texts)]
    folder = tmp_path_factory.mktemp("index")
    found = []
    for name, portions in (("a", [turns]), ("b", [turns[:cut], turns[cut:]]), ("c", [[turn] for turn in turns])):
        index = SearchIndex.open(folder / name)
        for portion in portions:
            index.append(Document("session", "s", "t"), portion)
        assert index.problems() == []
        found.append([block.turns for one in index.documents() for block in index.blocks_of(one.no)])
        index.remove([one.no for one in index.documents()])
        index.scrub()
        assert index.problems() == []
        assert index._db.execute("SELECT count(*) FROM vocabulary").fetchone() == (0,)
        assert index.size()[0] == 0
        index.close()
    assert found[0] == found[1] == found[2]


def test_a_long_session_is_many_blocks_and_one_answer(index: SearchIndex) -> None:
    """A session longer than a block is found once, by what stands at its beginning or at its end."""
    add(
        index,
        "long",
        "the zebra came first",
        *["filler words about nothing at all"] * (BLOCK_CHARS // 16),
        "the yak came last",
    )
    assert index.size()[0] > 2
    assert ask(index, "zebra") == ask(index, "yak") == ["long"]


def test_words_close_together_beat_words_far_apart(index: SearchIndex) -> None:
    """Of two sessions with the same words the one that says them in one breath is first."""
    filler = " ".join(["and so on and so forth"] * 12)
    add(index, "far", f"we bought a boat {filler} the paint is green {filler}")
    add(index, "near", f"{filler} the boat has green paint now {filler}")
    assert ask(index, "green paint boat") == ["near", "far"]


def test_a_date_lifts_and_never_hides(index: SearchIndex) -> None:
    """What was said around a date comes first, what was said long before is still there."""
    add(index, "then", "the harbour was full", at="2026-05-08T10:00:00.000Z")
    add(index, "other", "the harbour was full", at="2026-02-08T10:00:00.000Z")
    assert ask(index, "the harbour on 7 May 2026") == ["then", "other"]
    assert ask(index, "the harbour on 8 February 2026") == ["other", "then"]


def test_a_month_without_a_year_is_the_latest_there_is_talk_of(index: SearchIndex) -> None:
    """`in june` asked in 2026 of conversations that ended in 2023 is June 2023; hiding nothing, as ever."""
    for month in ("2022-06", "2023-04", "2023-06", "2023-09"):
        add(index, month, "we went camping by the lake", at=f"{month}-20T10:00:00.000Z")
    assert ask(index, "when did we go camping in June?")[0] == "2023-06"
    assert ask(index, "camping on 18 April")[0] == "2023-04"
    assert sorted(ask(index, "camping in June")) == ["2022-06", "2023-04", "2023-06", "2023-09"]


def test_before_a_day_is_shortly_before_it(index: SearchIndex) -> None:
    """`the week before` and `before` lift what lies next to the day, not all of history."""
    for day in ("2023-01-10", "2023-06-05", "2023-08-01"):
        add(index, day, "we went camping by the lake", at=f"{day}T10:00:00.000Z")
    assert ask(index, "where did we camp the week before 9 June 2023?")[0] == "2023-06-05"
    assert ask(index, "where did we camp before 9 June 2023?")[0] == "2023-06-05"


def test_words_beside_each_other_beat_words_far_apart(index: SearchIndex) -> None:
    """An answer counts with the question it answers, though another turn holds it; the same words far apart less."""
    long = "well you know how it goes with these things and then some more of it until at last there was nothing left"
    add(index, "far", "What about the kite?", *[long] * 4, "It was the painting that took so long.")
    add(index, "near", "What about the kite?", "It was the painting that took so long.", *[long] * 4)
    add(index, "other", *[long] * 6)
    assert ask(index, "painting of a kite") == ["near", "far"]


def test_a_name_beside_is_not_the_speakers(index: SearchIndex) -> None:
    """What Mira did is what stands under her name, not what she is told of under another."""
    long = "and it was a long day with a lot of rain so we were all glad to be back at home by night"
    for teller, listener in (("Mira", "Enzo"), ("Enzo", "Mira")):
        add(
            index,
            teller,
            f"{teller}: I went fishing {long}",
            f"{listener}: oh how nice {long}",
            f"{teller}: yes {long}",
        )
    assert ask(index, "when did Mira go fishing?")[0] == "Mira"
    assert ask(index, "when did Enzo go fishing?")[0] == "Enzo"


def test_who_asks_about_themselves_means_what_they_said(index: SearchIndex) -> None:
    """`my` means the user's words; a question that addresses the assistant, or nobody, counts both alike."""
    advice = ["Tomatoes like sun, tomatoes like water, and tomatoes like space"]
    index.append(
        Document("session", "told", "told"), [Turn("1", AT, "user", "I planted three tomatoes on the balcony")]
    )
    index.append(Document("session", "heard", "heard"), [Turn("1", AT, "assistant", text) for text in advice])
    assert ask(index, "how many tomatoes do I have?") == ["told", "heard"]
    assert ask(index, "what did you tell me of my tomatoes?") == ["heard", "told"]
    assert ask(index, "tomatoes") == ["heard", "told"]


def test_common_words_count_a_little(index: SearchIndex) -> None:
    """Between two sessions that say the rare word alike, the common ones of the question decide."""
    add(index, "one", "the lighthouse stands there")
    add(index, "two", "after the lighthouse comes nothing")
    assert ask(index, "what came after the lighthouse?") == ["two", "one"]
    assert ask(index, "what is it with him?") == []


def test_british_and_american_spellings_find_each_other(index: SearchIndex) -> None:
    add(index, "uk", "We organised the theatre trip for the neighbours")
    for words in ("organize", "theater", "neighbor", "organising"):
        assert ask(index, words) == ["uk"], words


def test_phrases_and_words_that_must_not_occur(index: SearchIndex) -> None:
    """A phrase stands word for word; a word behind a minus excludes."""
    add(index, "one", "the antenna tuner from ebay")
    add(index, "two", "the tuner of the antenna is home-made")
    assert ask(index, '"antenna tuner"') == ["one"]
    assert ask(index, "tuner -ebay") == ["two"]


def test_accents_case_and_compounds(index: SearchIndex) -> None:
    """What is typed plainly finds what is written properly, and parts find compounds."""
    add(index, "de", "Ich habe die Waschmaschinenleitung und das Café für Zoë nicht gefunden, das ist schade")
    add(index, "ja", "昨日東京水族館へ行きました")
    for words in ("cafe", "ZOE", "Leitung", "Waschmaschine", "maschinen"):
        assert ask(index, words) == ["de"], words
    assert ask(index, "水族館") == ["ja"]
    assert ask(index, "東") == ask(index, "館") == ["ja"]


def test_irregular_forms_find_each_other(index: SearchIndex) -> None:
    """A question in the present finds an answer in the past."""
    add(index, "past", "She went to Lisbon and bought a lamp")
    add(index, "other", "He likes the lamp shop in Porto")
    assert ask(index, "did she buy something")[:1] == ["past"]


@given(st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_no_question_is_an_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Whatever is typed, FTS5's own syntax included, is answered."""
    path = tmp_path_factory.getbasetemp() / "questions.sqlite"
    index = SearchIndex.open(path)
    if not index.size()[0]:
        add(index, "s", "alpha bravo NEAR OR AND NOT words parts * ( ) column")
    ask(index, text)
    index.close()


def test_another_process_reads_while_one_writes(index: SearchIndex) -> None:
    """A reader sees what was committed, and is not kept waiting by a transaction under way."""
    add(index, "one", "alpha")
    with index.transaction():
        add(index, "two", "alpha")
        code = (
            "import sys; from pathlib import Path; from jsonlstore.recall.fulltext import SearchIndex;"
            "i = SearchIndex.open_existing(Path(sys.argv[1])); print(sorted(d.id for d in i.documents()))"
        )
        seen = subprocess.run([sys.executable, "-c", code, str(index.path)], capture_output=True, text=True, check=True)
    assert seen.stdout.strip() == "['one']"
    assert ask(index, "alpha") == ["two", "one"] or ask(index, "alpha") == ["one", "two"]


def test_an_index_of_another_layout_is_not_used(index: SearchIndex) -> None:
    """What another version wrote is neither read nor written into."""
    index.set_note("layout", 99)
    index.close()
    assert SearchIndex.open_existing(index.path) is None
    with pytest.raises(SearchUnavailable):
        SearchIndex.open(index.path)


def test_damage_is_told(index: SearchIndex) -> None:
    """Rows that do not add up to their checksum are named."""
    add(index, "one", "alpha bravo")
    assert index.problems() == []
    index._db.execute("UPDATE blocks SET digest = x'00'")
    assert any("one" in problem for problem in index.problems())
    index._db.execute("DELETE FROM blocks")
    assert index.problems()


def test_a_failed_transaction_leaves_what_was_before(index: SearchIndex) -> None:
    """An error in the middle changes nothing, terms included."""
    add(index, "one", "alpha")

    def failing() -> None:
        with index.transaction():
            add(index, "two", "bravo")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()
    assert ask(index, "bravo") == []
    assert index.problems() == []


def test_removing_the_file_removes_what_lies_beside_it(index: SearchIndex) -> None:
    """Nothing named after the index stays."""
    add(index, "one", "alpha")
    folder = index.path.parent
    assert remove_index(index.path)
    index.close()
    remove_index(index.path)
    assert not list(folder.iterdir())
    assert not remove_index(index.path)


@pytest.mark.parametrize("step", range(1, 40, 3))
def test_a_full_disk_leaves_the_index_complete_or_as_it_was(index: SearchIndex, step: int) -> None:
    """Wherever the disk fills up, what was committed stays whole and the rest can be tried again."""
    add(index, "one", "alpha " * 200)
    (pages,) = index._db.execute("PRAGMA page_count").fetchone()
    index._db.execute(f"PRAGMA max_page_count = {pages + step}")
    try:
        add(index, "two", *["bravo charlie delta " * 300] * 60)
    except (SearchUnavailable, sqlite3.OperationalError):
        assert ask(index, "bravo") == []
        assert index.problems() == []
        index._db.execute("PRAGMA max_page_count = 1000000")
        add(index, "two", *["bravo charlie delta " * 300] * 60)
    assert ask(index, "bravo") == ["two"]
    assert index.problems() == []


def test_a_question_s_names_are_read_by_their_capital_letters() -> None:
    """A capital letter at the beginning of a sentence names nobody; neither does one where every word has it."""

    def names(text: str) -> set[str]:
        return {one.text for one in read_query([text], NOW, UTC).concepts if one.name}

    assert names("When did Ada mend the Windmill?") == {"ada", "windmill"}
    assert names("Mend the windmill. Then ask (Zoë) about it") == {"zoe"}
    assert names("Windmill Repair Log") == set()
    assert names("windmill") == set()


def test_who_is_asked_about_counts_among_many_who_tell_alike(index: SearchIndex) -> None:
    """The same word asked for as a name weighs more than as a word, beside another that is as rare."""
    for number in range(6):
        add(index, f"other{number}", "the rain fell on the hills and the river rose")
    add(index, "ada", "Ada came by.", "the rain fell on the hills", "and the river rose")
    add(index, "mill", "the mill stood still.", "the rain fell on the hills", "and the river rose")
    assert ask(index, "where was the mill of Ada")[0] == "ada"
    assert ask(index, "where was the Mill of ada")[0] == "mill"
