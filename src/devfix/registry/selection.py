"""Select the rules for a repository, from the command line and the configurations of the repository and the user.

Rules are code that runs in devfix's own process. So a repository's configuration only selects among installed rules;
folders of local rules are named on the command line or in the user's own configuration.
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
    """Return the folders of local rules in the user's own configuration; relative ones start at its folder."""
    folder = user_folder()
    names = read_config(folder).rule_paths if folder.is_dir() else ()
    return [folder / Path(name).expanduser() for name in names]


def rules_for(config: Config, paths: Iterable[Path] = ()) -> Catalog:
    """Return the rules for a repository with a configuration, including local ones at `paths`.

    Raises UserError if the configuration names a rule, a pack or an option that does not exist.
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
