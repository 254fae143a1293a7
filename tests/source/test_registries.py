"""Calls of functions that construct a class out of a table of classes."""

from __future__ import annotations

import pytest

from devfix.rule_testing.fixtures import sources_of
from devfix.sdk import Repository, calls_of_factories

MAKE = "def make(name, **options):\n    return TABLE[name](**options)\n"
REGISTER = "TABLE = {}\ndef register(cls):\n    TABLE[cls.name] = cls\n    return cls\n"
CLASS = "class Point:\n    name = 'point'\n"


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        (f"{REGISTER}{MAKE}@register\n{CLASS}", True),
        (f"{REGISTER.replace('(cls)', '(cls, more=1)')}{MAKE}@register(more=2)\n{CLASS}", True),
        (f"{CLASS}TABLE = {{'point': Point}}\n{MAKE}", True),
        (f"TABLE = {{}}\n{CLASS}TABLE['point'] = Point\n{MAKE}", True),
        (f"{REGISTER}{MAKE}{CLASS}", False),
        (f"{REGISTER}{MAKE}@other\n{CLASS}", False),
        (f"{CLASS}OTHERS = {{'point': Point}}\nTABLE = {{}}\n{MAKE}", False),
        (f"{CLASS}TABLE = {{'point': Point}}\n{MAKE.replace('(**options)', '()')}", False),
    ],
)
def test_calls_that_make_a_class_by_its_name(text: str, is_found: bool) -> None:
    files = {"shapes.py": text, "main.py": "import shapes\npoint = shapes.make('point', size=3)\n"}
    repository = Repository(sources_of(files))
    holder = repository.definition("shapes.Point")
    assert holder is not None
    found = [(file.path, file.code(call)) for file, call in calls_of_factories(repository, holder)]
    assert found == [("main.py", "shapes.make('point', size=3)")] * is_found
