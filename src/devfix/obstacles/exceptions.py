"""Parse the exception that ended a program, and those it was raised from, from the output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.model import Run

_EXCEPTION = re.compile(r"^(?:\[rank\d+\]:\s?)?(?:E {2,})?((?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?::\s(.*))?$")
_NAMES = re.compile(r"(Error|Exception|Exit|NotFound|Abort|Missing|Invalid|Warning|Interrupt)\w*$")
_FRAME = re.compile(r'^(?:\[rank\d+\]:\s?)?\s*File "([^"\n]+)", line (\d+)')
_LINKED = re.compile(
    r"^(?:\[rank\d+\]:\s?)?(During handling of the above exception|The above exception was the direct)"
)
_OF_CHILDREN = re.compile(r"(^|\.)(ChildFailedError|ProcessRaisedException|ProcessExitedException)$")
_TEXT = 60_000  # characters at the end of an output that are parsed
_MESSAGE_LINES = 4


@dataclass(frozen=True)
class Ending:
    """An exception, its message, and the files and lines of its traceback, innermost last (owned: "./…")."""

    exception: str
    message: str
    frames: tuple[tuple[str, int], ...] = ()

    @property
    def owned(self) -> tuple[str, int] | None:
        """The innermost line of the repository."""
        own = [frame for frame in self.frames if frame[0].startswith("./")]
        return (own[-1][0][2:], own[-1][1]) if own else None


def endings(run: Run) -> list[Ending]:
    """Return the exception that ended a run and those it was raised from, the last first."""
    failure = run.failure
    texts = [run.stderr, run.stdout]
    if failure is not None and not _OF_CHILDREN.search(failure.exception):
        texts = [failure.traceback, *texts]
    for text in texts:
        found = list(_chain(text[-_TEXT:].splitlines()))
        if found:
            return found
    return []


def _chain(lines: list[str]) -> Iterator[Ending]:
    """Yield the last exception that does not report a child process, then those that it was raised from."""
    frames: list[tuple[str, int]] = []
    found: list[tuple[Ending, bool]] = []
    linked = False
    for number, line in enumerate(lines):
        if match := _FRAME.match(line):
            frames.append((match[1], int(match[2])))
        elif _LINKED.match(line):
            linked = True
        elif (match := _EXCEPTION.match(line)) and _NAMES.search(match[1]):
            more = [text.strip() for text in lines[number + 1 : number + _MESSAGE_LINES]]
            message = " ".join([match[2] or "", *(text for text in more if text and not _FRAME.match(text))])
            if not _OF_CHILDREN.search(match[1]):
                found.append((Ending(match[1], message.strip(), tuple(frames)), linked))
            frames, linked = [], False
    for ending, is_linked in reversed(found):
        yield ending
        if not is_linked:
            return
