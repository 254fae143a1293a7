"""`--gpus N`, `--world …` and `--lift`, under names that no other plugin and no conftest has taken."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from devfix.pytest_gpus.world import KINDS, Wanted

_MOST = 64
_GPUS = ("--gpus", "--devfix-gpus")
_WORLD = ("--world", "--devfix-world")
_LIFT = ("--lift", "--devfix-lift")
_LIFT_TESTS = "--lift-tests"
_LIFT_TWICE = "--lift-twice"
_LIFT_DEVICE = "--lift-device"
_LIFT_SCRIPTS = "--lift-scripts"
_LIFT_ANY_OUTPUT = "--lift-any-output"
_LIFT_STRICT = "--lift-strict"
_LIFT_STRICT_AT = "--lift-strict-at"
_LIFT_PAST = "--lift-past"
_LIFT_RECORD = "--lift-record"
_REPORT = "--devfix-report"
_OF_VERSIONS = ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning")
LIFT_TESTS = "lift_tests"  # in pytest.ini


def read(args: list[str], taken: frozenset[str]) -> tuple[Wanted | None, list[str]]:
    """Return the world that the arguments ask for, and the arguments without ours; UsageError where one is wrong."""
    reader = argparse.ArgumentParser(add_help=False, allow_abbrev=False, argument_default=None)
    for names, dest in ((_GPUS, "gpus"), (_WORLD, "world")):
        if free := _free(names, taken):
            reader.add_argument(*free, dest=dest, nargs="?", const="")
    if free := _free(_LIFT, taken):
        reader.add_argument(*free, dest="lift", action="store_true")
    told, rest = reader.parse_known_args(args)
    return parse_world(getattr(told, "gpus", None), getattr(told, "world", None), getattr(told, "lift", None)), rest


def parse_world(gpus: str | None, world: str | None, lift: bool | None) -> Wanted | None:
    """Return the world that the options ask for; None where none is given."""
    if gpus is None and world is None and not lift:
        return None
    kind = next((each for each in KINDS if each == ("auto" if world is None else world)), None)
    if kind is None:
        raise pytest.UsageError(f"--world {world}: there is no such world; choose auto, real, simulated, mps or xpu")
    if gpus is not None and not (gpus.isascii() and gpus.isdigit() and int(gpus) <= _MOST):
        raise pytest.UsageError(f"--gpus {gpus}: say how many GPUs the tests see, a number from 0 to {_MOST}")
    if lift and gpus == "0":
        raise pytest.UsageError("--lift --gpus 0: a lifted run puts tensors on a GPU; say --gpus 1 or --gpus 2")
    return Wanted(kind, 1 if gpus is None else int(gpus), lift=bool(lift))


def add_settings(parser: pytest.Parser) -> None:
    """Add what is read before any conftest: the others wait until their names are known to be free."""
    group = parser.getgroup("devfix", "GPUs, real or simulated (devfix)")
    text = "with --lift: files that are test code too, a glob or a folder; may be given more than once"
    group.addoption(_LIFT_TESTS, dest="devfix_lift_tests", metavar="GLOB", action="append", default=[], help=text)
    text = "with --lift and two GPUs: run each test on cuda:0 first, to find caches that serve another device"
    group.addoption(_LIFT_TWICE, dest="devfix_lift_twice", action="store_true", default=False, help=text)
    text = "with --lift: give calls of the code under test the GPU as the `device` that test code leaves out"
    group.addoption(_LIFT_DEVICE, dest="devfix_lift_device", action="store_true", default=False, help=text)
    text = "with --lift: run the files that are named as scripts, each as one test"
    group.addoption(_LIFT_SCRIPTS, dest="devfix_lift_scripts", action="store_true", default=False, help=text)
    text = "with --lift: do not compare what docstring examples print with what they say"
    group.addoption(_LIFT_ANY_OUTPUT, dest="devfix_lift_any_output", action="store_true", default=False, help=text)
    text = "with --lift: fail a test by silent findings, too, by which nothing fails otherwise"
    group.addoption(_LIFT_STRICT, dest="devfix_lift_strict", action="store_true", default=False, help=text)
    text = "with --lift: as --lift-strict, by those alone whose tensor is created there: FILE:LINE or FILE:FUNCTION"
    group.addoption(
        _LIFT_STRICT_AT, dest="devfix_lift_strict_at", metavar="PLACE", action="append", default=[], help=text
    )
    text = "with --lift: do not fail by an operator that this line runs on tensors of two devices: FILE:LINE"
    group.addoption(_LIFT_PAST, dest="devfix_lift_past", metavar="PLACE", action="append", default=[], help=text)
    text = "with --lift: write the result of each test into this folder, for programs"
    group.addoption(_LIFT_RECORD, dest="devfix_lift_record", metavar="FOLDER", default=None, help=text)
    text = "write a report of the device failures: HTML, or JSON where the name ends in .json"
    group.addoption(_REPORT, dest="devfix_report", metavar="FILE", default=None, help=text)
    text = "with --lift: files that are test code too, globs or folders (--lift-tests)"
    parser.addini(LIFT_TESTS, text, type="args", default=[])


def add(parser: pytest.Parser, taken: frozenset[str]) -> None:
    """Add the options, where other plugins and the suite's own conftest files have left their names."""
    group = parser.getgroup("devfix", "GPUs, real or simulated (devfix)")
    for names, dest, metavar, text in (
        (_GPUS, "devfix_gpus", "N", "run the tests in a world with N GPUs, simulated where the machine has fewer"),
        (
            _WORLD,
            "devfix_world",
            "auto|real|simulated|mps|xpu",
            "which GPUs (default: real ones of CUDA where there are enough; mps and xpu: simulated ones of that kind)",
        ),
    ):
        if free := _free(names, taken):
            group.addoption(*free, dest=dest, metavar=metavar, default=None, help=text)
    if free := _free(_LIFT, taken):
        text = "run the tests as if what they create were on a GPU, the last one; see docs/how-to/find.md"
        group.addoption(*free, dest="devfix_lift", action="store_true", default=False, help=text)


def give_way(config: pytest.Config) -> None:
    """Free the short names, once the options are read: a conftest that is found later may add an option of the name."""
    reader = getattr(getattr(config, "_parser", None), "optparser", None)
    names = getattr(reader, "_option_string_actions", {})
    for name in (_GPUS[0], _WORLD[0], _LIFT[0]):
        if name in names and str(names[name].dest).startswith("devfix_"):
            del names[name]


def report_path(config: pytest.Config) -> Path | None:
    """Return the file of the report, None where none is asked for; UsageError where it cannot be one."""
    name: str | None = config.getoption("devfix_report", None)
    if not name:
        return None
    path = Path(config.invocation_params.dir, os.path.expanduser(os.path.expandvars(name)))
    if path.suffix.lower() not in (".html", ".htm", ".json"):
        raise pytest.UsageError(f"{_REPORT} {name}: the name says the format, .html or .json")
    if path.is_dir():
        raise pytest.UsageError(f"{_REPORT} {name}: this is a folder")
    return path


def let_versions_warn(config: pytest.Config) -> None:
    """Let warnings of what a release deprecates stay warnings, also in a suite that makes all of them errors.

    Such a suite cannot be imported with a later release of PyTorch than its author's: `torch.jit.script` warns since
    2.13. Its C++ says so by a UserWarning, which the words alone tell from others. What is said on the command line
    counts.
    """
    config.addinivalue_line("filterwarnings", r"default:.*\bdeprecated\b:UserWarning")
    known: Any = config.known_args_namespace
    known.pythonwarnings = [*(f"default::{kind}" for kind in _OF_VERSIONS), *(known.pythonwarnings or ())]


def lift_settings(config: pytest.Config) -> list[str]:
    """Return the words that set how a run lifts, without `--lift` itself: `--lift-strict`."""
    told = config.option
    flags = (
        (_LIFT_TWICE, told.devfix_lift_twice),
        (_LIFT_DEVICE, told.devfix_lift_device),
        (_LIFT_ANY_OUTPUT, told.devfix_lift_any_output),
        (_LIFT_STRICT, told.devfix_lift_strict),
    )
    lists = (
        (_LIFT_TESTS, told.devfix_lift_tests),
        (_LIFT_STRICT_AT, told.devfix_lift_strict_at),
        (_LIFT_PAST, told.devfix_lift_past),
    )
    found = [name for name, is_set in flags if is_set]
    return found + [f"{name}={value}" for name, values in lists for value in values]


def own_options(config: pytest.Config) -> list[str]:
    """Return the words that gave the suite's own options, those of its conftest files: `--device cuda`."""
    found: list[str] = []
    for option in getattr(getattr(getattr(config, "_parser", None), "_anonymous", None), "options", ()):
        default = getattr(option, "default", None)
        value = getattr(config.option, option.dest, default)
        if value is True and not default:
            found.append(option.names()[-1])
        elif type(value) in (str, int, float) and value != default:
            found += [option.names()[-1], str(value)]
    return found


def doctest_options(item: pytest.Item) -> list[str]:
    """Return the options without which pytest does not find a test, as it is an example in a docstring or a text."""
    if not isinstance(item, getattr(pytest, "DoctestItem", ())):  # pytest 7.0 does not export it
        return []
    return ["--doctest-modules" if item.path.suffix == ".py" else f"--doctest-glob=*{item.path.suffix}"]


def taken_names(parser: pytest.Parser) -> frozenset[str]:
    """Return the names of all options that are there."""
    groups = [*getattr(parser, "_groups", ()), getattr(parser, "_anonymous", None)]
    return frozenset(name for group in groups for option in getattr(group, "options", ()) for name in option.names())


def _free(names: Iterable[str], taken: frozenset[str]) -> list[str]:
    return [name for name in names if name not in taken]
