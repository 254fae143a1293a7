"""Determine for each top-level name whether it needs torch. Run by the interpreter of the program, by its path.

Imports the standard library only.
"""

from __future__ import annotations

import importlib.metadata as metadata
import importlib.util
import json
import os
import re
import sys
from collections.abc import Iterator

_NAME = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
_IMPORT = re.compile(rb"^[ \t]*(?:import|from)[ \t]+torch\b", re.MULTILINE)
_FILES, _BYTES = 150, 200_000  # limits: files of a package, bytes of a file
# In libraries for torch at least a third of the files import it; in those with optional support (scipy, scikit-learn,
# datasets), one in fifty.
_SHARE, _SHARE_OF_OPTION = 0.25, 0.1
_SEVERAL = 2  # distributions of one name; more of them share a namespace, and are unrelated


def uses(names: list[str]) -> dict[str, str]:
    """Return for each name "torch", "other" or "missing": whether what is installed under it needs torch."""
    needing, optional = _needing()
    owners: dict[str, list[str]] = {}
    for name, distributions in _packages().items():
        owners[name] = sorted({_normal(each) for each in distributions})
    return {name: _use(name, owners.get(name, [_normal(name)]), needing, optional) for name in names}


def _use(name: str, owners: list[str], needing: set[str], optional: set[str]) -> str:
    needs = [owner in needing for owner in owners]
    if any(needs) if len(needs) <= _SEVERAL else all(needs):
        return "torch"
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        spec = None
    if spec is None:
        return "missing"
    files = list(_files(list(spec.submodule_search_locations or ()), spec.origin))
    share = sum(map(_imports_torch, files)) / max(len(files), 1)
    enough = _SHARE_OF_OPTION if any(owner in optional for owner in owners) else _SHARE
    return "torch" if share >= enough else "other"


def _needing() -> tuple[set[str], set[str]]:
    """Return the distributions that need torch, directly or through others, and those that have it as an extra."""
    needed_by: dict[str, set[str]] = {}
    optional = set()
    for each in metadata.distributions():
        owner = _normal(each.metadata["Name"] or "")
        for requirement in each.requires or ():
            match = _NAME.match(requirement)
            if match is None:
                continue
            if re.search(r"\bextra\b", requirement.partition(";")[2]):
                if _normal(match[1]) == "torch":
                    optional.add(owner)
            else:
                needed_by.setdefault(_normal(match[1]), set()).add(owner)
    needing, waiting = {"torch"}, ["torch"]
    while waiting:
        for owner in needed_by.get(waiting.pop(), ()):
            if owner not in needing:
                needing.add(owner)
                waiting.append(owner)
    return needing, optional


def _packages() -> dict[str, list[str]]:
    """Return the distributions of each top-level name, including those that Python 3.10 does not find."""
    found = {name: list(owners) for name, owners in metadata.packages_distributions().items()}
    if sys.version_info < (3, 11):
        for each in metadata.distributions():
            if each.read_text("top_level.txt") is None:
                for file in each.files or ():
                    top = file.parts[0].removesuffix(".py")
                    if top.isidentifier():
                        found.setdefault(top, []).append(each.metadata["Name"] or "")
    return found


def _files(folders: list[str], origin: str | None) -> Iterator[str]:
    """Yield the files of a package, or an even sample if there are many."""
    if not folders:
        if origin and origin.endswith(".py"):
            yield origin
        return
    found = []
    for folder in folders[:1]:
        for top, below, names in os.walk(folder):
            below[:] = sorted(name for name in below if name not in ("tests", "test", "__pycache__"))
            found += [os.path.join(top, name) for name in sorted(names) if name.endswith(".py")]
            if len(found) > 50 * _FILES:
                break
    step = max(1, len(found) // _FILES)
    yield from found[::step]


def _imports_torch(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return _IMPORT.search(file.read(_BYTES)) is not None
    except OSError:
        return False


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    # No file of this folder or of the current one may shadow an installed module.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if path and os.path.abspath(path) not in (here, os.getcwd())]
    print("devfix-installed", json.dumps(uses(sys.argv[1:])))
