"""What to say where a repository has nothing to run that imports torch."""

from __future__ import annotations

from pathlib import Path

from devfix.dependencies import declared, distribution_for
from devfix.discovery.imports import Imports
from devfix.discovery.project import Project

_SHOWN = 3


def nothing(project: Project, imports: Imports, python: Path) -> str:
    """Return one line: what was looked at, what may be missing for an answer, and what to type."""
    scripts = sorted(
        (path for path in project.tracked if path.endswith(".py")), key=lambda path: (path.count("/"), path)
    )
    if not scripts:
        return f"{project.root}: git knows no Python file here; give the folder of a repository that has some, or --run"
    looked = f"looked at {len(scripts)} Python file{'s' if len(scripts) != 1 else ''} and what they import"
    told = f"{project.root}: found nothing to run that imports torch, itself or through a package that does ({looked})"
    missing = _missing(project, imports)
    if missing:
        told += f"; not installed in {python}, so that nothing is known of them: {missing}"
    guarded = next((path for path in scripts if imports.module(path).guarded), "train.py")
    return f'{told}; say how to run it: --run "python {guarded}"'


def _missing(project: Project, imports: Imports) -> str:
    """Name the imported packages that are not installed, each with the place that declares it; "" for none."""

    def read(path: str) -> bytes | None:
        try:
            return (project.root / path).read_bytes()
        except OSError:
            return None

    known = declared(project.tracked, read)
    names = []
    for name in imports.libraries.missing:
        place = distribution_for(name, known)
        names.append(f"{name} ({place.name} in {place.path}:{place.line})" if place else name)
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
