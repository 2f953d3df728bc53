"""The report in a real browser: it loads, finds, filters, opens, asks for nothing, and takes no text for markup."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.report.pages import NOW, history_of, made_up, page_of
from tests.report.test_page import PIECES, history_with

if TYPE_CHECKING:
    from tests.report.browser import Browser

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
NAMELESS = """
(() => [...document.querySelectorAll("button, input, select, a, svg[role=img]")].filter((one) =>
  !(one.textContent.trim() || one.getAttribute("aria-label")
    || (one.labels && [...one.labels].some((label) => label.textContent.trim()))))
  .map((one) => one.outerHTML.slice(0, 80)))()
"""
CONTRAST = """
(() => {
  const style = getComputedStyle(document.documentElement);
  const channel = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const light = (name) => {
    const pairs = style.getPropertyValue(name).trim().slice(1).match(/../g);
    const [r, g, b] = pairs.map((two) => channel(parseInt(two, 16) / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const grounds = ["--paper", "--panel", "--hover"];
  return ["--ink", "--dim", "--accent", "--warm", "--bad"].flatMap((text) => grounds.map((ground) => {
    const [a, b] = [light(text), light(ground)].sort((one, other) => other - one);
    return (a + 0.05) / (b + 0.05);
  }));
})()
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty made-up sessions, and one that is different from them."""
    root = tmp_path_factory.mktemp("report")
    store, clock = made_up(root / "openclaw", 60)
    clock.moment = NOW.replace(day=12)
    store.start("the-odd-one", channel="smoke-signals", agent_id="owl")
    clock.advance(minutes=95)
    done = {"id": "n", "type": "decision", "content": "Paint the zeppelin green.", "confidence": 0.9}
    store.end(
        "the-odd-one",
        {"active_projects": ["zeppelin"], "hot_topics": ["rigging"], "notes": [done], "next_step": "buy paint"},
        reason="new",
    )
    path = root / "report.html"
    path.write_bytes(page_of(history_of(store)))
    return path


def ids(browser: Browser) -> list[str]:
    """The sessions in the table, as the rows know them."""
    found: list[str] = browser.run(
        "(() => { const rows = JSON.parse(document.getElementById('rows').textContent);"
        " return [...document.querySelectorAll('#table tbody tr')].map((line) => rows[line.dataset.at].id); })()"
    )
    return found


def asked_for(browser: Browser) -> list[str]:
    """Requests but for the file itself; a date field's icon is the browser's own."""
    return [url for url in browser.requests if not url.startswith(("file:", "data:image/svg+xml"))]


def test_it_loads_without_a_complaint_and_asks_for_nothing(browser: Browser, page: Path) -> None:
    """No error, no warning, no request beyond the file; the counts are those of the store."""
    browser.open(page)
    assert browser.complaints == []
    assert asked_for(browser) == []
    assert browser.run("document.getElementById('count').textContent") == "61 sessions"
    assert len(ids(browser)) == 61
    assert browser.run("document.querySelectorAll('#timeline rect[data-row]').length") == 61


def test_search_finds_what_only_the_details_say(browser: Browser, page: Path) -> None:
    """A word of a decision finds its session at once, in any case; two words must both be there."""
    browser.open(page)
    browser.type("#search", "ZEPPELIN paint")
    assert ids(browser) == ["the-odd-one"]
    assert browser.run("document.getElementById('count').textContent") == "1 of 61 sessions"
    assert browser.run("document.querySelectorAll('#timeline rect[data-row]:not(.out)').length") == 1
    browser.type("#search", "zeppelin hamlib")
    assert ids(browser) == []
    browser.run("document.querySelector('#filters').reset()")
    browser.wait("document.querySelectorAll('#table tbody tr').length === 61")


def test_filters_filter_and_headings_sort(browser: Browser, page: Path) -> None:
    """By project, channel, day and open tasks; a heading sorts one way, then the other."""
    browser.open(page)
    rows = json.loads(browser.run("document.getElementById('rows').textContent"))
    browser.type("#project", "zeppelin")
    assert ids(browser) == ["the-odd-one"]
    browser.type("#project", "")
    browser.type("#channel", "cli")
    assert sorted(ids(browser)) == sorted(row["id"] for row in rows if row["channel"] == "cli")
    browser.type("#channel", "")
    browser.run("document.getElementById('open-tasks').click()")
    assert sorted(ids(browser)) == sorted(row["id"] for row in rows if row.get("tasks"))
    browser.run("document.getElementById('open-tasks').click()")
    day = rows[7]["at"][:10]
    browser.run(
        f"document.querySelector('[data-day=\"{day}\"]').dispatchEvent(new MouseEvent('click', {{bubbles: true}}))"
    )
    assert sorted(ids(browser)) == sorted(row["id"] for row in rows if row["at"].startswith(day))
    browser.run("document.querySelector('#filters').reset()")
    browser.wait("document.querySelectorAll('#table tbody tr').length === 61")
    longest = sorted((row for row in rows if "min" in row), key=lambda row: -row["min"])
    browser.run("document.querySelector('[data-sort=min]').click()")
    assert ids(browser)[0] == longest[0]["id"] == "the-odd-one"
    browser.run("document.querySelector('[data-sort=min]').click()")
    assert ids(browser)[-1] == "the-odd-one"
    assert (
        browser.run("document.querySelector('[data-sort=min]').parentElement.getAttribute('aria-sort')") == "ascending"
    )


def test_a_session_opens_with_its_state_chain_and_preamble(browser: Browser, page: Path) -> None:
    """By key and by click; what is shown is what the store says."""
    browser.open(page)
    browser.key("/")
    assert browser.run("document.activeElement.id") == "search"
    browser.type("#search", "zeppelin")
    browser.key("Escape")
    browser.key("j")
    browser.key("Enter")
    browser.wait("document.getElementById('panel').open")
    text = browser.run("document.getElementById('part').innerText")
    assert "Paint the zeppelin green." in text
    assert "buy paint" in text
    assert browser.run("location.hash") == "#session=the-odd-one"
    browser.key("Escape")
    browser.wait("!document.getElementById('panel').open")
    browser.run("document.querySelector('#restores [data-row]').click()")
    assert "ACTIVE PROJECTS:" in browser.run("document.getElementById('part').innerText")
    browser.run("document.getElementById('tab-chain').click()")
    links = browser.run("document.querySelectorAll('#part .chain li').length")
    assert links >= 2
    here = browser.run("document.getElementById('panel-h').textContent")
    browser.run("document.querySelector('#part .chain button').click()")
    assert browser.run("document.getElementById('panel-h').textContent") != here
    assert browser.complaints == []


def test_hostile_texts_are_shown_as_texts(browser: Browser, tmp_path: Path) -> None:
    """Markup, scripts and templates in every field run nowhere and are there to be read."""
    text = "".join(piece for piece in PIECES if piece not in ("\x00", "\r\n", "\u2028"))
    path = tmp_path / "hostile.html"
    path.write_bytes(page_of(history_with(text)))
    browser.open(path)
    browser.run("document.querySelector('#table tbody tr').click()")
    browser.wait("document.getElementById('panel').open")
    shown = ""
    for tab in ("state", "chain", "preamble"):
        browser.run(f"document.getElementById('tab-{tab}').click()")
        shown += browser.run("document.getElementById('part').textContent")
    assert shown.count(text) >= 12
    assert text in browser.run("document.querySelector('#table tbody').textContent")
    assert text in browser.run("document.getElementById('tasks').textContent")
    assert text in browser.run("document.getElementById('decisions').textContent")
    assert browser.run("typeof window.hit") == "undefined"
    assert browser.run("document.querySelectorAll('img, iframe, plaintext, object, embed').length") == 0
    assert browser.complaints == []
    assert asked_for(browser) == []


def test_the_policy_stops_what_gets_in_all_the_same(browser: Browser, page: Path) -> None:
    """Put into the page by force, a script, a handler and a picture do nothing: the policy is a second wall."""
    browser.open(page)
    browser.run(
        "(() => { const script = document.createElement('script'); script.textContent = 'window.hit = 1';"
        " document.body.append(script); const box = document.createElement('div');"
        " box.innerHTML = '<img src=x.png onerror=hit()>'; document.body.append(box); })()"
    )
    refused = browser.run("fetch('https://example.org/').then(() => 'sent', () => 'refused')")
    assert refused == "refused"
    assert browser.run("typeof window.hit") == "undefined"
    said = "\n".join(browser.complaints)
    for what in ("inline script", "inline event handler", "Loading the image", "Connecting to"):
        assert what in said
    assert asked_for(browser) == []


def test_it_can_be_read_by_everybody(browser: Browser, page: Path) -> None:
    """Everything one can press has a name, texts have contrast in both themes, and paper gets every row."""
    for dark in (False, True):
        browser.open(page, dark=dark)
        assert browser.run(NAMELESS) == []
        assert min(browser.run(CONTRAST)) >= 4.5
    browser.run("document.getElementById('theme').click()")
    assert browser.run("document.documentElement.dataset.theme") == "light"
    assert browser.run("document.querySelectorAll('h1').length") == 1
    assert browser.run("[...document.querySelectorAll('th')].every((head) => head.scope)") is True
    printed = browser.call("Page.printToPDF", printBackground=True)
    assert len(printed["data"]) > 10_000
    browser.open(page, width=390, height=800)
    assert browser.run("document.documentElement.scrollWidth") <= 390


def test_pictures_for_the_docs(browser: Browser, page: Path, tmp_path: Path) -> None:
    """The pictures in the docs are taken here; with `JSONLSTORE_PICTURES=1` they replace those that are there."""
    target = PICTURES if os.environ.get("JSONLSTORE_PICTURES") else tmp_path
    target.mkdir(exist_ok=True)
    browser.open(page, width=1240, height=800)
    (target / "report-light.webp").write_bytes(browser.picture())
    browser.run(
        "document.documentElement.style.scrollBehavior = 'auto'; document.getElementById('tasks').scrollIntoView()"
    )
    (target / "report-lists.webp").write_bytes(browser.picture())
    browser.open(page, width=1240, height=800, dark=True)
    browser.type("#search", "radio")
    browser.run(
        "document.documentElement.style.scrollBehavior = 'auto'; document.getElementById('sessions').scrollIntoView()"
    )
    browser.run("document.querySelector('#table tbody tr').click()")
    browser.wait("document.getElementById('part').innerText.includes('Next step')")
    (target / "report-dark.webp").write_bytes(browser.picture())
    names = {path.name for path in target.glob("report-*.webp")}
    assert names == {"report-light.webp", "report-lists.webp", "report-dark.webp"}
    assert all(path.stat().st_size < 120_000 for path in target.glob("report-*.webp"))


@pytest.mark.slow
def test_two_thousand_sessions(browser: Browser, tmp_path: Path, record_property: pytest.RecordProperty) -> None:
    """Below 6 MB with all details, and typing filters them."""
    store, _ = made_up(tmp_path / "openclaw", 2000)
    path = tmp_path / "report.html"
    path.write_bytes(page_of(history_of(store)))
    assert path.stat().st_size < 6_000_000
    browser.open(path)
    assert browser.complaints == []
    assert browser.run("document.getElementById('count').textContent") == "2,000 sessions"
    assert len(ids(browser)) < 400  # the rest is drawn when it is scrolled to
    paint = browser.run("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    typed = browser.run(
        "(() => { const field = document.getElementById('search'); const start = performance.now();"
        " field.value = 'hamlib ledger'; field.dispatchEvent(new Event('input', {bubbles: true}));"
        " return performance.now() - start; })()"
    )
    print(f"\n{path.stat().st_size:,} bytes, first paint after {paint:.0f} ms, typing filters in {typed:.0f} ms")
    assert ids(browser) == []
    browser.type("#search", "tax-2026 ledger")
    assert ids(browser)
