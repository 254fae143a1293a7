"""Find the files of rules: modules, TOML files, and their pages."""

from __future__ import annotations

import re
from pathlib import Path

from devfix.errors import RuleError, UserError

SUFFIXES = (".py", ".toml")
_CONFIGURATIONS = ("pyproject.toml", "devfix.toml")
_FIX = re.compile(r"^\s*\[\[\s*fix\s*\]\]", re.MULTILINE)


def rule_files(path: Path) -> list[Path]:
    """Return the files of rules at a path: a module, TOML file or page, a pack's folder, or a folder of packs.

    Raises UserError if there is none.
    """
    if path.suffix in (*SUFFIXES, ".md"):
        if path.suffix in SUFFIXES and path.is_file():
            return [path]
        found = beside(path)
        if found is not None and path.suffix == ".md":
            return [found]
        raise UserError(f"{path}: there is no module of a rule there ({path.with_suffix('.py').name} is missing)")
    if not path.is_dir():
        raise UserError(f"{path}: no such folder, module or page of rules")
    files = files_in(path) + [file for folder in sorted(path.iterdir()) if folder.is_dir() for file in _in_pack(folder)]
    if not files:
        deeper = next(iter(too_deep(path)), None)
        if deeper is not None:
            raise UserError(
                f"{path}: there is no module of a rule here or one folder below; name the folder {deeper.parent}"
            )
        raise UserError(f"{path}: there is no module of a rule in this folder or one folder below it")
    return sorted(files)


def files_in(folder: Path) -> list[Path]:
    """Return the modules of rules in a folder, and the TOML files that declare one."""
    found = [file for file in sorted(folder.iterdir()) if not file.name.startswith("_")]
    return [file for file in found if file.suffix == ".py" or (file.suffix == ".toml" and _declares(file))]


def _in_pack(folder: Path) -> list[Path]:
    return [] if folder.name.startswith("_") else files_in(folder)


def _declares(file: Path) -> bool:
    """Return whether a TOML file is that of a rule: it has a page, or fixes."""
    return file.name not in _CONFIGURATIONS and (is_page(file.with_suffix(".md")) or bool(_FIX.search(_text(file))))


def beside(page: Path) -> Path | None:
    """Return the module or TOML file of which a page is; None if it is missing."""
    found = (page.with_suffix(suffix) for suffix in SUFFIXES)
    return next((each for each in found if each.is_file()), None)


def only_file(file: Path) -> Path:
    """Return the TOML file of a rule. Raises RuleError if a module of the same name lies beside it."""
    if file.with_suffix(".py").is_file():
        raise RuleError(f"{file}: {file.stem}.py is beside it: a rule is a module or a TOML file, remove one")
    return file


def too_deep(path: Path) -> list[Path]:
    """The modules below a folder that look like rules, with a page beside them, and lie deeper than rules are read."""
    if not path.is_dir():
        return []
    files = [file for suffix in SUFFIXES for file in sorted(path.glob(f"*/*/**/*{suffix}"))]
    return [file for file in files if not file.name.startswith("_") and is_page(file.with_suffix(".md"))]


def orphans(path: Path) -> list[Path]:
    """The pages of rules in a folder or one below it that have no module or TOML file beside them."""
    if not path.is_dir():
        return []
    pages = sorted([*path.glob("*.md"), *path.glob("*/*.md")])
    return [page for page in pages if beside(page) is None and is_page(page)]


def is_page(path: Path) -> bool:
    """Return whether a file is the page of a rule."""
    return re.search("^## Cases", _text(path), re.MULTILINE | re.IGNORECASE) is not None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
