"""Start a new rule, a module and a page to fill in, or a pack that can be installed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from devfix.errors import UserError
from devfix.registry.loading import package_of

NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


def start_rule(identifier: str, folder: Path, case: str = "") -> Path:
    """Write the module and the page of a new rule below a folder of packs; return the module's path.

    `case` is the Markdown of the page's first case. The pack's folder is named as the pack, or as its project has it.
    Raises UserError if the id is invalid, or either file exists.
    """
    pack, name = _parts(identifier)
    package = folder / (package_of(pack, folder) or pack.replace("-", "_"))
    return _write_rule(pack, name, package, case)


def start_pack(identifier: str, folder: Path, case: str = "") -> Path:
    """Write an installable pack with a first rule: a folder PACK-rules with a project; return the module's path.

    `case` is the Markdown of the first case of the rule's page. Raises UserError if the id is invalid, or the folder
    exists.
    """
    pack, name = _parts(identifier)
    root = folder / f"{pack}-rules"
    if root.exists():
        raise UserError(f"{root}: is there already, and is not overwritten; `devfix new-rule {identifier}` adds a rule")
    package = f"{pack.replace('-', '_')}_rules"
    files = {
        "pyproject.toml": root / "pyproject.toml",
        "README.md": root / "README.md",
        "rules.yml": root / ".github" / "workflows" / "rules.yml",
        "__init__.py": root / "src" / package / "__init__.py",
    }
    _write({f"pack/{template}": path for template, path in files.items()}, pack=pack, package=package)
    return _write_rule(pack, name, root / "src" / package, case)


def check_name(identifier: str) -> None:
    """Raise UserError if an id is invalid."""
    _parts(identifier)


def _parts(identifier: str) -> tuple[str, str]:
    pack, _, name = identifier.partition("/")
    if not NAME.fullmatch(pack) or not NAME.fullmatch(name):
        raise UserError(
            f"{identifier}: a rule is called PACK/NAME in small letters, digits and dashes: acme/gate-left-behind"
        )
    return pack, name


def _write_rule(pack: str, name: str, package: Path, case: str) -> Path:
    module = package / f"{name.replace('-', '_')}.py"
    for path in (module, module.with_suffix(".md")):
        if path.exists():
            raise UserError(f"{path}: is there already, and is not overwritten; give the rule another name")
    _write(
        {f"rule{path.suffix}": path for path in (module, module.with_suffix(".md"))},
        title=name.replace("-", " ").capitalize() + ".",
        id=f"{pack}/{name}",
        case=case,
        class_name="".join(part.capitalize() for part in name.split("-")),
    )
    return module


def _write(files: Mapping[str, Path], **values: str) -> None:
    """Write files from the templates of these names."""
    environment = Environment(
        loader=PackageLoader("devfix.rule_testing"), undefined=StrictUndefined, keep_trailing_newline=True
    )
    for name, path in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(environment.get_template(f"{name}.jinja").render(**values), encoding="utf-8")
