"""The rules that a user asked for: by the command line, by a repository's configuration, and by the user's own.

Rules are code that runs in devfix's own process. So a repository's configuration selects among what is installed, and
never has anything loaded: only the command line and the user's own configuration name folders of local rules.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from devfix.config import Config, read_config
from devfix.registry import Catalog, collect


def user_folder() -> Path:
    """The folder of the user's own configuration, `devfix.toml`."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "devfix"


def user_paths() -> list[Path]:
    """The folders of local rules that the user's own configuration names; relative ones count from its folder."""
    folder = user_folder()
    names = read_config(folder).rule_paths if folder.is_dir() else ()
    return [folder / Path(name).expanduser() for name in names]


def rules_for(config: Config, paths: Iterable[Path] = ()) -> Catalog:
    """The rules for a repository with a configuration, local ones at `paths` among them.

    Raises UserError where the configuration names a rule, a pack or an option that there is not.
    """
    given = [*paths, *user_paths()]
    catalog = collect(given, config.select, config.ignore, config.rules)
    loaded = {path.resolve() for path in given}
    root = config.source.parent if config.source else Path()
    left = [name for name in config.rule_paths if (root / name).resolve() not in loaded]
    notes = [
        f"the local rules in {name} were not loaded, since rules are code: to use them, give --rules {name}"
        for name in left
    ]
    return Catalog(catalog.rules, (*catalog.troubles, *notes))
