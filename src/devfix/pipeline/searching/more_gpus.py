"""Run programs that ask for more GPUs in the smallest world that has enough."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from devfix.model import DeviceType, GpusNeeded, Outcome, Run, World
from devfix.pipeline.opening.session import Session
from devfix.report.gpus_needed import listed_reason
from devfix.verification.checks.stdout import last_line

MOST = 8  # GPUs given without --gpus: those of one common machine
# A program's own check: its message names GPUs and a number, or its source reads their count.
_GPUS = re.compile(r"\b(gpus?|cuda devices?|nproc[_-]per[_-]node|world[ _-]size)\b|device_count", re.IGNORECASE)
_NUMBER = re.compile(
    r"\b([2-8]|two|three|four|six|eight|multiple|multi|several|more|enough)\b|device_count", re.IGNORECASE
)
_WORDS = {"two": 2, "three": 3, "four": 4, "six": 6, "eight": 8}


def run_with_enough_gpus(session: Session, run: Run, files: Mapping[str, bytes]) -> Run:
    """Return the run in a world with as many GPUs as the program asks for; `run` itself if it has enough.

    The larger world becomes the session's, and `gpus_needed` records the reason. If the user has set the number of
    GPUs, or eight GPUs are not enough, only `gpus_needed` is set.
    """
    given = run.world.gpus
    if run.world.kind == "cpu" or run.world.device.most == 1:
        return run
    if session.has_fixed_gpus:
        if run.gpus_asked:
            session.gpus_needed = GpusNeeded(given, run.gpus_asked, _because(run), False)
        return run
    wider, tried = run, set[int]()
    while gpus := next((count for count in _likely_counts(session, wider) if count not in tried), 0):
        tried.add(gpus)
        if gpus > MOST:
            break
        world = larger(run.world, gpus, session.gpus_seen)
        session.progress(f"the program asks for {gpus} GPUs: running it on {world.name}")
        next_run = session.run(world, files, True)
        if not next_run.gpus_asked and _says_otherwise(run, next_run):
            session.move_to(world)
            session.gpus_needed = GpusNeeded(given, gpus, _because(run), True)
            return next_run
        wider = next_run if next_run.gpus_asked else wider
    if wider.gpus_asked:
        session.gpus_needed = GpusNeeded(given, wider.gpus_asked, _because(wider), False)
    return run


def larger(world: World, gpus: int, seen: int) -> World:
    """Return a world like `world` with `gpus` GPUs: real ones if the interpreter sees that many."""
    return World("real" if world.kind == "real" and gpus <= seen else "simulated", gpus, device=world.device)


def _likely_counts(session: Session, run: Run) -> Iterator[int]:
    """Yield numbers of GPUs with which the program may run, the likeliest first."""
    if run.gpus_asked:
        yield run.gpus_asked
        return
    if run.outcome is not Outcome.OTHER:
        return
    said = f"{_last_words(run)} {_failing_line(session, run)}"
    if _GPUS.search(said) and _NUMBER.search(said):
        named = (match[0].lower() for match in _NUMBER.finditer(said))
        numbers = {_WORDS.get(word) or (int(word) if word.isdigit() else 0) for word in named}
        yield from sorted(number for number in numbers if number > run.world.gpus)
        yield from (number for number in (2, 4, MOST) if number > run.world.gpus)


def _says_otherwise(before: Run, run: Run) -> bool:
    """Return whether a run in a larger world ends otherwise than by asking for more GPUs."""
    return before.gpus_asked > 0 or (run.outcome, _last_words(run)) != (before.outcome, _last_words(before))


def _last_words(run: Run) -> str:
    return last_line(run)


def _failing_line(session: Session, run: Run) -> str:
    """Return the line of the repository at which the program ended: the check itself, if it has no message."""
    at = run.failure.at if run.failure else None
    content = session.content(at.path) if at is not None and at.owned else None
    lines = content.decode("utf-8", "replace").splitlines() if content else []
    return lines[at.line - 1] if at is not None and 0 < at.line <= len(lines) else ""


def _because(run: Run) -> str:
    """Return the evidence that there are too few GPUs."""
    failure = run.failure
    if failure is not None and failure.kind == "invalid-ordinal":
        where = f" at {failure.at.shown}" if failure.at else ""
        return f"it uses {run.world.device.value}:{max(run.gpus_asked - 1, run.world.gpus)}{where}"
    if reason := listed_reason(run):
        return reason
    if run.gpus_asked:
        library = "NCCL" if run.world.device is DeviceType.CUDA else "XCCL"
        return f"it starts {run.gpus_asked} processes that {library} joins, each of which needs a GPU of its own"
    return f"with fewer it ends with: {last_line(run)}"
