"""The key stays, the value goes; what is no secret stays as it was."""

# ruff: noqa: E501

from __future__ import annotations

import importlib.util
import itertools
import random
import re
import string
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from jsonlstore.redact import MARK, Finding, redact, redact_text, redact_value
from jsonlstore.redact.rules import Shape, shapes

if TYPE_CHECKING:
    from types import ModuleType


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


ROOT = Path(__file__).resolve().parents[2]
make = _load(ROOT / "fixtures" / "make_secrets.py")
report = _load(ROOT / "tests" / "redact" / "report_secrets.py")

SHAPES = shapes()
SHAPE_IDS = [f"{shape.kind}-{index}" for index, shape in enumerate(SHAPES)]


@pytest.mark.parametrize("shape", SHAPES, ids=SHAPE_IDS)
def test_every_shape_hides_its_example_and_leaves_its_counter_example(shape: Shape) -> None:
    text, secret = make.slots(shape.example, random.Random(7))
    hidden, findings = redact(f"so: {text} .")
    assert secret not in hidden
    assert MARK in hidden
    assert findings
    assert redact(shape.counter) == (shape.counter, [])


@pytest.mark.parametrize("shape", SHAPES, ids=SHAPE_IDS)
def test_a_shape_is_what_finds_its_example(shape: Shape) -> None:
    """Guards the triggers: one that does not fire would leave the shape dead."""
    from jsonlstore.redact.budget import Steps
    from jsonlstore.redact.finder import find_spans

    text, _ = make.slots(shape.example, random.Random(11))
    assert shape.kind in {kind for _, _, kind in find_spans(f"so: {text} .".encode(), Steps(10_000))}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_labelled_corpus_leaks_nothing_and_is_hardly_touched(seed: int) -> None:
    score = report.score(seed)
    assert score.secrets >= 80
    assert score.look_alikes >= 80
    assert score.leaked == []
    assert score.false_positives <= 0.02, score.touched


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("api_key=sk-abcdef0123456789abcdef", "api_key=[REDACTED]"),
        ('{"password": "hunter2", "user": "bob"}', '{"password": "[REDACTED]", "user": "bob"}'),
        (r"{\"password\": \"hunter2\", \"a\": 1}", r"{\"password\": \"[REDACTED]\", \"a\": 1}"),
        ("Authorization: Bearer abc123def456", "Authorization: Bearer [REDACTED]"),
        ("postgres://app:hunter2@db/app", "postgres://app:[REDACTED]@db/app"),
        ("mysql -uroot -phunter2 app", "mysql -uroot -p[REDACTED] app"),
        ("--password hunter2 --yes", "--password [REDACTED] --yes"),
        ("?token=abc123def&user=bob", "?token=[REDACTED]&user=bob"),
        ("my password is hunter2, ok?", "my password is [REDACTED], ok?"),
        ("<password>hunter2</password>", "<password>[REDACTED]</password>"),
        ("Пароль: котик123 все", "Пароль: [REDACTED]"),
        ("über password=hunter2 naïve", "über password=[REDACTED] naïve"),
        ("a <private>x</private> b", "a  b"),
        ("a <PRIVATE reason='x'>x <private>y</private> z</Private> b", "a  b"),
        ("a <private>never closed", "a "),
        (r"a \u003cprivate\u003ex\u003c/private\u003e b", "a  b"),
        ("a </private> b", "a </private> b"),
    ],
)
def test_the_key_stays_and_the_value_goes(text: str, expected: str) -> None:
    assert redact_text(text) == expected


def test_findings_name_the_place_in_the_input() -> None:
    text = "größe 🎈 password=hunter2 und mehr"
    hidden, findings = redact(text)
    assert hidden == "größe 🎈 password=[REDACTED] und mehr"
    assert findings == [Finding("named", text.index("hunter2"), text.index("hunter2") + 7)]


def test_a_lone_surrogate_becomes_writable() -> None:
    hidden, findings = redact("a\ud800b password=hunter2\udfff c")
    assert hidden.startswith("a\ufffdb password=[REDACTED]")
    assert "hunter2" not in hidden
    assert findings[0].start == len("a\ud800b password=")
    orjson.dumps(hidden)


def test_values_behind_secret_keys_go_whole_and_the_rest_is_the_same_object() -> None:
    value = {
        "password": "a b c",
        "clientSecret": "zzz",
        "env": [{"name": "DB_PASSWORD", "value": "plain"}, {"name": "HOST", "value": "db"}],
        "auth": {"headers": {"Authorization": "Bearer abc"}},
        "max_tokens": 4096,
        "token_type": "bearer",
        "passwords": ["one", "two"],
        "pin_code_password": 123456,
        "note": "token=abc123def456",
        "kept": {"password": "${DB_PASSWORD}", "api_key": ""},
    }
    hidden = redact_value(value)
    assert hidden["password"] == hidden["clientSecret"] == MARK
    assert hidden["env"] == [{"name": "DB_PASSWORD", "value": MARK}, {"name": "HOST", "value": "db"}]
    assert hidden["auth"]["headers"]["Authorization"] == f"Bearer {MARK}"
    assert hidden["passwords"] == [MARK, MARK]
    assert hidden["pin_code_password"] == MARK
    assert hidden["note"] == f"token={MARK}"
    assert hidden["kept"] is value["kept"]
    assert (hidden["max_tokens"], hidden["token_type"]) == (4096, "bearer")
    clean = {"a": ["b", {"c": 1.5, "d": None}], "sessionId": "0f8fad5b-d9cb-469f-a165-70867728950e"}
    assert redact_value(clean) is clean


def test_a_secret_used_as_a_key_is_hidden_too() -> None:
    secret, _ = make.slots("ghp_<36>", random.Random(3))
    other, _ = make.slots("ghp_<36>", random.Random(4))
    hidden = redact_value({secret: 1, other: 2})
    assert secret not in str(hidden)
    assert sorted(hidden.values()) == [1, 2]


def test_importing_the_redactor_does_not_import_re2() -> None:
    code = "import sys, jsonlstore.redact.text; sys.exit('re2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


# -- properties

pieces = st.sampled_from(
    [
        "password", "token", "=", ":", ": ", " is ", '"', "'", "\\", "\n", " ", "<private>", "</private>", "[REDACTED]", "`",
        "--", "-p", "-u", "curl ", "mysql ", "://", "@", "/", "ghp_", "sk-", "AKIA", "eyJ", ".", "abc123def456", "hunter2",
        "Bearer ", "Authorization", "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", "{", "}", "[", "]",
        "(", ")", ",", ";", "&", "%3D", "%22", "\\n", '\\"', "密码", "：", "ö", "\ud800", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "<password>", "</password>", "value", "key", "secret", "Cookie", "for", "xoxb-1234567890-", "…", "***", "$", "|",
    ]
)  # fmt: skip
hostile = st.lists(pieces | st.text(max_size=6), max_size=24).map("".join)


@settings(max_examples=400, deadline=None)
@given(hostile)
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once, _ = redact(text)
    assert redact(once) == (once, [])
    once.encode()


@settings(max_examples=200, deadline=None)
@given(hostile)
def test_findings_are_ordered_disjoint_and_rebuild_the_result(text: str) -> None:
    hidden, findings = redact(text)
    at, parts = 0, []
    for found in findings:
        assert at <= found.start <= found.end <= len(text)
        parts += [text[at : found.start], "" if found.kind == "private" else MARK]
        at = found.end
    assert "".join([*parts, text[at:]]).replace("\ud800", "\ufffd") == hidden.replace("\ud800", "\ufffd")


templates = st.sampled_from([shape.example for shape in SHAPES if not shape.near] + make.named_templates())
talk = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="<>&\\\"'`"), max_size=30)


@settings(max_examples=400, deadline=None)
@given(templates, st.integers(0, 10**6), talk, talk)
def test_no_planted_secret_survives_in_a_message(template: str, seed: int, before: str, after: str) -> None:
    text, secret = make.slots(template, random.Random(seed))
    assert secret not in redact_text(f"{before}\n{text}\n{after}")


@settings(max_examples=300, deadline=None)
@given(templates, st.integers(0, 10**6), st.integers(0, 3))
def test_no_planted_secret_survives_in_escaped_json(template: str, seed: int, depth: int) -> None:
    text, secret = make.slots(template, random.Random(seed))
    for _ in range(depth):
        text = orjson.dumps({"command": f"echo 1\n{text}\nls"}).decode()
    assert secret not in redact_text(text)


@settings(max_examples=200, deadline=None)
@given(templates, st.integers(0, 10**6))
def test_no_planted_secret_survives_in_any_field(template: str, seed: int) -> None:
    text, secret = make.slots(template, random.Random(seed))
    value = {
        "label": text,
        "args": {"argv": ["run", {"env": text}]},
        "content": [{"type": "text", "text": text}],
        text: 1,
    }
    assert secret not in orjson.dumps(redact_value(value)).decode()
    assert redact_value(redact_value(value)) == redact_value(value)


# -- split tokens

# tokens, as code splits them; what has a blank, a bracket or a semicolon is said, and there such a sign ends a literal
providers = st.sampled_from(
    [shape.example for shape in SHAPES if not shape.near and not re.search(r"[\s\"'`,;()]", shape.example)]
)
glue = st.sampled_from(
    [
        '" + "', '"+"', '" "', '""', "' + '", "''", "' '", '" .. "', '" . "', "'.'", '" & "', "' || '", "' ~ '", '" <> "', '" ++ "',
        '" \\\n    "', '"\n    "', '"\n  + "', '" +\n  "', "' +\r\n\t'", '" .\n  "', "\\\n", "\\\n    ", "` + `", '" + `', "` + '",
        '\\" + \\"', '\\" \\"', "\\' + \\'", '\\" +\\n  \\"', '\\"\\n  \\"', '\\\\\\" + \\\\\\"', "\\\\\\n  ", "&quot; + &quot;",
        "\\u0022 + \\u0022", '" + f"', "' b'", "'}${'", '".concat("', '").append("', "\"'",
    ]
)  # fmt: skip


def _split(text: str, joint: str, cuts: set[int]) -> str:
    edges = [0, *sorted(cuts), len(text)]
    pieces = [text[start:end] for start, end in itertools.pairwise(edges)]
    quote = "" if joint.strip("\\ ")[:1] in ("\n", "n") else '"'
    return f"x = {quote}{joint.join(pieces)}{quote}"


@settings(max_examples=500, deadline=None)
@given(providers, glue, st.integers(0, 10**6), st.data())
def test_a_token_split_over_quotes_is_hidden(template: str, joint: str, seed: int, data: st.DataObject) -> None:
    """Cut anywhere, also inside the letters it is known by, and as often as one likes."""
    text, secret = make.slots(template, random.Random(seed))
    assume(secret not in redact_text(text))  # drawn letters may by chance look like words
    cuts = data.draw(st.sets(st.integers(1, len(text) - 1), min_size=1, max_size=6))
    hidden = redact_text(_split(text, joint, cuts))
    start, end = text.index(secret), text.index(secret) + len(secret)
    edges = sorted({start, end, *(cut for cut in cuts if start < cut < end)})
    pieces = [text[first:last] for first, last in itertools.pairwise(edges)]
    assert max(pieces, key=len) not in hidden
    assert redact_text(hidden) == hidden


@pytest.mark.parametrize(
    "template", ["ghp_<36>", "sk-ant-api03-<40>", "AKIA<upper:16>", "AIza<url:35>", "xoxb-<digits:12>-<24>"]
)
@pytest.mark.parametrize("joint", ['" + "', '" "', "' + '", '" \\\n  "', '\\" + \\"'])
def test_no_cut_of_a_token_is_missed(template: str, joint: str) -> None:
    text, secret = make.slots(template, random.Random(5))
    for cut in range(1, len(text)):
        hidden = redact_text(_split(text, joint, {cut}))
        assert secret[-6:] not in hidden, cut
        assert text[:cut][-6:] not in hidden or cut < 6, cut


@pytest.mark.parametrize(
    "text",
    [
        'print("task" + "-force-alpha-bravo-charlie-delta-echo")',
        '"commit " + "0f8fad5bd9cb469fa16570867728950e0f8fad5b"',
        "['gh', 'p_token', 'sk', '-ant']",
        'cat \'a\' \'b\' "c" && echo "done" "now"',
        'x = "" + "abc" + ""',
        "'it''s' don't l'internationalisation",
        'use `gh` `p_` and "sk" "-" as prefixes',
        'std::cout << "a" "b" << " + " << "c";',
    ],
)
def test_joining_literals_makes_no_secret_of_plain_text(text: str) -> None:
    assert redact(text) == (text, [])


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20) | hostile,
        lambda kids: st.lists(kids, max_size=4) | st.dictionaries(st.text(max_size=10) | pieces, kids, max_size=4),
        max_leaves=12,
    )
)
def test_redacting_a_value_never_raises_and_settles(value: object) -> None:
    once = redact_value(value)
    assert redact_value(once) == once


@pytest.mark.parametrize("mark", ["# ", "// ", " * ", "> ", "; ", "+", "2026-03-01 10:00:01 INFO key: ", "[worker] "])
@pytest.mark.parametrize("ends", [True, False])
def test_a_private_key_behind_marks_is_hidden_with_its_last_line(mark: str, ends: bool) -> None:
    """A commented, quoted or logged key has something before each line, and a cut one has no END."""
    draw = random.Random(len(mark))
    lines = ["".join(draw.choices(_BASE64, k=length)) for length in (64, 64, 64, 22)]
    end = ["-----END RSA PRIVATE KEY-----"] if ends else []
    text = "".join(f"{mark}{line}\n" for line in ["-----BEGIN RSA PRIVATE KEY-----", *lines, *end])
    assert redact_text(f"before\n{text}and words after\n") == f"before\n{mark}{MARK}\nand words after\n"


_BASE64 = string.ascii_letters + string.digits + "+/"
