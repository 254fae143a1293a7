"""The pytest plugin of rule packs: a page beside a rule's module is a test file, each of its cases a test.

Every pytest in an environment with devfix loads this module, so it imports the rest of devfix on demand.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from devfix.rule_testing.pages.headings import HEADINGS


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the settings of the plugin."""
    parser.addini("devfix_rules", "folders of devfix rules whose pages are run beside the tests", type="paths")
    parser.addini("devfix_rule_pages", "run the pages that lie beside rules (default true)", type="bool", default=True)


def pytest_configure(config: pytest.Config) -> None:
    """Add the folders of `devfix_rules` to what is collected, if nothing else was requested."""
    folders = [str(path) for path in config.getini("devfix_rules")]
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args += [folder for folder in folders if folder not in config.args]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a page of a rule."""
    if file_path.suffix != ".md" or not parent.config.getini("devfix_rule_pages") or not is_rule_page(file_path):
        return None
    from devfix.rule_testing.items import PageFile

    page: PageFile = PageFile.from_parent(parent, path=file_path)
    return page


def is_rule_page(path: Path) -> bool:
    """Return whether a page has a rule beside it: a module that imports `devfix.sdk`, or all headings of a page."""
    module = path.with_suffix(".py")
    if not module.is_file() and not path.with_suffix(".toml").is_file():
        return False
    try:
        tree = ast.parse(module.read_bytes() if module.is_file() else b"")
        headings = {line.removeprefix("## ").strip() for line in path.read_text("utf-8").splitlines()}
    except (OSError, SyntaxError, ValueError):
        return False
    imported = {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    return "devfix.sdk" in imported or headings.issuperset(HEADINGS)


def pytest_runtestloop(session: pytest.Session) -> None:
    """Start the cases; in a worker of pytest-xdist, which runs only some of its tests, each is started when it runs."""
    items = sys.modules.get("devfix.rule_testing.items")
    if items is not None and not session.config.option.collectonly and not hasattr(session.config, "workerinput"):
        items.start_all(session)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what was started."""
    items = sys.modules.get("devfix.rule_testing.items")
    if items is not None:
        items.close(config)
