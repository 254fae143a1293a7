"""`pytest --devfix-report FILE`: the device failures of a session as JSON and as a page."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from json_schemas import closed
from suite_runs import MODEL, run

from devfix.report.render.machine_readable.json import suite_schema

TEST = """
import pytest
import torch
from model import Model


def call(device):
    return Model().to(device)(torch.ones(2, 4, device=device))


def test_forward():
    assert call("cuda").shape == (2, 4)


def test_at_the_end(request):
    request.addfinalizer(lambda: call("cuda"))


@pytest.mark.gpus(2)
def test_second():
    call("cuda:1")


def test_wrong():
    assert 1 == 2


def test_good():
    pass


@pytest.mark.skip
def test_skipped():
    pass
"""
GPU, GPUS = ({"kind": "simulated", "gpus": count, "current": 0, "device": "cuda"} for count in (1, 2))


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(model=MODEL, test_model=TEST)
    pytester.makeini("[pytest]\npythonpath = .\n")
    return pytester


def report(path: Path) -> Any:
    data = json.loads(path.read_text())
    jsonschema.validate(data, closed(copy.deepcopy(suite_schema())), jsonschema.Draft202012Validator)
    return data


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_device_failures_are_grouped_by_device(suite: pytest.Pytester, workers: tuple[str, ...]) -> None:
    done = run(suite, "--gpus", "1", "--world", "simulated", "--devfix-report", "new/report.json", *workers)
    done.assert_outcomes(passed=2, failed=3, skipped=1, errors=1)
    done.stdout.fnmatch_lines(["*devfix report: *report.json (2 device failures)*"])
    data = report(suite.path / "new" / "report.json")
    one, two = data["failures"]
    assert (one["devices"], sorted(one["tests"])) == (
        ["cpu", "cuda:0"], ["test_model.py::test_at_the_end", "test_model.py::test_forward"],
    )  # fmt: skip
    assert (two["devices"], two["tests"], two["worlds"]) == (["cpu", "cuda:1"], ["test_model.py::test_second"], [GPUS])
    assert two["command"] == "devfix repair --run 'pytest test_model.py::test_second' --gpus 2"
    assert (one["failure"]["at"]["path"], one["failure"]["at"]["line"]) == ("model.py", 11)
    assert [each["creation"]["line"] for each in one["failure"]["operands"]] == [7, 10]
    assert [each["rule"] for each in one["failure"]["findings"]] == ["placement/factory-without-device"]
    assert "+        bias = torch.ones(4, device=x.device)" in one["proposal"]["edits"][0]["diff"]
    counts = {"passed": 1, "device_failures": 2, "other_failures": 1, "artefacts": 0, "skipped": 1}
    assert {"world": GPU, **counts} in data["worlds"] and len(data["worlds"]) == 2
    assert data["other_failures"] == [{"test": "test_model.py::test_wrong", "reason": "assert 1 == 2"}]
    assert (data["world"], data["lifted"]) == (GPU, False)


@pytest.mark.slow
def test_worlds_have_their_kind_of_accelerator(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import torch\n\ndef test_it():\n    torch.ones(2, device='mps') + torch.ones(2)\n")
    run(pytester, "--gpus", "1", "--world", "mps", "--devfix-report", "report.json").assert_outcomes(failed=1)
    data = report(pytester.path / "report.json")
    mps = {**GPU, "device": "mps"}
    assert (data["world"], data["worlds"][0]["world"], data["failures"][0]["worlds"]) == (mps, mps, [mps])


@pytest.mark.slow
def test_the_page_has_the_journeys(suite: pytest.Pytester) -> None:
    run(suite, "--gpus", "1", "--world", "simulated", "--devfix-report", "report.html")
    text = (suite.path / "report.html").read_text()
    assert '<h1 class="bad">2 device failures in 3 of 5 tests</h1>' in text
    assert "bias = torch.ones(4)" in text and "read by aten::add: the failure" in text


@pytest.mark.slow
def test_what_cannot_be_lifted_is_no_device_failure(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_model="""
        import torch
        from model import Model

        def test_finding():
            Model()(torch.ones(2, 4))

        def test_artefact():
            assert torch.ones(2).device == torch.device("cpu")
        """
    )
    run(suite, "--gpus", "1", "--world", "simulated", "--lift", "--devfix-report", "report.json")
    data = report(suite.path / "report.json")
    assert [each["tests"] for each in data["failures"]] == [["test_model.py::test_finding"]]
    assert [each["test"] for each in data["artefacts"]] == ["test_model.py::test_artefact"]
    assert data["lifted"] and data["failures"][0]["proposal"] is None
    assert "--lift" in data["failures"][0]["command"]


@pytest.mark.slow
def test_a_suite_without_gpus_and_one_that_cannot_be_collected(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_model="def test_good(): pass", test_other="import no_such_module")
    run(suite, "--devfix-report", "report.json", "--continue-on-collection-errors")
    data = report(suite.path / "report.json")
    assert data["world"] is None and [each["passed"] for each in data["worlds"]] == [1]
    assert "no_such_module" in data["other_failures"][0]["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["report.txt", "report", "folder.html"])
def test_a_file_that_cannot_be_the_report_is_refused(suite: pytest.Pytester, name: str) -> None:
    suite.mkdir("folder.html")
    done = run(suite, "--gpus", "1", "--devfix-report", name)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    assert f"--devfix-report {name}: " in str(done.stderr)
