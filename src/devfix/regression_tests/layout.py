"""Detect where a repository has its tests, and in which style they are written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
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


@dataclass(frozen=True)
class TestLayout:
    """A repository's tests: the files, the naming of new ones, and whether functions have type annotations.

    `folder` is the subfolder in which the program under repair runs, "" for the root; all paths start there.
    """

    folder: str
    files: tuple[str, ...]
    suffix: bool
    typed: bool

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


def find_home(tracked: Collection[str], folder: str, read: Read) -> TestLayout | None:
    """Return the layout of the tests; None if the repository has no tests that pytest runs."""
    prefix = f"{folder}/" if folder else ""
    files = sorted(path for path in tracked if path.startswith(prefix) and _TEST.search(path))
    shallow = sorted(files, key=lambda path: (path.count("/"), path))[:_LOOKED_AT]
    texts = {path: read(path) for path in shallow}
    found = [path for path, text in texts.items() if _HAS_TESTS.search(text)]
    if not found and not _is_configured(tracked, prefix, read):
        return None
    suffixed = sum(path.endswith("_test.py") for path in found) * 2 > len(found)
    typed = sum(text.count(b"-> None:") for text in texts.values())
    tests = sum(len(re.findall(rb"def test", text)) for text in texts.values())
    kept = tuple(path for path in files if path in found or path not in texts)
    return TestLayout(folder, kept, suffixed, 2 * typed > tests)


def _is_configured(tracked: Collection[str], prefix: str, read: Read) -> bool:
    for above in {prefix, ""}:
        for name, section in _SECTIONS.items():
            if above + name in tracked and re.search(section, read(above + name), re.MULTILINE):
                return True
    return False
