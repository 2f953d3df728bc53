"""A browser for the tests that look at a page, started once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.report.browser import Browser, NoChromium, find_chromium

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    try:
        program = find_chromium()
    except NoChromium as problem:
        pytest.skip(str(problem))
    started = Browser(program, tmp_path_factory.mktemp("profile"))
    yield started
    started.close()
