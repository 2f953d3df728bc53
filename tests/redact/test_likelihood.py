"""A name, a label or a calculation behind a secret's name in a program is left; words as secrets are hidden."""

# ruff: noqa: E501

from __future__ import annotations

import json

import pytest

from jsonlstore.redact import redact_text
from jsonlstore.redact.budget import Steps
from jsonlstore.redact.judging import Link
from jsonlstore.redact.likelihood import Surroundings, traits
from jsonlstore.redact.names import Key
from jsonlstore.redact.rules import weights

LEFT = (
    "func area(frame *Frame) {\n    int span = frame->width;\n    int clipw = span+gap+V_MARGIN;\n    draw(frame, clipw);\n}\n",
    "public:\n    enum Flags {\n        OPEN = 1<<OPEN_BIT,\n        PASSIVE = 1<<PASSIVE_BIT,\n    };\n",
    'function parse() {\n  return [{ "token": "\'orders\'", "value": "orders", "type": 7 }, { "token": "\'limit\'", "value": "limit", "type": 7 }];\n}\n',
    "export function theme({modeStorageKey:c=qL,schemeStorageKey:d=wM,other:e=!1}){return make(c,d,e)}",
)
HIDDEN = (
    "password = {}\n",
    "db_password: {}\nhost: db.example.org\n",
    "DB_PASSWORD={}\n",
    "export API_TOKEN={}\n",
    'const password = "{}";\nfunction open() {{ return login(user, password); }}\n',
    'login(user="bob", password="{}")\n',
    "my password is {}\n",
    "level=info msg=login user=bob password={}\n",
    "Server=db;User Id=sa;Password={};Encrypt=true\n",
)
WORDS = ("lantern", "sunflower", "kitchen7", "monkey", "Orchard", "blue-otter-26")


@pytest.mark.parametrize("text", LEFT)
def test_names_and_calculations_of_programs_come_out_as_they_went_in(text: str) -> None:
    """A value that no rule knows is weighed by its look and its place."""
    assert redact_text(text) == text


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("form", HIDDEN)
def test_a_word_behind_a_secrets_name_is_hidden(form: str, word: str) -> None:
    """In settings, a shell, a log and a chat the name decides, and so does it for a quoted password anywhere."""
    assert word not in redact_text(form.format(word))


@pytest.mark.parametrize("text", LEFT[:1])
def test_a_text_inside_of_a_string_is_read_like_the_text(text: str) -> None:
    """A transcript holds programs as strings of JSON."""
    assert redact_text(json.dumps(text)) == json.dumps(text)


def test_what_is_read_is_bounded() -> None:
    """However long the text is, the same few hundred bytes are looked at."""
    link = Link(Key.SECRET, 5000, 5005, 5005, 5006, Steps(100))
    places = [
        Surroundings(b"x\n" * 2500 + b"token=word\n" + b"y" * size, (5006, 5010), link, "assigned")
        for size in (1000, 9000)
    ]
    assert list(traits(places[0])) == list(traits(places[1]))
    assert max(len(place.before) + len(place.after) for place in places) < 1000


def test_the_file_has_a_weight_for_what_is_common() -> None:
    """What decides stands in the file, not in the code."""
    found = weights()
    assert found["least"] < 0
    assert {"bias", "level 4", "bare, level 3"} & found.keys()
