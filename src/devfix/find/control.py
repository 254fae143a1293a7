"""Read the control run of a suite on the CPU: why nothing of it, or less than there is, can be lifted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile, takewhile

from devfix.find.passes import OF_PYTEST, PassResult
from devfix.find.results import TestResults
from devfix.find.suites import Suite, SuiteKind

_MISSING = re.compile(r"No module named '([\w.]+)'")
_NEEDS_GPU = re.compile(r"cuda|\bgpus?\b|nvidia|accelerator", re.IGNORECASE)
_LACKS_GPU = re.compile("Found no NVIDIA driver|not compiled with (CUDA|XPU)|No (CUDA GPUs|XPU devices) are available")
_DESELECTED = re.compile(r"\d+ deselected in ")
_RAISED = "E "
_EXCEPTION = re.compile(r"[\w.]+(:|$)")


def notes_of(suite: Suite, control: PassResult) -> Iterator[str]:
    """Yield what keeps tests of a suite from being lifted; missing modules are reported by their names."""
    tests, run = control.tests, control.run
    broken = [reason for reason in tests.collection.values() if not _MISSING.search(reason)]
    if broken:
        count = "1 file" if len(broken) == 1 else f"{len(broken)} files"
        yield f"{count} of the {suite.name} could not be collected: {_most_common(broken)}"
    asking = asking_for_gpus(tests)
    is_lifted = len(asking) == len(tests.results) or bool(tests.of("passed", "skipped"))  # some, or there are none
    if not is_lifted and suite.kind is not SuiteKind.scripts:
        yield f"none of the {suite.name} passes on the CPU: {_most_common(tests.reasons.values())}"
    if asking:
        count = f"{len(asking)} of {len(tests.results)} {suite.name}"
        yield f"{count} ask for a GPU: they failed on the CPU, and were lifted all the same"
    if control.lacks():
        of_all = f"of {tests.collected} {suite.name}" if tests.collected else f"of the {suite.name}"
        yield f"the budget was enough for {len(tests.results)} {of_all}; --budget gives more"
    elif not tests.results and not tests.collection:
        said = _last_said(run.stdout + run.stderr) if run is not None else ""
        if _DESELECTED.match(said):  # as --select or --exclude asks
            return
        yield f"pytest ran none of the {suite.name}" + (f": {said}" if said else "")


def reason_of_end(lifted: PassResult) -> str:
    """Return why pytest ended in a lifted run before all tests had a result."""
    run = lifted.run
    return "" if run is None else run.signal or _last_said(run.stdout + run.stderr) or f"exit code {run.exit_code}"


def needing_gpus(control: TestResults) -> list[str]:
    """Return the tests that there is no GPU for: they were skipped, by the reason that they give, or asked for one."""
    skipped = [test for test in control.of("skipped") if _NEEDS_GPU.search(control.reasons.get(test, ""))]
    return skipped + asking_for_gpus(control)


def asking_for_gpus(control: TestResults) -> list[str]:
    """Return the tests that failed because they ask for a GPU."""
    failed = control.of("failed", "other", "artefact")
    return [test for test in failed if _LACKS_GPU.search(control.reasons.get(test, ""))]


def missing_modules(control: TestResults) -> tuple[str, ...]:
    """Return the modules that tests could not import, sorted; one with dots is of a package that is there."""
    texts = (*control.collection.values(), *control.reasons.values())
    return tuple(sorted({name for text in texts for name in _MISSING.findall(text)}))


def own_modules(missing: Iterable[str], tracked: Iterable[str]) -> Iterator[str]:
    """Yield a note of each missing module that the repository itself has, in a folder that nothing makes importable."""
    paths = list(tracked)
    for name in missing:
        ends = (f"/{name}/__init__.py", f"/{name}.py")
        folder = min((path.removesuffix(end) for path in paths for end in ends if path.endswith(end)), default="")
        if folder and "." not in name:
            yield f"{name} is in {folder}/ of this repository: pip install -e . makes it importable, as does --install"


def _last_said(output: str) -> str:
    """Return what pytest gave up for: the exception of a hook of the suite's, or of a conftest, else the last line."""
    lines = [line for line in output.splitlines() if line.strip()]
    raised = [line.removeprefix(OF_PYTEST).strip() for line in lines if line.startswith(OF_PYTEST)]
    if not raised and lines and lines[-1].startswith(_RAISED):
        return _first_raised(lines)
    return (raised or lines or [""])[-1].strip()


def _first_raised(lines: Sequence[str]) -> str:
    """Return how the message of an exception begins that ends some lines.

    TorchScript goes on with its source, Dynamo with hints; the place of a syntax error comes before.
    """
    raised = [line.removeprefix(_RAISED).strip() for line in takewhile(_is_raised, reversed(lines))][::-1]
    named = list(dropwhile(lambda line: _EXCEPTION.match(line) is None, raised)) or raised[-1:]
    return f"{named[0]} {named[1]}" if named[0].endswith(":") and len(named) > 1 else named[0]


def _is_raised(line: str) -> bool:
    return line.startswith(_RAISED)


def _most_common(reasons: Iterable[str]) -> str:
    """Return the line that most of some reasons end with: of a traceback, the exception."""
    lines = (reason.strip().splitlines() for reason in reasons if reason.strip())
    last = Counter(_first_raised(each) if _is_raised(each[-1]) else each[-1].strip() for each in lines)
    return last.most_common(1)[0][0] if last else "no reason is known"
