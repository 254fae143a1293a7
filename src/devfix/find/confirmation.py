"""Confirm causes: run the first test of each alone in a fresh process, two processes at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from devfix.discovery.test_files import is_in_test
from devfix.execution.slots import Speculation
from devfix.find.causes import HANDLED, Explanation, confirm_cause, confirmed_silent
from devfix.find.passes import PassResult, SuiteRunner
from devfix.find.records import Cause
from devfix.find.results import Served, SilentFinding
from devfix.find.suites import Suite
from devfix.model import Failure, World

ALONE = 300.0  # seconds for one test in a fresh process
AT_ONCE = 2  # processes; a test that fails otherwise beside another one is run again by itself


@dataclass(frozen=True)
class CauseRun:
    """The run that confirms a cause: its suite, and the world in which its first test shows it."""

    cause: Cause
    suite: Suite
    world: World


class Confirmation:
    """Confirms causes, two at once, `left` being the seconds that are left for all.

    `explain` diagnoses a failure. Each result is given to `keep` with the number of its cause, as soon as it is known.
    """

    def __init__(
        self,
        runner: SuiteRunner,
        explain: Callable[[Failure], Explanation],
        left: Callable[[], float],
        keep: Callable[[int, Cause], None],
    ) -> None:
        self._runner, self._explain, self._left, self._keep = runner, explain, left, keep
        self._interrupt = Speculation()

    def run(self, asked: Sequence[CauseRun], title: str) -> bool:
        """Confirm causes; return whether the time sufficed for all. Raises KeyboardInterrupt if interrupted."""
        doubtful, is_whole = list[int](), True
        for number, again in self._at_once(asked, title):
            if again is None:
                is_whole = False
                continue
            self._keep(number, again)
            if not again.confirmed:
                doubtful.append(number)
        if len(asked) > 1:
            for number in doubtful:
                again = self._again(asked[number], title)
                is_whole = is_whole and again is not None
                if again is not None:
                    self._keep(number, again)
        return is_whole

    def _at_once(self, asked: Sequence[CauseRun], title: str) -> Iterator[tuple[int, Cause | None]]:
        """Yield the results of runs of which two take place at once, in the order of their causes.

        All end when this thread is interrupted.
        """
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            results: list[Future[Cause | None]] = [pool.submit(self._again, each, title) for each in asked]
            for number, result in enumerate(results):
                yield number, result.result()
        except BaseException:
            self._interrupt.cancelled.set()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def _again(self, asked: CauseRun, title: str) -> Cause | None:
        """Return a cause with the result of its first test alone; None if the time did not suffice."""
        cause, test = asked.cause, asked.cause.tests[0]
        seconds = min(self._left(), ALONE)
        if seconds <= 0:
            return None
        suite, options = _alone(asked.suite, test), cause.exact_options
        seconds = max(seconds, 1.0)
        done = self._runner.run(suite, asked.world, seconds, (), (test,), title, options, self._interrupt, fresh=True)
        if done.is_interrupted:
            raise KeyboardInterrupt
        if done.is_cut and self._left() <= 0:
            return None
        return self._judge(cause, test, done)

    def _judge(self, cause: Cause, test: str, done: PassResult) -> Cause:
        failure = done.failures.get(test)
        if not cause.is_silent:
            caught = [each for name, each in done.handled if name == test] if cause.kind == HANDLED else []
            return confirm_cause(cause, [*filter(None, [failure]), *caught], is_in_test)
        shown: list[SilentFinding | Served] = [*(each for _, each in done.silent), *done.served.values()]
        return confirmed_silent(cause, shown, failure, Explanation() if failure is None else self._explain(failure))


def _alone(suite: Suite, test: str) -> Suite:
    """Return the run of one test of a suite, of which only its file is collected."""
    options = tuple(word for word in suite.arguments if word.startswith("-"))
    return replace(suite, arguments=(*options, test.partition("::")[0]))
