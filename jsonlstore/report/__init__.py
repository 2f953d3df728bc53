"""Report: what the kept sessions amount to, to look at and in numbers.

What it promises: everything shown was read from the store, nothing is guessed, and what is not known is said to be
unknown. Nothing is written but the one file that was asked for, nothing is fetched, and no port is opened.

The way of a report: `history` reads the sessions asked for once; `statistics` counts them, for the terminal and for
programs. For the page, `view` says what is on it as plain data, `drawings` where the marks of its pictures are,
`aliases` takes names out where that is wanted, and `page` makes one HTML file of it all (`templates/`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.report.aliases import Aliases
    from jsonlstore.report.history import History, RestoreRecord, read_history
    from jsonlstore.report.page import Page, render_page
    from jsonlstore.report.statistics import AGES, Statistics, count_history
    from jsonlstore.report.view import ReportView, make_view


__all__ = [
    "AGES",
    "Aliases",
    "History",
    "Page",
    "ReportView",
    "RestoreRecord",
    "Statistics",
    "count_history",
    "make_view",
    "read_history",
    "render_page",
]

__getattr__ = lazy(
    __name__,
    {
        "aliases": "Aliases",
        "history": "History RestoreRecord read_history",
        "page": "Page render_page",
        "statistics": "AGES Statistics count_history",
        "view": "ReportView make_view",
    },
)
