"""What a session was about."""

from __future__ import annotations

import base64
import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsonlstore.signals.background import STOP
from jsonlstore.signals.nouns import names_nothing
from jsonlstore.signals.options import COMMON_TOOL_NAMES
from jsonlstore.signals.rarity import by_rarity, session_rarity
from jsonlstore.signals.tallies import MOST_COUNTED
from jsonlstore.signals.topics import HotTopicExtractor
from jsonlstore.signals.words import keywords, looks_encoded, read_piece, unspaced_words
from tests.signals.told import Story, told

if TYPE_CHECKING:
    import uuid


def topics_of(*texts: str) -> list[str]:
    extractor = HotTopicExtractor()
    for text in texts:
        extractor.record_text(text)
    return extractor.current_topics(50)


def test_a_session_about_the_radio_yields_the_topics_the_specification_names() -> None:
    """FR-005: ft991a, ham radio and lbf-ham-radio are hot topics."""
    extractor = HotTopicExtractor()
    extractor.record_exec_workdir("/home/user/Projects/lbf-ham-radio")
    extractor.record_text("The radio does not answer. Is the FT991A connected? The ft991a needs 38400 baud.")
    extractor.record_text("Yes, the radio is on and the CAT cable is in.")
    assert {"ft991a", "ham radio", "lbf-ham-radio"} <= set(extractor.current_topics())
    assert extractor.active_projects() == ["lbf-ham-radio"]


def test_every_recording_method_of_both_documents_feeds_the_outcome() -> None:
    extractor = HotTopicExtractor()
    extractor.record_text("impedance matching", 0.5)
    extractor.record_tool_call("exec", {"workdir": "/home/u/Projects/one", "command": "cd ~/Projects/two && ls"})
    extractor.record_memory_access(["electronics"])
    extractor.record_working_memory_label("Antenna Tuner")
    extractor.record_exec_workdir("/home/u/Projects/tuner3k")
    extractor.record_synapse_signal("grounding plan", "petra")
    extractor.record_synapse_subject("mast height")
    extractor.record_learning_id("stm_1")
    extractor.record_learning_id("stm_2")
    extractor.record_learning_id("stm_1")
    found = set(extractor.current_topics(50))
    assert {"impedance", "electronics", "antenna tuner", "grounding plan", "petra", "mast height", "tuner3k"} <= found
    assert set(extractor.active_projects()) == {"one", "two", "tuner3k"}
    assert extractor.recent_learning_ids() == ["stm_1", "stm_2"]


def test_the_frequency_map_counts_words_by_weight() -> None:
    extractor = HotTopicExtractor()
    extractor.record_text("antenna antenna coax")
    extractor.record_text("Antenna", 0.5)
    assert extractor.frequency_map()["antenna"] == pytest.approx(2.5)
    assert extractor.frequency_map()["coax"] == pytest.approx(1.0)


def test_a_message_to_everyone_makes_nobody_a_topic() -> None:
    extractor = HotTopicExtractor()
    extractor.record_synapse_signal("ionosphere", "all")
    assert "all" not in extractor.frequency_map()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Die Kurzwellenantenne rauscht. Ist die Kurzwellenantenne geerdet?", "kurzwellenantenne"),
        ("Der Überlagerungsempfänger übersteuert, der Überlagerungsempfänger!", "überlagerungsempfänger"),
        ("Антенна не работает, потому что антенна сломана", "антенна"),
        ("短波电台的天线坏了，我们需要修理短波电台", "短波电台"),
        ("短波电台的天线坏了，天线很重要", "天线"),
        ("アンテナの調整が必要です。アンテナを確認します。", "アンテナ"),
        ("無線機を買いました。無線機は高いです。", "無線機"),
        ("안테나를 고쳤다. 안테나는 좋다.", "안테나"),
        ("L'étalonnage du récepteur: le récepteur est prêt", "récepteur"),
        ("In `HotTopicExtractor` and again HotTopicExtractor", "hottopicextractor"),
        ("see src/cat_control.py and cat_control.py", "cat_control.py"),
        ("ModuleNotFoundError: no module; ModuleNotFoundError", "modulenotfounderror"),
        ("the ECONNREFUSED came back, ECONNREFUSED", "econnrefused"),
        ("an IC-7300 and an RP2040 board", "ic-7300"),
    ],
)
def test_topics_come_in_any_script_and_from_code(text: str, wanted: str) -> None:
    assert wanted in topics_of(text)


def test_composed_and_decomposed_umlauts_are_one_topic() -> None:
    found = topics_of("Empf\u00e4nger", "Empfa\u0308nger")
    assert found.count("empf\u00e4nger") == 1
    assert len(found) == 1


def test_frequent_pairs_are_topics_and_pairs_do_not_cross_punctuation() -> None:
    found = topics_of("the standing wave ratio. Meter", "a standing wave, ratio")
    assert "standing wave" in found
    assert "ratio meter" not in found


def test_common_words_rank_below_telling_ones() -> None:
    found = topics_of("file file file file problem problem antenna antenna")
    assert found[0] == "antenna"


def test_names_of_called_tools_are_never_topics() -> None:
    extractor = HotTopicExtractor()
    extractor.record_tool_call("frobnicate_radio", {})
    extractor.record_tool_call("mcp__server__weather_lookup", {})
    extractor.record_text("frobnicate_radio weather_lookup exec working_memory frobnicate_radio barometer")
    assert extractor.current_topics() == ["barometer"]


@given(st.sampled_from(sorted(STOP | COMMON_TOOL_NAMES)), st.integers(1, 5))
def test_stop_words_and_tool_names_never_show(word: str, times: int) -> None:
    assert word not in topics_of(" ".join([word] * times) + " ionosphere")


@pytest.mark.parametrize("wrapped", [False, True])
def test_base64_leaves_no_trace(wrapped: bool) -> None:
    """Chosen bytes can encode to any word, so the data is random, from fixed seeds."""
    for seed in range(400):
        chance = random.Random(seed)
        data = chance.randbytes(chance.randint(48, 120))
        encoded = (base64.encodebytes(data) if wrapped else base64.b64encode(data)).decode()
        found = topics_of(f"here: {encoded}\nionosphere")
        # the short last line of wrapped data may pass for a word; whole runs never do
        assert [topic for topic in found if topic != "ionosphere" and (len(topic) > 15 or not wrapped)] == []


def test_short_base64_hardly_ever_passes_for_a_name() -> None:
    runs = [base64.b64encode(random.Random(seed).randbytes(24)).decode() for seed in range(2000)]
    assert sum(topics_of(f"here: {run}") != [] for run in runs) < 10


@given(st.uuids(), st.binary(min_size=4, max_size=32))
def test_uuids_and_hashes_leave_no_trace(identity: uuid.UUID, digest: bytes) -> None:
    assert topics_of(f"{identity} {str(identity)[:8]} {digest.hex()} {digest.hex().upper()} ionosphere") == [
        "ionosphere"
    ]


@given(st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)), st.integers(-14, 14))  # noqa: DTZ001 - zones are added
def test_times_leave_no_trace(moment: datetime, offset: int) -> None:
    there = moment.replace(tzinfo=UTC) + timedelta(hours=offset)
    formats = ("%Y-%m-%dT%H:%M:%S.000Z", "%d.%m.%Y", "%H:%M", "%Y-%m-%d", "[%a %b %d]")
    text = " ".join([there.isoformat(), *(there.strftime(form) for form in formats)])
    assert topics_of(f"{text} ionosphere") == ["ionosphere"]


@given(st.text(max_size=400), st.floats(allow_nan=True, allow_infinity=True))
def test_recording_never_raises_and_topics_are_plain(text: str, weight: float) -> None:
    extractor = HotTopicExtractor()
    extractor.record_text(text, weight if weight == weight else 1.0)
    extractor.record_name(text)
    extractor.record_exec_workdir(text)
    extractor.record_file(text)
    for topic in extractor.current_topics():
        assert topic == topic.lower()
        assert topic.strip()
        assert "\n" not in topic


@given(st.lists(st.text(alphabet="abcdefgh ", min_size=1, max_size=30), max_size=20))
def test_the_same_texts_give_the_same_topics(texts: list[str]) -> None:
    assert topics_of(*texts) == topics_of(*texts)


def test_memory_stays_bounded_and_what_is_said_often_survives() -> None:
    extractor = HotTopicExtractor()
    for block in range(40):
        extractor.record_text(" ".join(f"w{block}x{number}q" for number in range(1_500)) + " ionosphere ionosphere")
    assert all(
        len(counter) <= MOST_COUNTED
        for tally in extractor._tallies.values()
        for counter in (tally.pieces, tally.pairs, tally.parts)
    )
    assert extractor.frequency_map()["ionosphere"] == 80


def test_what_every_session_shares_is_worth_less_when_topics_are_used() -> None:
    """DECISION 47: document frequency over other sessions is applied at use, never stored."""
    rarity = session_rarity([["openclaw", "antenna"], ["OpenClaw", "invoice"], ["openclaw", "garden"]])
    assert rarity["antenna"] == pytest.approx(1.0)
    assert rarity["openclaw"] < 0.6
    assert by_rarity(["openclaw", "antenna"], rarity) == ["antenna", "openclaw"]
    assert by_rarity(["garden", "antenna"], rarity) == ["garden", "antenna"]


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=8))
def test_session_rarity_is_one_at_most_and_falls_with_sharing(sessions: list[list[str]]) -> None:
    rarity = session_rarity(sessions)
    counts = {topic: sum(topic in session for session in sessions) for topic in rarity}
    assert all(0 < value <= 1.0 + 1e-12 for value in rarity.values())
    for one in rarity:
        for other in rarity:
            assert counts[one] <= counts[other] or rarity[one] <= rarity[other]


def test_keywords_are_the_words_overlap_is_measured_with() -> None:
    """DECISION 7: tokenised, not whole labels."""
    assert keywords("FT991A control, the USB port!") == ("ft991a", "control", "usb", "port")
    assert "天线" in keywords("天线 tuning")


@pytest.mark.parametrize(
    "name", ["getUserAccountByIdAndName", "home/user/Projects/openclaw", "lbf-ham-radio-control-panel"]
)
def test_names_are_not_taken_for_encoded_data(name: str) -> None:
    assert not looks_encoded(name)


def test_an_address_gives_the_words_of_its_path_only() -> None:
    assert read_piece("https://example.com/hamlib/rigctl?token=abcdef#top").words == ("hamlib", "rigctl")


@pytest.mark.parametrize(
    ("word", "nothing"),
    [
        ("integrate", True), ("integrates", True), ("integrating", True), ("verified", True), ("stopped", True),
        ("automatically", True), ("ejecutando", True), ("rápidamente", True), ("проверить", True), ("확인합니다", True),
        ("assembly", False), ("embedding", False), ("logging", False), ("spdlog", False), ("sidebar", False),
        ("память", False), ("sqlite", False), ("deploy", False), ("ferry", False),
    ],
)  # fmt: skip
def test_issue_16_verbs_and_adverbs_name_nothing(word: str, nothing: bool) -> None:
    """A topic is what the work was about, not what was done to it."""
    assert names_nothing(word) is nothing


def test_issue_16_german_nouns_have_capitals() -> None:
    """What nobody ever writes with a capital is no noun where nouns have one; names keep their form."""
    told = "bitte ausführen und die Pipeline ausführen, dann die Pipeline mit docker ausführen, docker läuft"
    for german in (False, True):
        extractor = HotTopicExtractor()
        extractor.nouns_have_capitals = german
        extractor.record_text(told)
        found = extractor.current_topics(least=2)
        assert {"pipeline", "docker"} <= set(found)
        assert ("ausführen" in found) is not german


def test_issue_16_the_end_of_a_name_counts_if_somebody_speaks_of_it() -> None:
    """ "lbf-ham-radio" is about ham radio where people say radio; nobody here says auditor."""
    extractor = HotTopicExtractor()
    extractor.record_exec_workdir("/home/u/Projects/harbour-code-auditor")
    extractor.record_text("the estimate of the stories is late, the estimate is wrong")
    found = extractor.current_topics(least=1)
    assert "harbour-code-auditor" in found
    assert "code auditor" not in found


def test_issue_16_a_verb_and_its_object_are_no_name() -> None:
    """ "integrate spdlog" is a request; a logger is a thing."""
    extractor = HotTopicExtractor()
    for _ in range(3):
        extractor.record_text("please integrate spdlog with the async logger")
    found = extractor.current_topics(50, 2)
    assert "spdlog" in found
    assert not {"integrate spdlog", "integrate"} & set(found)


@pytest.mark.parametrize(
    ("word", "nothing"),
    [
        ("explica", True),
        ("verifique", True),
        ("realizar", True),
        ("actualizarlo", True),
        ("обновлю", True),
        ("проверяю", True),
        ("unused", True),
        ("based", True),
        ("funcionalidad", False),
        ("маяк", False),
        ("неделю", False),
        ("маршрутизацию", False),
        ("embed", False),
        ("cargo", False),
        ("calendar", False),
        ("avatar", False),
        ("guitar", False),
        ("editor", False),
        ("methods", True),
        ("directorio", True),
        ("функции", True),
        ("调用", True),
        ("状態", True),
        ("검색", True),
    ],
)
def test_issue_16_words_of_any_work_and_verbs_of_other_languages_name_nothing(word: str, *, nothing: bool) -> None:
    """Forms that only verbs have, and what every session is about; names that look like them stay."""
    assert names_nothing(word) is nothing


@given(
    st.lists(st.text(alphabet="数据库迁移日志ログファイルのを一個", min_size=1, max_size=40), min_size=1, max_size=8)
)
def test_a_run_of_unspaced_script_means_the_same_however_often_it_was_read(runs: list[str]) -> None:
    first = [unspaced_words(run) for run in runs]
    filler = [f"数{chr(0x4E00 + at)}库" for at in range(1100)]  # more runs than are remembered
    for run in filler:
        unspaced_words(run)
    assert [unspaced_words(run) for run in runs] == first
    assert all(part in run for run, (whole, parts) in zip(runs, first, strict=True) for part in (*whole, *parts))


@pytest.mark.parametrize("word", ["avez", "pouvez", "mettez", "pushée", "suivre", "finde", "creo", "acho"])
def test_what_somebody_does_or_thinks_is_no_topic(word: str) -> None:
    """French marks its verbs, too, also those it took from English."""
    assert names_nothing(word)


@pytest.mark.parametrize("word", ["nao", "voce", "tambien", "funcion", "etre", "perche"])
def test_a_small_word_without_its_accents_is_one(word: str) -> None:
    """Many people type none."""
    assert names_nothing(word)


@pytest.mark.parametrize("word", ["chez", "marée", "journée", "quai", "bouée"])
def test_a_french_noun_may_be_a_topic(word: str) -> None:
    assert not names_nothing(word)


def test_a_nudge_in_english_leaves_the_language_of_the_session_as_it_is() -> None:
    """German nouns have capitals, and other words are no topics, whatever marker or "ok" came last."""
    made = Story("german")
    for _ in range(3):
        made.user("Zeige mir die Seekarte und ob die Boje dort schwimmend gezeichnet wird").says_(
            "Die Seekarte ist da."
        )
    made.user("[Request interrupted by user for tool use]")
    topics = told(made)["hot_topics"]
    assert "seekarte" in topics
    assert not [one for one in topics if "gezeichnet" in one or "schwimmend" in one]
