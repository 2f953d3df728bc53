"""An edit of a JSON5 text changes what it was asked to and nothing else, and can be taken back."""

from __future__ import annotations

import json
import string
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jsonlstore.bridges.openclaw.json5_edit import (
    Add,
    Change,
    Drop,
    DropItem,
    Put,
    applied,
    edit,
    lookup,
    same,
    undo,
)
from jsonlstore.bridges.openclaw.json5_tree import NotEditable, decode

PATHS = ("plugins", "load", "paths")
INSTALL: tuple[Change, ...] = (
    Add(PATHS, "/opt/plugin"),
    Put(("plugins", "entries", "jsonlstore", "enabled"), True),
    Put(("plugins", "entries", "jsonlstore", "config", "command"), ["/usr/bin/jsonlstore"]),
)

# -- JSON5 texts as people and programs write them

_comments = st.sampled_from(
    ["/* a, b: {c} */", '// it\'s "odd" }\n', "/**/", "// \U0001f600\r\n", "/* ]\n, */", "//\n", "// '\n"]
)
_blanks = st.sampled_from(["", "", " ", "\n", "\r\n", "\t", "  ", "\n\n    ", "\u00a0", "\v", "\u2028", "\ufeff"])
_trivia = st.lists(st.one_of(_blanks, _blanks, _comments), max_size=3).map("".join)
_names = st.one_of(
    st.sampled_from(["plugins", "load", "paths", "entries", "jsonlstore", "enabled", "config", "a", "$b", "_"]),
    st.text(alphabet=string.ascii_letters + "_$", min_size=1, max_size=4),
)
_numbers = st.sampled_from(["0", "-1", "+1", ".5", "5.", "0x1F", "1e3", "Infinity", "-Infinity", "NaN", "null", "true"])


@st.composite
def _strings(draw: st.DrawFn) -> str:
    quote = draw(st.sampled_from("\"'"))
    parts = st.sampled_from(
        ["a", "{", "}", "[", ",", ":", "//", "/*", "\\\\", "\\n", "\\'", '\\"', "\\\n", "\\u0041", "é", "$"]
    )
    other = "'" if quote == '"' else '"'
    return quote + "".join(draw(st.lists(st.one_of(parts, st.just(other)), max_size=6))) + quote


@st.composite
def _keys(draw: st.DrawFn) -> str:
    name = draw(_names)
    return draw(st.sampled_from([name, f'"{name}"', f"'{name}'"]))


def _joined(draw: st.DrawFn, parts: list[str], brackets: str) -> str:
    text = brackets[0] + draw(_trivia)
    for number, part in enumerate(parts):
        text += part + draw(_trivia)
        if number < len(parts) - 1 or draw(st.booleans()):
            text += "," + draw(_trivia)
    return text + brackets[1]


@st.composite
def _arrays(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    return _joined(draw, draw(st.lists(inner, max_size=3)), "[]")


@st.composite
def _objects(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    keys = draw(st.lists(_keys(), max_size=4, unique_by=lambda key: key.strip("\"'")))
    members = [key + draw(_trivia) + ":" + draw(_trivia) + draw(inner) for key in keys]
    return _joined(draw, members, "{}")


_values = st.recursive(
    st.one_of(_numbers, _strings()), lambda inner: st.one_of(_arrays(inner), _objects(inner)), max_leaves=6
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    bom = draw(st.sampled_from(["", "\ufeff"]))
    return bom + draw(_trivia) + draw(_objects(_values)) + draw(_trivia)


@st.composite
def configs(draw: st.DrawFn) -> str:
    """A settings file that already has something where ours goes."""
    shape: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {"gateway": st.just({"mode": "local"})},
            optional={
                "plugins": st.fixed_dictionaries(
                    {},
                    optional={
                        "load": st.fixed_dictionaries({}, optional={"paths": st.lists(st.sampled_from("abc"))}),
                        "entries": st.fixed_dictionaries(
                            {},
                            optional={
                                "other": st.just({"enabled": False}),
                                "jsonlstore": st.just({"config": {"x": 1}}),
                            },
                        ),
                        "allow": st.lists(st.sampled_from("xyz"), max_size=2),
                    },
                ),
                "meta": st.just({}),
            },
        )
    )
    return json.dumps(shape, indent=draw(st.sampled_from([None, 2, 4, "\t"])))


def _intended(text: str, changes: tuple[Change, ...]) -> Any:
    value = decode(text)
    for change in changes:
        value = applied(value, change)
    return value


@given(st.one_of(documents(), configs()))
@example('{"plugins": {"load": {"paths": []}}} // end')
@example("{a: 1, // the last\n}")
@example("{ // nothing yet\n}")
@example("{plugins: {/* none */}}")
@example('{"a": 1,\r\n "b": [2]\r\n}\r\n')
def test_an_edit_reads_as_intended_and_its_undo_is_the_old_text(text: str) -> None:
    """Comments and odd spacing or not: the edit gives the value meant, keeps every old character, and goes back."""
    try:
        wanted = _intended(text, INSTALL)
    except NotEditable:
        with pytest.raises(NotEditable):
            edit(text, INSTALL)
        return
    made = edit(text, INSTALL)
    assert same(decode(made.after), wanted)
    assert undo(made.after, made.splices) == text
    assert edit(made.after, INSTALL).splices == ()
    assert all(splice.old == "" or decode(splice.old) is not None for splice in made.splices)


@given(documents(), st.data())
def test_a_removal_reads_as_intended_and_keeps_every_comment(text: str, data: st.DataObject) -> None:
    keys = sorted(decode(text))
    if not keys:
        return
    change = Drop((data.draw(st.sampled_from(keys)),))
    made = edit(text, [change])
    assert same(decode(made.after), applied(decode(text), change))
    assert undo(made.after, made.splices) == text


@given(configs())
def test_taking_out_what_was_put_in_gives_the_old_value(text: str) -> None:
    """Not by the record of the edit but by name, as when somebody else rewrote the file since."""
    before = decode(text)
    rewritten = json.dumps(decode(edit(text, INSTALL).after), indent=2)
    entry = ("plugins", "entries", "jsonlstore")
    made = ((*entry, "config"), entry, ("plugins", "entries"), PATHS, ("plugins", "load"), ("plugins",))
    drops: list[Change] = [
        DropItem(PATHS, "/opt/plugin"),
        Drop((*entry, "enabled")),
        Drop((*entry, "config", "command")),
        *(Drop(path) for path in made if lookup(before, path) is None),
    ]
    assert same(decode(edit(rewritten, drops).after), before)


PLAIN = """{
  "gateway": {
    "mode": "local"
  },
  "update": {}
}
"""


def test_what_is_added_looks_like_its_neighbours() -> None:
    assert (
        edit(PLAIN, INSTALL).after
        == """{
  "gateway": {
    "mode": "local"
  },
  "update": {},
  "plugins": {
    "load": {
      "paths": [
        "/opt/plugin"
      ]
    },
    "entries": {
      "jsonlstore": {
        "enabled": true,
        "config": {
          "command": [
            "/usr/bin/jsonlstore"
          ]
        }
      }
    }
  }
}
"""
    )


def test_unquoted_keys_comments_tabs_and_trailing_commas_are_kept_up() -> None:
    text = "{\n\t// mine\n\tgateway: { mode: 'local' }, // stays\n\tplugins: {\n\t\tallow: ['x',],\n\t},\n}\n"
    assert edit(text, [Add(("plugins", "allow"), "jsonlstore"), Put(("plugins", "on-top"), True)]).after == (
        "{\n\t// mine\n\tgateway: { mode: 'local' }, // stays\n\tplugins: {\n\t\tallow: ['x', \"jsonlstore\",],\n"
        '\t\t"on-top": true,\n\t},\n}\n'
    )


def test_one_line_stays_one_line() -> None:
    text = '{"gateway":{"mode":"local"}}'
    assert edit(text, [Put(("a", "b"), [1, 2])]).after == '{"gateway":{"mode":"local"}, "a": { "b": [1, 2] }}'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not valid JSON5"),
        ("[]", "does not hold an object"),
        ("{", "not valid JSON5"),
        ('{"plugins": {}, "plugins": {}}', "stands twice"),
        ('{"plugins": {"$include": "./plugins.json5"}}', "takes its content from another file"),
        ('{"$include": ["./base.json5"]}', "takes its content from another file"),
        ('{"plugins": []}', "not an object"),
        ('{"plugins": {"load": {"paths": "/x"}}}', "list"),
        ('{"plugins": {"entries": {"jsonlstore": true}}}', "not an object"),
        ('{"a":' + "[" * 300 + "]" * 300 + "}", "nesting"),
    ],
)
def test_what_it_does_not_understand_it_refuses(text: str, why: str) -> None:
    with pytest.raises(NotEditable, match=why):
        edit(text, INSTALL)


def test_an_include_elsewhere_is_none_of_our_business() -> None:
    text = '{"agents": {"$include": "./agents.json5"}}'
    assert lookup(decode(edit(text, INSTALL).after), PATHS) == ["/opt/plugin"]


@given(st.text(max_size=40))
def test_any_text_at_all_is_either_edited_or_refused(text: str) -> None:
    try:
        made = edit(text, INSTALL)
    except NotEditable:
        return
    assert undo(made.after, made.splices) == text
