"""Exports: sessions as JSON lines or Parquet, laid out so that DuckDB, ClickHouse and Spark read them as they are.

What it promises: files lie in `host=…/month=…` folders, so that the exports of several machines can be copied into one
place; each session stands in exactly one of them; a further export adds files with what is new, and rewrites a file
only to take out what changed or was forgotten. There is no list that could disagree with the files: they are read.

`rows` says what a row holds, `formats` how rows become a file, `write` which files change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonlstore.core.lazy import lazy

if TYPE_CHECKING:
    from jsonlstore.bridges.exports.write import TableReport, export_tables


__all__ = ["TableReport", "export_tables"]

__getattr__ = lazy(__name__, {"write": "TableReport export_tables"})
