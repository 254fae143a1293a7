"""The files that a report may change."""

from __future__ import annotations


def explain_forbidden(path: str) -> str:
    """Return why a fix may not change the file at this path of a repository; "" if it may."""
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
