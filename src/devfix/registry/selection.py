"""Select the rules for a repository, from the command line and the configurations of the repository and the user.

Rules are code that runs in devfix's own process. So a repository's configuration only selects among installed rules;
folders of local rules are named on the command line or in the user's own configuration.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from devfix.config import Config, read_config, user_folder
from devfix.errors import UserError
from devfix.registry import Catalog, collect


def user_paths() -> list[Path]:
    """Return the folders of local rules in the user's own configuration; relative ones start at its folder.

    Raises UserError for one that does not exist.
    """
    folder = user_folder()
    config = read_config(folder) if folder.is_dir() else Config()
    found = [folder / Path(name).expanduser() for name in config.rule_paths]
    for name, path in zip(config.rule_paths, found, strict=True):
        if not path.exists():
            hint = "" if Path(name).expanduser().is_absolute() else f"; a relative path begins at {folder}"
            raise UserError(f"{config.source}: rule-paths: {name} does not exist{hint}")
    return found


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
    return Catalog(catalog.rules, (*catalog.problems, *notes))
