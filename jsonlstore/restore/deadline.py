"""A deadline that holds even when the disk hangs: the work runs in a thread, and nothing new begins once time is up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from jsonlstore.core.errors import OverBudget

T = TypeVar("T")


class Budget:
    """So many seconds from now, and a gate that closes when they are over."""

    def __init__(self, seconds: float, *, started: float | None = None) -> None:
        self.started = time.perf_counter() if started is None else started
        self._deadline = self.started + seconds
        self._gate = threading.Lock()
        self._closed = False
        self._news = threading.Condition()
        self._done = False

    def limit(self, seconds: float) -> None:
        """Count `seconds` from the start instead: the settings are known only after they were read."""
        with self._news:
            self._deadline = self.started + seconds
            self._news.notify_all()

    def left(self) -> float:
        """Seconds until the deadline, never negative; what a lock may be waited for."""
        return 0.0 if self._closed else max(0.0, self._deadline - time.perf_counter())

    @property
    def elapsed_ms(self) -> int:
        return int((time.perf_counter() - self.started) * 1000)

    def enter(self, step: str) -> None:
        """Pass the gate before a side effect; raises `OverBudget` once the time is up or the caller has gone."""
        with self._gate:
            if self._closed or self.left() <= 0.0:
                self._closed = True
                raise OverBudget(f"out of time before: {step}")

    def close(self) -> None:
        """Nothing passes the gate from now on."""
        with self._gate:
            self._closed = True

    def run(self, work: Callable[[], T]) -> T:
        """The result of `work`, or `OverBudget` at the deadline, whatever `work` is stuck in by then."""
        outcome: list[T] = []
        failure: list[BaseException] = []

        def body() -> None:
            try:
                outcome.append(work())
            except BaseException as problem:  # noqa: BLE001 - handed to the caller's thread, which raises it
                failure.append(problem)
            with self._news:
                self._done = True
                self._news.notify_all()

        threading.Thread(target=body, name="jsonlstore-restore", daemon=True).start()
        with self._news:
            while not self._done and (left := self._deadline - time.perf_counter()) > 0:
                self._news.wait(left)
            done = self._done
        if not done:
            self.close()
            raise OverBudget(f"not done after {self.elapsed_ms} ms")
        if failure:
            raise failure[0]
        return outcome[0]
