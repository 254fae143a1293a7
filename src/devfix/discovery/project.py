"""The files and the console scripts of a project."""

from __future__ import annotations

import configparser
import re
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Project:
    """A folder, the tracked files in it, and the console scripts that it declares."""

    def __init__(self, root: Path, tracked: frozenset[str]) -> None:
        """Initialize with the folder that commands run in and the tracked paths below it."""
        self.root, self.tracked = root, tracked

    @cached_property
    def targets(self) -> dict[str, str]:
        """The console scripts of pyproject.toml and setup.cfg: name -> "module:function"."""
        return {**self._setup_cfg(), **self._pyproject()}

    @cached_property
    def scripts(self) -> dict[str, str]:
        """Python code that does what each console script does, without installing the project."""
        found = {name: _code(name, target, self._is_src(target)) for name, target in self.targets.items()}
        return {name: code for name, code in found.items() if code}

    def _pyproject(self) -> dict[str, str]:
        try:
            data = tomllib.loads(self._text("pyproject.toml"))
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}
        scripts = (_table(data, "project", "scripts"), _table(data, "tool", "poetry", "scripts"))
        return {name: target for each in scripts for name, target in each.items() if isinstance(target, str)}

    def _setup_cfg(self) -> dict[str, str]:
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read_string(self._text("setup.cfg"))
            lines = parser.get("options.entry_points", "console_scripts", fallback="").splitlines()
        except configparser.Error:
            return {}
        pairs = (line.partition("=") for line in lines if "=" in line)
        return {name.strip(): target.strip() for name, _, target in pairs}

    def _text(self, name: str) -> str:
        try:
            return (self.root / name).read_text("utf-8", "replace") if name in self.tracked else ""
        except OSError:
            return ""

    def _is_src(self, target: str) -> bool:
        top = target.partition(":")[0].split(".")[0]
        return bool({f"src/{top}/__init__.py", f"src/{top}.py"} & self.tracked)


def _table(data: Any, *names: str) -> dict[str, Any]:
    for name in names:
        data = data.get(name) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _code(name: str, target: str, below_src: bool) -> str:
    """Return the code of an installed console script in one line; "" if the target is invalid."""
    module, _, function = (part.strip() for part in target.partition("[")[0].partition(":"))
    if not re.fullmatch(r"\w+(\.\w+)*", module) or not re.fullmatch(r"\w+(\.\w+)*", function):
        return ""
    src = "sys.path.insert(0, 'src'); " if below_src else ""
    imported = f"from {module} import {function.split('.')[0]}"
    return f"import sys; {src}sys.argv[0] = {name!r}; {imported}; sys.exit({function}())"
