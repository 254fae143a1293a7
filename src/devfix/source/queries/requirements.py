"""The releases of a package that a repository declares to support."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from devfix.source.sources import Sources

_DECLARING = re.compile(r"(pyproject\.toml|setup\.py|setup\.cfg|Pipfile|environment\.ya?ml|.*requirements.*\.txt)")


def declared_minimum(sources: Sources, package: str) -> tuple[int, ...]:
    """Return the lowest release of a package that a repository declares to support, as numbers; () if none is named.

    >>> from devfix.source import Sources
    >>> lines = {"requirements.txt": b"numpy\\ntorch>=2.1,<3\\n", "notes.txt": b"torch>=1.0\\n"}
    >>> declared_minimum(Sources(lines.get, lambda texts: list(lines)), "torch")
    (2, 1)
    """
    lower = re.compile(rf"(?<![\w.-]){re.escape(package)}(?![\w-])[^\n#,]*?(?:>=|==|~=|\^)\s*(\d+(?:\.\d+)*)")
    texts = (sources.text(path) for path in sources.containing_paths(package) if _declares(path))
    found = [tuple(map(int, match[1].split("."))) for text in texts for match in lower.finditer(text)]
    return min(found, default=())


def _declares(path: str) -> bool:
    return _DECLARING.fullmatch(PurePosixPath(path).name) is not None
