"""The files that a report may change."""

from __future__ import annotations

from devfix.notebooks.notebook import named_cell


def explain_forbidden(path: str) -> str:
    """Return why a fix may not change the file at this path of a repository; "" if it may."""
    cell = named_cell(path)
    if cell is not None:  # a cell of a notebook, which holds Python
        path = cell[0].removesuffix(".ipynb") + ".py"
    parts = path.split("/")
    if not path.isprintable() or "\\" in path or ":" in path or len(path) > 1000:
        return "not a safe path"
    if path.startswith("/") or any(part in ("", ".", "..") for part in parts):
        return "not inside the repository"
    # Some file systems take `.GITHUB`, `.git.` and `GIT~1` for the same names.
    if any(part.lower().startswith((".git", "git~")) for part in parts):
        return "files below .git or .github, or read by git, are never changed"
    if not path.endswith((".py", ".pyi", ".pyw")):
        return "only Python files are changed"
    return ""
