"""The folder whose files are a suite's own: that of the project, where pytest's root is a folder of tests alone."""

from __future__ import annotations

from pathlib import Path

import pytest

_OF_PROJECT = ("pyproject.toml", "setup.py", "setup.cfg", ".git")


def project_root(config: pytest.Config) -> Path:
    """Return the project that pytest's root folder belongs to: the folder itself, or one above a folder of tests.

    With a `tests/pytest.ini`, pytest takes `tests` for the root, and the code under test is beside it. Without a
    configuration, pytest has looked above by itself.
    """
    root = config.rootpath
    if config.inipath is None:
        return root
    return next((each for each in (root, *root.parents) if any((each / name).exists() for name in _OF_PROJECT)), root)
