"""The README's picture: `jsonlstore demo` run for real at a fixed time, drawn as a terminal in SVG.

`python tools/demo_picture.py` writes docs/pictures/demo.svg; a test compares it with the demo of today.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import escape
from pathlib import Path

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "demo.svg"
NOW = "2026-11-16T06:00:00Z"
COLUMNS = 80
LAST_LINE = "</session-continuity>"  # what follows on a terminal explains the scores

_LINE, _WIDTH, _TOP, _LEFT = 17, 8.1, 46, 18  # of one line and one character of the 13.5 pixel font, in pixels
_COLOURS = {"1": "bold", "2": "dim", "31": "red", "32": "green", "33": "yellow", "36": "cyan"}
_STYLE = """\
.page { fill: #16181d } .bar { fill: #23262d } .dot { fill: #4a4f5a }
text { font: 13.5px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d5d8de; white-space: pre }
.bold { font-weight: 700; fill: #fff } .dim { fill: #8b909c } .prompt { fill: #7fc97f }
.red { fill: #ff7b72 } .green { fill: #7fc97f } .yellow { fill: #e3b341 } .cyan { fill: #76c7d6 }
.block { fill: #1d2330 } .given { fill: #a9c7ff }"""


def demo_lines() -> list[str]:
    """What the demo prints on a terminal of 80 columns, styles included, up to the end of what the agent is given."""
    env = {**os.environ, "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1", "TZ": "UTC"}
    env.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "jsonlstore", "demo", "--now", NOW]
    printed = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    lines = printed.splitlines()
    return lines[: lines.index(LAST_LINE) + 1]


def drawn(lines: list[str]) -> str:
    """The lines as an SVG document."""
    shown = ["\x1b[32m$\x1b[0m jsonlstore demo", *lines]
    height = _TOP + _LINE * len(shown) + 14
    width = round(_LEFT * 2 + _WIDTH * COLUMNS)
    start = next(place for place, line in enumerate(shown) if line.startswith("<session-continuity"))
    top, tall = _TOP + _LINE * (start - 1) + 5, _LINE * (len(shown) - start) + 4
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="A terminal">',
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{width}" height="{height}" rx="8"/>',
        f'<path class="bar" d="M0 8a8 8 0 0 1 8-8h{width - 16}a8 8 0 0 1 8 8v20H0z"/>',
        *(f'<circle class="dot" cx="{x}" cy="14" r="5"/>' for x in (18, 36, 54)),
        f'<rect class="block" x="8" y="{top}" width="{width - 16}" height="{tall}" rx="4"/>',
        *(_text(line, place, given=place >= start) for place, line in enumerate(shown)),
        "</svg>\n",
    ]
    return "\n".join(parts)


def written_on(picture: str) -> list[str]:
    """The lines of text on a picture, as they were printed."""
    from html import unescape

    rows = re.findall(r"<text [^>]*>(.*?)</text>", picture)
    return [unescape(re.sub(r"<[^>]+>", "", row)) for row in rows][1:]


def _text(line: str, place: int, *, given: bool) -> str:
    spans = []
    style = "given" if given else ""
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if code:
            style = _COLOURS.get(code[1], "given" if given else "")
        elif part:
            spans.append(f'<tspan class="{style}">{escape(part)}</tspan>' if style else escape(part))
    return f'<text x="{_LEFT}" y="{_TOP + _LINE * place}" xml:space="preserve">{"".join(spans)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(drawn(demo_lines()))
    print(f"wrote {PICTURE}")
