"""Short ways that save a backfill time tell the same as the long ones they stand for."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jsonlstore.signals import Distiller
from jsonlstore.signals import outcome as outcomes
from jsonlstore.signals.language import Language, languages, recognise
from jsonlstore.signals.sentences import shorten
from jsonlstore.signals.shell import written_files
from jsonlstore.signals.telling import may_tell, telling_lines
from jsonlstore.transcripts.records import parse_entry

_REDIRECT = re.compile(
    r"(?:^|\s)(?:cat|tee|echo|printf)\b[^\n|]*?>{1,2}\s*[\"']?([^\s\"'<>|&;]+)"
    r"|\btee\s+(?:-a\s+)?[\"']?([^\s\"'<>|&;-][^\s\"'<>|&;]*)"
)
WORDS = st.sampled_from(
    ["cat", "tee", "echo", "printf", "concat", ">", ">>", "> ", "tide.txt", "'a b'", '"x"', "|", "\n", " ", "\t", "-a",
     "/dev/null", "&1", "2>", "catalogue", "echo hi > a", "cat<<E >b", ";", "\u00a0"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=14).map("".join))
@example("echo a > b echo c > d")
@example("cat > echo > x")
@example("tee\tlog.txt")
def test_redirections_are_found_where_one_expression_finds_them(command: str) -> None:
    """Looking only where a word that writes stands misses no file and adds none."""
    may_write = "tee " in command or (
        ">" in command and any(one in command for one in ("cat", "tee", "echo", "printf"))
    )
    found = [match[1] or match[2] for match in _REDIRECT.finditer(command)] if may_write else []
    assert written_files(command) == [path for path in found if not path.startswith(("/dev/", "&", "$"))]


@given(st.data())
def test_a_runners_words_are_in_every_count_of_its(data: st.DataObject) -> None:
    """A runner is not asked where none of its words stands, so no count of its may do without them."""
    counts, _, words = data.draw(st.sampled_from(outcomes._RUNNERS))
    said = data.draw(st.from_regex(counts))
    assert any(word in said for word in words)


@pytest.mark.parametrize("word", outcomes._COUNTING)
def test_one_look_finds_every_word_of_a_count(word: str) -> None:
    """The words are looked for at once, the one with a line's end in it among them."""
    found = outcomes._counting()(f"tide\n\u00e9{word} tide".encode(), 0)[0]
    assert found[0] >= 0
    assert outcomes._counting()(b"the tide comes in", 0)[0][0] < 0


@given(st.text(max_size=200), st.integers(10, 60))
@example("  two  blanks ", 20)
@example("a\u00a0b\x1fc", 20)
@example("word " * 40, 30)
def test_a_tidy_line_is_shortened_like_any_other(line: str, most: int) -> None:
    """What a line is taken apart for is there already in one that is tidy."""
    untidy = f"\n{line}\n"  # the same words, never tidy
    if len(line) < 8 * most - 1:
        assert shorten(line, most) == shorten(untidy, most)


LETTERS = st.sampled_from(
    [*"abcdeost", " ", "'", "’", "-", "_", "7", "é", ".", "the ", "und ", "que ", "de ", "don't "]
)


@given(st.lists(LETTERS, max_size=40).map("".join))
def test_a_language_is_known_by_most_of_its_words(text: str) -> None:
    """The one that shares more words than any other, whichever way the words were found."""
    words = set(re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text.lower().replace("’", "'")))
    shared = sorted(
        ((len(words & one.words), code) for code, one in languages().items() if one.script == "latin"), reverse=True
    )
    (most, code), (next_most, _) = shared[:2]
    told = code if most >= (1 if len(words) <= 6 else 2) and next_most < most else None
    found = recognise(text)
    assert (found.code if found else None) == told


SAID = st.sampled_from(
    ["TODO: chart the tide", "done", "it’s done", "the pier is fertig", "[ ]", "- [x] tide", "in", "progress", "won't",
     "won’t do", "сделано", "已完成", "tide", "", " ", "task-7", "no longer", "needed"]
)  # fmt: skip


@given(st.lists(st.lists(SAID, max_size=4).map(" ".join), max_size=8), st.sampled_from([None, *languages().values()]))
@example(["in", "progress", "done"], None)
def test_no_line_that_may_tell_of_a_task_is_passed_over(lines: list[str], language: Language | None) -> None:
    """A text is looked through at once for the lines a look at each would find, whatever stands around them."""
    found = telling_lines("\n".join(lines), language)
    assert {line for line in lines if may_tell(line, language)} <= found <= set(lines)


COMMANDS = st.sampled_from(
    ["ls -la", "cat tide.md", "grep -rn tide src", "pytest -q", "git status", "git commit -m 'Chart the tide'",
     "git push", "echo x > tide.txt", "make build", "gh issue view 7 -R o/r", "gh pr merge 3", "cd /srv/tide && ls",
     "git reset HEAD~1", "python chart.py", "sed -n 1,5p a.py", "sed -i s/a/b/ a.py",
     "*** Begin Patch\n*** Update File: a.py\n"]
)  # fmt: skip
ANSWERS = st.sampled_from(
    ["", "ok", "3 failed, 2 passed in 0.2s", "5 passed in 0.1s", "ls: cannot access 'x': No such file or directory",
     "[main 1a2b3c4] Chart the tide\n 1 file changed", "fatal: not a git repository", "/srv/tide/.git",
     "Command exited with code 1", "[Request interrupted by user]", "Found 2 errors", "https://git.example/o/r/pull/3"]
)  # fmt: skip


def _entry(number: int, message: dict[str, Any]) -> bytes:
    at = f"2026-09-21T10:{number // 60:02}:{number % 60:02}.000Z"
    parent = f"{number - 1:08x}" if number else None
    head = {"type": "message", "id": f"{number:08x}", "parentId": parent, "timestamp": at}
    return orjson.dumps({**head, "message": message})


@given(st.lists(st.tuples(COMMANDS, ANSWERS, st.booleans(), st.sampled_from([None, 0, 1])), max_size=8))
def test_signals_are_the_same_without_facts(runs: list[tuple[str, str, bool, int | None]]) -> None:
    """A backfill leaves out what only facts need, also how commands went that merely looked; nothing else."""
    lines = [_entry(0, {"role": "user", "content": "chart the tide, please"})]
    for place, (command, answer, is_error, code) in enumerate(runs):
        call = {"type": "toolCall", "id": f"c{place}", "name": "exec", "arguments": {"command": command}}
        details = {} if code is None else {"exitCode": code}
        lines.append(_entry(2 * place + 1, {"role": "assistant", "content": [call]}))
        result = {"role": "toolResult", "toolCallId": f"c{place}", "toolName": "exec", "isError": is_error}
        text = [{"type": "text", "text": answer}]
        lines.append(_entry(2 * place + 2, {**result, "content": text, "details": details}))
    whole, light = Distiller(), Distiller(facts=False)
    for line in lines:
        for distiller in (whole, light):
            entry = parse_entry(line)
            assert entry is not None
            distiller.feed(entry)
    assert whole.result() == light.result()
