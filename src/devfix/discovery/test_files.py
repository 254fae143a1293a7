"""Tell test code from the code under test, by paths."""

from __future__ import annotations

import re

from devfix.model import SourceLocation

TEST = re.compile(r"(^|/)(test_[^/]*|[^/]*_test)\.py$")
# As pytest's plugin has it (pytest_gpus/lifted/test_code.py), which also knows the suite's configuration.
TEST_FOLDER = re.compile(
    r"^testing/|(^|[-_./])(tests?|testsuites?|unittests?|integrationtests?)([-_.][^/]*)?/", re.IGNORECASE
)
SCRIPTS = re.compile(r"examples?/")


def is_test_file(path: str) -> bool:
    """Return whether a file is test code, by its name and those of its folders; a doctest is, and a script."""
    is_named = TEST.search(path) or TEST_FOLDER.search(path) or path.rpartition("/")[2] == "conftest.py"
    return bool(is_named) or path.startswith("<doctest ") or SCRIPTS.match(path) is not None


def is_in_test(place: SourceLocation) -> bool:
    """Return whether a place is in test code."""
    return is_test_file(place.path)
