"""Print what is installed for an interpreter, one line each: run by that interpreter, with nothing but its library.

A run depends on it: on Python, the packages and their versions, the build of torch, and the sources of what is
installed in editable mode or is on PYTHONPATH. The modules of rules are left out, for no program imports them.
The first line is "torch" or "no torch".
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterator

SUFFIXES = (".py", ".so", ".pyd", ".dylib")
SKIPPED = {"__pycache__", "node_modules", "site-packages", "build"}
# devfix is told by the engine, which knows the parts of it that a run depends on.
OWN = ("devfix-", "__editable__.devfix-", "__editable___devfix_")
MOST_FILES = 50_000  # below one folder


def stat_line(path: str) -> str:
    """Return a line that changes whenever a file does."""
    try:
        found = os.stat(path)
    except OSError:
        return f"{path} -"
    return f"{path} {found.st_size} {found.st_mtime_ns}"


def sources(root: str, without: tuple[str, ...]) -> Iterator[str]:
    """Yield a line for each source below a folder, without hidden folders, environments and the packages `without`."""
    left = MOST_FILES
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(
            name
            for name in folders
            if name not in SKIPPED
            and not name.startswith(".")
            and not os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
            and not os.path.join(folder, name).endswith(without)
        )
        for name in sorted(names):
            if name.endswith(SUFFIXES) and left:
                left -= 1
                yield stat_line(os.path.join(folder, name))


def rule_packages(info: str) -> tuple[str, ...]:
    """Return the ends of the folders of the rules that a distribution installs: ("/acme_rules",)."""
    try:
        with open(os.path.join(info, "entry_points.txt"), encoding="utf-8") as file:
            text = file.read()
    except OSError:
        return ()
    _, _, group = text.partition("[devfix.rules]")
    values = [line.partition("=")[2].strip() for line in group.partition("\n[")[0].splitlines() if "=" in line]
    return tuple(os.sep + value.replace(".", os.sep) for value in values)


def editable_root(info: str) -> str:
    """Return the folder of a distribution that is installed in editable mode; "" for others."""
    try:
        with open(os.path.join(info, "direct_url.json"), encoding="utf-8") as file:
            told = json.load(file)
    except (OSError, ValueError):
        return ""
    is_editable = told.get("dir_info", {}).get("editable")
    return str(told.get("url", "")).partition("file://")[2] if is_editable else ""


def packages(folder: str, without: list[str]) -> Iterator[str]:
    """Yield lines for what is installed in a folder of `sys.path`, and the sources that it refers to.

    `without` collects the packages of rules.
    """
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.startswith(OWN):
            continue
        if name.endswith((".dist-info", ".egg-info")):
            without += rule_packages(path)
            yield stat_line(os.path.join(path, "RECORD" if name.endswith(".dist-info") else "PKG-INFO"))
            root = editable_root(path)
            yield from sources(root, tuple(without)) if root else ()
        elif name.endswith((".pth", ".py", ".egg-link")):
            yield stat_line(path)


def torch_build() -> Iterator[str]:
    """Yield lines for the build of torch; "no torch" without one."""
    found = importlib.util.find_spec("torch")
    if found is None or not found.origin:
        yield "no torch"
        return
    yield "torch"
    folder = os.path.dirname(found.origin)
    yield stat_line(os.path.join(folder, "version.py"))
    for place in (folder, os.path.join(folder, "lib")):
        if os.path.isdir(place):
            yield from (stat_line(os.path.join(place, name)) for name in sorted(os.listdir(place)) if ".so" in name)


def main() -> None:
    """Print everything."""
    sys.path[:] = [entry for entry in sys.path if entry]  # the current folder, since this is run by -c
    lines = list(torch_build())
    lines += [sys.version, os.path.realpath(sys.executable)]
    library = os.path.dirname(os.__file__)
    without: list[str] = []
    for entry in sys.path:
        if not os.path.isdir(entry):
            lines.append(stat_line(entry))
        elif entry.endswith(("site-packages", "dist-packages")):
            lines += packages(entry, without)
        elif not entry.startswith(library) and not os.path.isdir(os.path.join(entry, "devfix", "probe")):
            lines += sources(entry, tuple(without))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
