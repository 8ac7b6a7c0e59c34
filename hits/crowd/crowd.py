"""Many workers on a few threads, until there is nothing left to do."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from hits.crowd.browser import OutOfRequestsError, UnreachableError
from hits.crowd.worker import Worker

Say = Callable[[str], None]
PROGRESS_SECONDS = 5.0


class Crowd:
    """Ends when nobody got an answer in for `until_idle` seconds after the last one arrived, with `max_answers`, or by
    `stop`.
    """

    def __init__(
        self, workers: Sequence[Worker], *, until_idle: float, max_answers: int | None, threads: int, say: Say
    ) -> None:
        self.workers = workers
        self.ended = ""
        self.error: Exception | None = None
        self._until_idle = until_idle
        self._max_answers = max_answers
        self._threads = threads
        self._say = say
        self._turn = threading.Condition()
        # (due, order, worker): the order keeps those who are due at once in the order in which they came.
        self._due = [(0.0, number, worker) for number, worker in enumerate(workers)]
        self._order = len(workers)
        self._last_moved = time.monotonic()
        self._moved = 0

    def run(self) -> None:
        """Raises what a worker raised, after the others have finished and all have returned what they hold."""
        threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(self._threads)]
        for thread in threads:
            thread.start()
        try:
            self._watch()
        except KeyboardInterrupt:
            self.stop("stopped by Ctrl-C")
        for thread in threads:
            thread.join()
        for worker in self.workers:
            # Where it cannot be returned, its time runs out.
            with suppress(UnreachableError, OutOfRequestsError):
                worker.put_down()
        if self.error:
            raise self.error

    def stop(self, why: str) -> None:
        with self._turn:
            self.ended = self.ended or why
            self._turn.notify_all()

    @property
    def answers(self) -> int:
        return sum(worker.tally.answers for worker in self.workers)

    def _watch(self) -> None:
        said = time.monotonic()
        while not self.ended:
            with self._turn:
                self._turn.wait(0.2)
            now = time.monotonic()
            if now - self._last_moved > self._until_idle:
                self.stop(f"nothing to do for {self._until_idle:g} seconds")
            if now - said > PROGRESS_SECONDS:
                said = now
                self._say(self._progress())

    def _progress(self) -> str:
        tallies = [worker.tally for worker in self.workers]
        returns, refused, unknown = (
            sum(column) for column in zip(*[(t.returns, t.refused, t.unknown) for t in tallies], strict=True)
        )
        return (
            f"{self.answers} answers, {returns} HITs returned, {refused} not open to who took them, "
            f"{unknown} not in the answer key"
        )

    def _serve(self) -> None:
        while (worker := self._next_worker()) is not None:
            try:
                pause = worker.step()
            except OutOfRequestsError:
                return self.stop("the requests are used up")
            except Exception as error:
                self.error = self.error or error
                return self.stop(f"{worker.person.name} failed")
            self._put_back(worker, pause)

    def _next_worker(self) -> Worker | None:
        with self._turn:
            while not self.ended:
                now = time.monotonic()
                if self._due and self._due[0][0] <= now:
                    return heapq.heappop(self._due)[2]
                self._turn.wait(min(0.5, self._due[0][0] - now) if self._due else 0.5)
        return None

    def _put_back(self, worker: Worker, pause: float) -> None:
        with self._turn:
            now = time.monotonic()
            answers = self.answers
            # On a busy machine it takes them long to sign up.
            moved = answers + sum(bool(one.worker_id) for one in self.workers)
            if moved > self._moved:
                self._moved, self._last_moved = moved, now
            if self._max_answers is not None and answers >= self._max_answers:
                self.ended = self.ended or f"{answers} answers given"
            self._order += 1
            heapq.heappush(self._due, (now + pause, self._order, worker))
            self._turn.notify()
