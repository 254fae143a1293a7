"""Overlay an installed package by a copy with some files changed; the installed files stay unchanged."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from devfix.dependencies.distributions import Distribution


def laid_over(distribution: Distribution, files: Mapping[str, bytes], folder: Path) -> Path:
    """Fill `folder` with the distribution's package: links to the installed files, and `files` (paths below its site).

    Returns the folder, to be put first on PYTHONPATH.
    """
    source = distribution.site / distribution.package
    if source.is_dir():
        for root, folders, names in os.walk(source):
            folders[:] = [name for name in folders if name != "__pycache__"]
            inner = folder / Path(root).relative_to(distribution.site)
            inner.mkdir(parents=True, exist_ok=True)
            for name in names:
                (inner / name).symlink_to(Path(root) / name)
    else:
        (folder / distribution.package).symlink_to(source)
    for name, content in files.items():
        target = folder / name
        target.unlink(missing_ok=True)
        target.write_bytes(content)
    return folder
