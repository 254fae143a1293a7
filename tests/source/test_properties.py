"""Whatever is read, nothing crashes: traces, messages, configurations and sources made by chance, and by malice."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from forged_json import forged
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from probe_programs import ENTRY
from waiting import little_work

from devfix.config import Config, read_config
from devfix.errors import UserError
from devfix.model import SourceLocation
from devfix.registry.suppressions import find_suppressions
from devfix.trace import Trace, read_all
from devfix.trace.bounds import NUMBER_LIMIT

EXAMPLES = 2000 if os.environ.get("DEVFIX_HARM_POINTS") else 150
often = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))

KEYS = [
    *("schema", "process", "world", "failure", "transfers", "watched", "modules", "operator_counts", "pid", "parent"),
    *("operator_totals", "host", "total", "size", "is_compute", "completed", "raised"),
    *("torch", "gpus", "kind", "exception", "message", "op", "thread", "traceback", "uncaught", "operations", "frames"),
    *(
        "operands",
        "place",
        "scope",
        "path",
        "line",
        "end_line",
        "column",
        "end_column",
        "function",
        "argument",
        "device",
    ),
    *("dtype", "shape", "names", "frame", "expression", "relation", "history", "owner", "holders", "copy", "places"),
    *("tensors", "type", "attribute", "root", "direction", "count", "bytes", "values", "saw_expected_values", "loop"),
]
numbers = st.one_of(st.integers(), st.floats(), st.sampled_from([-1, 0, 1 << 53, 1 << 64, 10**400]))
paths = st.sampled_from(
    [
        "/tree/main.py",
        "/tree/../etc/passwd",
        "/etc/passwd",
        "main.py",
        "/tree/\0",
        "/tree//main.py",
        "/tree/./a/../main.py",
    ]
)
texts = st.one_of(
    st.text(), paths, st.sampled_from(["\x1b[31m", "\x9b31m", "\u202egnp.exe", "\ud800", "devfix-trace/1"])
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=5), st.dictionaries(st.sampled_from(KEYS), inner, max_size=8)),
    max_leaves=40,
)
traces = st.dictionaries(st.sampled_from(KEYS), values).map(lambda table: {**table, "schema": "devfix-trace/1"})


def all_of(record: Any) -> Iterator[Any]:
    """Every value in a record, however deep."""
    yield record
    if is_dataclass(record):
        for each in fields(record):
            yield from all_of(getattr(record, each.name))
    elif isinstance(record, tuple):
        for item in record:
            yield from all_of(item)


def read(data: bytes) -> tuple[list[Any], list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "1-0.json").write_bytes(data)
        return read_all(Path(folder), Path("/tree"), frozenset({"main.py"}))


@pytest.mark.slow
@often
@given(traces)
def test_a_trace_of_any_json_is_read_or_refused(trace: dict[str, Any]) -> None:
    found, problem = read(json.dumps(trace).encode("utf-8", "surrogatepass"))
    assert len(found) + len(problem) == 1


@pytest.mark.slow
@often
@given(forged(Trace))
def test_a_forged_trace_gives_honest_records(trace: dict[str, Any]) -> None:
    found, problem = read(json.dumps(trace).encode("utf-8", "surrogatepass"))
    assert len(found) == 1 and not problem, problem
    for value in all_of(tuple(found)):
        if isinstance(value, str):
            assert not set(value) & {"\x1b", "\x9b", "\u202e", "\0", "\ud800"}
        elif isinstance(value, SourceLocation):
            assert value.line >= 1 and (not value.owned or value.path == "main.py")
        elif isinstance(value, int):
            assert 0 <= value <= NUMBER_LIMIT


@often
@given(st.one_of(st.binary(), st.text().map(str.encode), st.just(b"[" * 100_000), st.just(b'{"schema":' * 2000)))
def test_what_is_no_trace_is_told(data: bytes) -> None:
    found, problem = read(data)
    assert not found and len(problem) == 1


@pytest.mark.parametrize("shape", ["pipe", "link", "folder", "large", "many"])
def test_traces_that_are_no_files_and_too_large_ones(shape: str, tmp_path: Path) -> None:
    place = tmp_path / "traces" / "1-0.json"
    place.parent.mkdir()
    if shape == "pipe":
        os.mkfifo(place)
    elif shape == "link":
        place.symlink_to("/dev/zero")
    elif shape == "folder":
        place.mkdir()
    elif shape == "large":
        with place.open("wb") as file:
            file.truncate(1 << 34)
    else:
        place.write_text('{"schema": "devfix-trace/1", "watched": [' + '{"scope": [' * 300 + "]}" * 300 + "]}")
        for number in range(30):
            place.with_name(f"{number}\x1b[31m.json").write_text("{}")
    with little_work(5):
        found, problem = read_all(place.parent, tmp_path, frozenset())
    assert not found and 1 <= len(problem) <= 20
    assert "\x1b" not in "".join(problem)


@pytest.mark.slow
def test_more_records_than_an_honest_trace_has_are_refused() -> None:
    event: dict[str, Any] = {"places": [{}] * 1000}
    binding = {"expression": "x", "history": [event] * 50}
    with little_work(30):
        found, problem = read(json.dumps({"schema": "devfix-trace/1", "modules": [binding] * 40}).encode())
    assert not found and "more records" in problem[0]


def test_a_trace_that_does_not_fit_is_refused_with_the_place_that_does_not() -> None:
    frame = {"place": {"path": 3, "line": 1}}
    failure = {"kind": "device-mismatch", "exception": "E", "message": "", "frames": [frame]}
    found, problem = read(json.dumps({"schema": "devfix-trace/1", "failure": failure}).encode())
    assert not found
    assert problem == ["trace 1-0.json: Expected `str`, got `int` - at `$.failure.frames[0].place.path`"]


FRAGMENTS = [
    *("Input type (", ") and weight type (", ") should be the same", "Tensors must be CUDA", "list ", "device index "),
    *(
        "on meta device",
        "gradient with device type ",
        "assigned grad ",
        "expects CUDA tensors",
        "weight",
        " and input ",
    ),
    *(
        "out of range",
        "lengths",
        " should be ",
        "Expected a 'cuda' device type",
        "\n",
        "x" * 50,
        "cuda:0",
        "same device",
    ),
]


@pytest.fixture(scope="module")
def kind_of() -> Any:
    """The probe's own reader of messages, which imports nothing but `re`."""
    names: dict[str, Any] = {"__name__": "kinds"}
    exec((ENTRY.parent / "capture" / "kinds.py").read_text(), names)
    return names["kind_of"]


@often
@given(message=st.one_of(st.text(), st.lists(st.sampled_from(FRAGMENTS)).map("".join)))
@example(message="Input type (" * 2000)
@example(message="Input type () and weight type (" * 1000)
@example(message="weight and input " * 1500)
@example(message="expects CUDA tensors device index " * 800)
def test_a_message_has_a_kind_after_little_work(kind_of: Any, message: str) -> None:
    with little_work(3):
        assert isinstance(kind_of(message), str)


CONFIG_KEYS = [*sorted(each.name.replace("_", "-") for each in fields(Config)), "zzz", '"a/b"', 'rules."a/b"']
toml = st.lists(
    st.tuples(
        st.sampled_from(CONFIG_KEYS),
        st.sampled_from(
            ["1", "-1", "nan", "inf", '"x"', '""', "true", "[]", "[1]", '["a"]', "{}", "1979-05-27", "1e400"]
        ),
    ).map(lambda pair: f"{pair[0]} = {pair[1]}"),
    max_size=4,
).map("\n".join)


@often
@given(st.one_of(toml.map(str.encode), st.binary(), toml.map(lambda text: f"[tool.devfix]\n{text}".encode())))
@example(b"a=" + b"[" * 3000)
def test_a_configuration_is_read_or_refused_in_one_line(data: bytes) -> None:
    for name in ("devfix.toml", "pyproject.toml"):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, name).write_bytes(data)
            try:
                assert isinstance(read_config(Path(folder)), Config)
            except UserError as error:
                assert str(error).startswith(folder)


@often
@given(st.one_of(st.binary(), st.text().map(str.encode)).map(lambda data: b"# devfix: ignore[a/b] x\n" + data))
def test_ignore_comments_are_looked_for_in_anything(data: bytes) -> None:
    assert all(line >= 1 for line in find_suppressions(data, "a/b"))
