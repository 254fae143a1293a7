"""The record of a search in its formats."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
from json_schemas import closed
from sample_search import RAISES, record

from devfix.find.report import failed_search
from devfix.report.find_types import CauseFixRecord
from devfix.report.render.html.find import find_page
from devfix.report.render.machine_readable.find_sarif import find_sarif
from devfix.report.render.machine_readable.json import dump, find_schema
from devfix.report.render.terminal.find import find_commands, find_outputs, find_text


def test_the_json_is_as_its_schema_says() -> None:
    jsonschema.validate(json.loads(dump(record())), closed(find_schema()))


def test_a_search_that_failed_is_told_in_each_format() -> None:
    failed = failed_search("no git repository here")
    jsonschema.validate(json.loads(dump(failed)), closed(find_schema()))
    assert find_text(failed) == "Error: no git repository here\n"
    assert find_outputs(failed).startswith("outcome=error\n") and find_commands(failed) == ""
    assert json.loads(find_sarif(failed))["runs"][0]["invocations"] == [{"executionSuccessful": False}]
    assert "Error: no git repository here" in find_page(failed)


def test_the_text_says_that_a_call_was_told_the_gpu() -> None:
    found = record()
    (silent,) = (each for each in found.findings if each.evidence is not None)
    assert silent.evidence is not None
    told = replace(silent, evidence=replace(silent.evidence, is_told=True))
    text = find_text(replace(found, findings=(told,)))
    said = "The `device` of the GPU was given to `shifted` (lib/a.py:3); a tensor of the host was created at lib/a.py:5"
    assert said in " ".join(text.split())


def test_the_texts_say_that_a_cache_serves_a_later_call() -> None:
    found = record()
    (silent,) = (each for each in found.findings if each.evidence is not None)
    stale = replace(found, findings=(replace(silent, kind="stale-cache"),))
    for text in (find_text(stale), re.sub(r"<[^>]*>", "", find_page(stale))):
        said = "A call on one GPU has made the tensor at lib/a.py:5, and a later one on another GPU is served it."
        assert said in " ".join(text.split()) and "went into" not in text


def test_a_search_that_lifted_nothing_is_not_clean() -> None:
    nothing = replace(record(), findings=(), artefacts=(), failed_lifted=(), passed_lifted=0)
    said = "Nothing was searched: 3 tests pass on the CPU, and none of these ran on a GPU"
    assert " ".join(find_text(nothing).split()).startswith(said)
    assert find_outputs(nothing).startswith("outcome=error\n")
    assert not replace(nothing, passed_lifted=1).is_unsearched
    none = replace(nothing, passed_cpu=0)
    said = "Nothing was searched: 4 tests, and none passes on the CPU"
    assert " ".join(find_text(none).split()).startswith(said) and find_outputs(none).startswith("outcome=error\n")


def test_tests_that_pass_on_a_gpu_alone_were_searched() -> None:
    nothing = replace(record(), findings=(), artefacts=(), failed_lifted=(), passed_cpu=0, passed_lifted=0)
    alone = replace(nothing, passed_on_gpu_alone=3)
    said = "4 tests, 0 pass on the CPU, 0 of these on a GPU too, and 3 on a GPU alone"
    assert not alone.is_unsearched and said in " ".join(find_text(alone).split())
    assert "and 3 on a GPU alone" in find_page(alone)


def test_the_text_says_that_a_failure_needs_a_device_that_is_told() -> None:
    found = record()
    (raises,) = (each for each in found.findings if each.evidence is None)
    told = replace(found, findings=(replace(raises, options=("--lift-device",)),))
    said = "It fails where a `device` that the test leaves out is told the GPU."
    assert said in " ".join(find_text(told).split()) and said not in " ".join(find_text(found).split())


def test_of_what_raises_nothing_no_exception_is_told() -> None:
    found = record()
    (silent,) = (each for each in found.findings if each.evidence is not None)
    (raises,) = (each for each in found.findings if each.evidence is None)
    failure = raises.failure
    assert failure is not None
    for finding, is_raised in ((raises, True), (replace(silent, failure=failure), False)):
        alone = replace(found, findings=(finding,))
        assert (failure.message in find_text(alone)) == is_raised
        assert (failure.message in find_page(alone)) == is_raised
        assert ("It fails here." in find_sarif(alone)) == is_raised


def test_the_text_has_a_row_for_each_cause() -> None:
    text = find_text(record())
    assert "went into `shifted` (lib/a.py:3); the other one was created at lib/a.py:5" in " ".join(text.split())
    assert text.startswith("2 findings: 4 tests, 3 pass on the CPU, 1 of these on a GPU too (3 s)\n")
    row = next(line for line in text.splitlines() if line.startswith("1 "))
    assert "lib/a.py:5" in row and "high" in row and " 2 " in row
    assert "Reached by tests/test_a.py::test_it and 1 more" in text and "low, not confirmed" in text
    assert text.count("Not confirmed, and not repaired: ") == 1
    assert "\n1 test failed on the CPU (not lifted):\n  tests/test_a.py::test_broken\n" in text


def test_the_place_of_a_quoted_line_is_told_where_the_heading_has_another() -> None:
    found = record()
    (raises,) = (each for each in found.findings if each.evidence is None)
    assert raises.failure is not None and raises.failure.at is not None
    at = raises.failure.at
    for line, is_told in ((at.line + 1, True), (at.line, False)):
        moved = replace(raises, path=at.path, line=line)
        assert (f"At {at.path}:{at.line}:" in find_text(replace(found, findings=(moved,)))) == is_told


def test_names_of_tests_are_not_wrapped() -> None:
    names = tuple(f"tests/test_{'a' * 120}.py::test_{number}" for number in range(7))
    lines = find_text(record(failed_cpu=names)).splitlines()
    at = lines.index("7 tests failed on the CPU (not lifted):")
    assert lines[at + 1 : at + 7] == [*(f"  {name}" for name in names[:5]), "  and 2 more"]


def test_nothing_found_is_said() -> None:
    text = find_text(record(causes=(), known=(RAISES,), missing=("nowhere",)))
    assert text.startswith("no new findings, 1 known") and "Missing modules: nowhere;" in text


def test_annotations_are_at_the_cause() -> None:
    first, second = find_commands(record()).splitlines()
    assert first.startswith(
        "::error file=lib/a.py,line=5,title=devfix%3A placement/factory-without-device::RuntimeError"
    )
    assert second.startswith("::warning file=lib/a.py,line=5,") and "result-on-host: It leaves its result" in second
    assert "in 2 tests" in first and second.endswith("in 1 test")


def test_sarif_names_both_places() -> None:
    run = json.loads(find_sarif(record()))["runs"][0]
    first, second = run["results"]
    assert (first["ruleId"], first["level"], second["level"]) == ("placement/factory-without-device", "error", "note")
    places = [first["locations"][0], first["relatedLocations"][0]]
    assert [each["physicalLocation"]["region"]["startLine"] for each in places] == [5, 6]
    assert {each["id"] for each in run["tool"]["driver"]["rules"]} == {first["ruleId"], second["ruleId"]}
    assert Path(first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]) == Path("lib/a.py")


def test_a_diff_is_neither_wrapped_nor_cut() -> None:
    long = "+    return " + " + ".join(f"value_{number}" for number in range(40))
    fix = CauseFixRecord(
        diff=f"--- a\n+++ b\n{long}\n", verdict="verified", branch="devfix/find", commit="abc", test="tests/test_it.py"
    )
    found = record()
    text = find_text(replace(found, findings=(replace(found.findings[0], fix=fix),)))
    assert f"   {long}\n   Regression test: tests/test_it.py\n" in text
    without = replace(fix, test="", no_test_reason="an existing test covers it: pytest tests/test_a.py")
    text = find_text(replace(found, findings=(replace(found.findings[0], fix=without),)))
    assert "No regression test: an existing test covers it: pytest tests/test_a.py\n" in text
