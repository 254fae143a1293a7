"""Which files a report may have changed."""

from __future__ import annotations


def forbidden(path: str) -> str:
    """Say why a fix may not change a file of this path in a repository; "" where it may."""
    parts = path.split("/")
    if not path.isprintable() or "\\" in path or ":" in path or len(path) > 1000:
        return "not a path that can be trusted"
    if path.startswith("/") or any(part in ("", ".", "..") for part in parts):
        return "not inside of the repository"
    # Some file systems take `.GITHUB`, `.git.` and `GIT~1` for the same names.
    if any(part.lower().startswith((".git", "git~")) for part in parts):
        return "what lies under .git or .github, or is read by git, is never changed"
    if not path.endswith((".py", ".pyi", ".pyw")):
        return "only Python files are changed"
    return ""
