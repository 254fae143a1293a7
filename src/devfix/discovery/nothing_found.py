"""The error message for a repository without a command that imports torch."""

from __future__ import annotations

from pathlib import Path

from devfix.discovery.imports import Imports
from devfix.discovery.project import Project

_SHOWN = 3


def describe_nothing_found(project: Project, imports: Imports, python: Path) -> str:
    """Return one line: what was searched, which packages are not installed, and what to type."""
    scripts = sorted(
        (path for path in project.tracked if path.endswith((".py", ".ipynb"))), key=lambda path: (path.count("/"), path)
    )
    if not scripts:
        return f"{project.root}: no tracked Python file; give the folder of a repository that has some, or --run"
    searched = f"searched {len(scripts)} Python file{'s' if len(scripts) != 1 else ''} and their imports"
    message = f"{project.root}: no command found that imports torch, directly or through a package ({searched})"
    missing = _missing(project, imports)
    if missing:
        message += f"; not installed in {python}, and therefore not examined: {missing}"
    guarded = next((path for path in scripts if imports.module(path).guarded), "train.py")
    return f'{message}; give the command: --run "python {guarded}"'


def _missing(project: Project, imports: Imports) -> str:
    """Return the imported packages that are not installed, with the place that declares each."""
    from devfix.dependencies import (
        declared_dependencies,
        distribution_for,
    )  # takes 0.1 s, which most repairs need later

    def read(path: str) -> bytes | None:
        try:
            return (project.root / path).read_bytes()
        except OSError:
            return None

    known = declared_dependencies(project.tracked, read)
    names = []
    for name in imports.libraries.missing:
        place = distribution_for(name, known)
        names.append(f"{name} ({place.name} in {place.path}:{place.line})" if place else name)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
