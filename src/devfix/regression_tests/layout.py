"""Detect where a repository has its tests, and in which style they are written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

Read = Callable[[str], bytes]
_TEST = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")
_HAS_TESTS = re.compile(rb"^[ \t]*(?:async[ \t]+)?def[ \t]+test|^class[ \t]+\w*Test|TestCase\b", re.MULTILINE)
_SECTIONS = {
    "pytest.ini": rb"^\[pytest\]",
    ".pytest.ini": rb"^\[pytest\]",
    "pytest.toml": rb"^\[pytest\]",
    "tox.ini": rb"^\[pytest\]",
    "setup.cfg": rb"^\[tool:pytest\]",
    "pyproject.toml": rb"^\[tool\.pytest(?:\.ini_options)?\]",
}
_LOOKED_AT = 12  # test files to read
_INSTALLED_BY = ("pyproject.toml", "setup.py", "setup.cfg")


@dataclass(frozen=True)
class TestLayout:
    """A repository's tests: the files, the naming of new ones, and whether functions have type annotations.

    `folder` is the subfolder in which the program under repair runs, "" for the root; all paths start there. `markers`
    are the files by which pytest chooses folders to import from. It may find modules elsewhere too if `finds_others`:
    they may be installed, or it is configured so.
    """

    folder: str
    files: tuple[str, ...]
    suffix: bool
    typed: bool
    markers: frozenset[str] = frozenset()
    finds_others: bool = True

    def place(self, edited: str) -> str:
        """Return the folder for a test of an edited file: the one with the most similar path, else the outermost."""
        parts = set(PurePosixPath(edited).parent.parts)
        counts = Counter(str(PurePosixPath(path).parent) for path in self.files)
        if not counts:
            return f"{self.folder}/tests" if self.folder else "tests"

        def order(folder: str) -> tuple[int, int, int, str]:
            inner = PurePosixPath(folder).parts
            return -len(parts.intersection(inner)), len(inner), -counts[folder], folder

        best = min(counts, key=order)
        return "" if best == "." else best

    def names(self, edited: str) -> Iterator[str]:
        """Yield names for a new test file, the best first."""
        stem = re.sub(r"\W+|_+", "_", PurePosixPath(edited).stem).strip("_").lower() or "program"
        for number in range(1, 30):
            name = f"devices_{stem}" + (f"_{number}" if number > 1 else "")
            yield f"{name}_test.py" if self.suffix else f"test_{name}.py"

    def cannot_import(self, root: str, path: str) -> bool:
        """Return whether a test at `path` surely does not find the modules in the folder `root`, with plain pytest."""
        above = [str(each) for each in PurePosixPath(path).parents]
        files = [path, *(f"{each}/conftest.py".removeprefix("./") for each in above)]
        known = {self._import_folder(each) for each in files if each == path or each in self.markers}
        return not self.finds_others and str(PurePosixPath(root)) not in known

    def _import_folder(self, file: str) -> str:
        """Return the folder that pytest adds to the path for a file: the first one above it that is no package."""
        folder = PurePosixPath(file).parent
        while str(folder / "__init__.py") in self.markers:
            folder = folder.parent
        return str(folder)


def find_home(tracked: Collection[str], folder: str, read: Read) -> TestLayout | None:
    """Return the layout of the tests; None if the repository has no tests that pytest runs."""
    prefix = f"{folder}/" if folder else ""
    files = sorted(path for path in tracked if path.startswith(prefix) and _TEST.search(path))
    shallow = sorted(files, key=lambda path: (path.count("/"), path))[:_LOOKED_AT]
    texts = {path: read(path) for path in shallow}
    found = [path for path, text in texts.items() if _HAS_TESTS.search(text)]
    if not found and not _configurations({prefix, ""}, tracked, read):
        return None
    suffixed = sum(path.endswith("_test.py") for path in found) * 2 > len(found)
    typed = sum(text.count(b"-> None:") for text in texts.values())
    tests = sum(len(re.findall(rb"def test", text)) for text in texts.values())
    kept = tuple(path for path in files if path in found or path not in texts)
    markers = frozenset(path for path in tracked if PurePosixPath(path).name in ("conftest.py", "__init__.py"))
    finds_others = bool(_configurations({prefix, ""}, tracked, read)) or any(
        PurePosixPath(path).name in _INSTALLED_BY for path in tracked
    )
    return TestLayout(folder, kept, suffixed, 2 * typed > tests, markers, finds_others)


def _configurations(folders: Iterable[str], tracked: Collection[str], read: Read) -> list[str]:
    """Return the files with a configuration of pytest."""
    return [
        above + name
        for above in folders
        for name, section in _SECTIONS.items()
        if above + name in tracked and re.search(section, read(above + name), re.MULTILINE)
    ]
