"""Propose regression tests, the smallest first: calls of the fixed code, then the program itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from devfix.model import Call, Edit, Failure, Recipe, Target, is_on_gpu
from devfix.notes import Notes
from devfix.regression_tests.builder import Unwritable
from devfix.regression_tests.program_test import body_of_program
from devfix.regression_tests.render import Body, body_of_call, callee_name
from devfix.regression_tests.shrink import smaller

QUICK = 10.0  # seconds; a program that takes longer is not run in a test
CALLS = 3  # functions on the stack to try, innermost first
_TESTS = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest)\.py$")


@dataclass(frozen=True)
class Candidate:
    """A possible regression test: a description of what it runs, its body, and how many GPUs it needs.

    `starts_program`: it starts the command under repair as a process of its own.
    """

    drives: str
    body: Body
    gpus: int
    starts_program: bool = False


def candidates(failure: Failure, edits: Sequence[Edit], target: Target, reasons: Notes) -> Iterator[Candidate]:
    """Yield tests, the smallest first; why there is none of a kind is added to `reasons`."""
    calls = list(_calls(failure, edits))
    if not calls:
        reasons.add("nothing on the failure's stack can be called from a test")
    for call in calls[:CALLS]:
        words = f"calls `{callee_name(call)}`"
        for each in filter(None, (smaller(call), call)):
            try:
                yield Candidate(words, body_of_call(each, callee_name(call)), _gpus(each, target.world.gpus))
            except Unwritable as error:
                reasons.add(f"`{callee_name(call)}`: {error}")
                break


def program(target: Target, seconds: float, reasons: Notes) -> Iterator[Candidate]:
    """Yield tests that run the failing program, if it is quick and its command works on other machines."""
    if seconds > QUICK:
        reasons.add(f"the program runs for {seconds:.0f} s, which is long for a test")
        return
    for aside in (False, True):
        body = body_of_program(target, aside)
        if body is not None:
            yield Candidate(f"runs {body.about}", body, target.world.gpus, starts_program=True)
        elif not aside:
            reasons.add("the command of the program cannot be written into a test")


def _gpus(call: Call, most: int) -> int:
    """Return how many GPUs the values of a call are on, at least one."""
    values = [each.value for each in call.arguments] + ([call.instance] if call.instance else [])
    devices = {device for value in values for device in _devices(value)}
    found = [int(device.partition(":")[2] or 0) + 1 for device in devices if is_on_gpu(device)]
    return min(max([1, *found]), most)


def _devices(recipe: Recipe) -> Iterator[str]:
    yield from (recipe.device, *(device for _, device in recipe.moves))
    if recipe.kind == "device":
        yield recipe.text
    for part in (*recipe.items, *(value for _, value in recipe.keywords)):
        yield from _devices(part)


def _calls(failure: Failure, edits: Sequence[Edit]) -> Iterator[Call]:
    """Yield the calls on the stack that run the fixed code, innermost first; all calls if none does."""
    inner = [number for number, frame in enumerate(failure.frames) if _holds(frame.place.path, frame.place.line, edits)]
    deepest = max(inner, default=len(failure.frames))
    for call in failure.calls:
        path = failure.frames[call.frame].place.path if call.frame < len(failure.frames) else ""
        if call.frame <= deepest and not _TESTS.search(path):
            yield call


def _holds(path: str, line: int, edits: Sequence[Edit]) -> bool:
    """Return whether a frame's function is the innermost one around an edited line."""
    here = [edit for edit in edits if edit.path == path]
    return any(_function(edit.before, edit.line) == _function(edit.before, line) for edit in here)


def _function(source: bytes, line: int) -> tuple[int, int] | None:
    """Return the first and last line of the innermost function around a line."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    found = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(found, default=None)
