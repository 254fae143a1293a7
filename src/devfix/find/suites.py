"""What a repository has that can be lifted: its tests, and the examples in its docstrings and pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from devfix.errors import UserError

_TEST = re.compile(r"(^|/)(test_[^/]*|[^/]*_test)\.py$")
# As pytest's plugin has it (pytest_gpus/lifted/test_code.py), which also knows the suite's configuration.
_TEST_FOLDER = re.compile(r"(^|[-_./])(tests?|testsuites?|unittests?|integrationtests?)([-_.][^/]*)?/", re.IGNORECASE)
_PROMPT, _TORCH = b">>> ", b"torch"
_PAGES = (".md", ".rst", ".txt")


@dataclass(frozen=True)
class Suite:
    """Arguments of one pytest run; `name` is what people call it."""

    name: str
    arguments: tuple[str, ...]

    @property
    def is_examples(self) -> bool:
        """Whether it is made of docstrings."""
        return "--doctest-modules" in self.arguments


def suites(
    tracked: Sequence[str], content: Callable[[str], bytes], below: str, select: Sequence[str] = ()
) -> list[Suite]:
    """Return the runs for the files of a repository below a folder ("" for all), tests first.

    `select` are globs of tests: what lies in no folder that one of them names is not even collected. Raises UserError
    where there is nothing that could be run.
    """
    places = _places(tracked, select) or ([below] if below else [])
    files = sorted(path for path in tracked if not places or any(_is_below(path, place) for place in places))
    found = []
    if tests := [path for path in files if _TEST.search(path)]:
        holding = [place for place in places if any(_is_below(path, place) for path in tests)]
        found.append(Suite("tests", tuple(holding)))
    examples = [path for path in files if _has_examples(path, content)]
    if examples:
        found.append(Suite("examples", ("--doctest-modules", "--doctest-ignore-import-errors", *examples)))
    if not found:
        where = ", ".join(places) or "this repository"
        raise UserError(
            f"{where} has no tests and no docstring examples that use torch; what to run instead: "
            'devfix repair . --run "python your_script.py"'
        )
    return found


def _places(tracked: Sequence[str], select: Sequence[str]) -> list[str]:
    """Return the folders and files that globs begin with; none where one of them could match anything."""
    known = {"/".join(path.split("/")[:end]) for path in tracked for end in range(1, path.count("/") + 2)}
    places = []
    for glob in select:
        path = glob.partition("::")[0].rstrip("/")
        while path and path not in known:
            path = path.rpartition("/")[0]
        if not path:
            return []
        places.append(path)
    return [
        place for place in dict.fromkeys(places) if not any(_is_below(place, each) for each in places if each != place)
    ]


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")


def is_test_file(path: str) -> bool:
    """Say whether a file is test code, by its name and those of its folders; a doctest is."""
    is_named = _TEST.search(path) or _TEST_FOLDER.search(path) or path.rpartition("/")[2] == "conftest.py"
    return bool(is_named) or path.startswith("<doctest ")


def _has_examples(path: str, content: Callable[[str], bytes]) -> bool:
    if not path.endswith(".py") or is_test_file(path):
        return False
    if PurePosixPath(path).name == "setup.py" or path.startswith(("docs/", "examples/")):
        return False
    text = content(path)
    return _PROMPT in text and _TORCH in text
