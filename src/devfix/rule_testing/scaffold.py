"""Start a new rule: a module and a page to fill in."""

from __future__ import annotations

import re
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from devfix.errors import UserError

NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


def start_rule(identifier: str, folder: Path) -> Path:
    """Write the module and the page of a new rule below a folder of packs; return the module's path.

    Raises UserError if the id is invalid, or either file exists.
    """
    pack, _, name = identifier.partition("/")
    if not NAME.fullmatch(pack) or not NAME.fullmatch(name):
        raise UserError(
            f"{identifier}: a rule is called PACK/NAME in small letters, digits and dashes: acme/gate-left-behind"
        )
    module = folder / pack.replace("-", "_") / f"{name.replace('-', '_')}.py"
    for path in (module, module.with_suffix(".md")):
        if path.exists():
            raise UserError(f"{path}: is there already, and is not overwritten; give the rule another name")
    environment = Environment(
        loader=PackageLoader("devfix.rule_testing"), undefined=StrictUndefined, keep_trailing_newline=True
    )
    title = name.replace("-", " ").capitalize() + "."
    class_name = "".join(part.capitalize() for part in name.split("-"))
    module.parent.mkdir(parents=True, exist_ok=True)
    for path in (module, module.with_suffix(".md")):
        template = environment.get_template(f"rule{path.suffix}.jinja")
        path.write_text(template.render(title=title, id=identifier, class_name=class_name), encoding="utf-8")
    return module
