"""The HTML pages: what they hold, that nothing is executed in them, and that they need nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from cli_programs import repair
from full_pages import DIFF, full_report, hostile
from git_repositories import make_repository
from sample_fleet import sample_page
from sample_search import record as find_record
from sample_suite import suite_record

from devfix.cli import status
from devfix.model import DeviceType
from devfix.report.failure_types import WorldRecord
from devfix.report.render.html.find import find_page
from devfix.report.render.html.highlight import diff_rows
from devfix.report.render.html.journeys import bars, module_tree
from devfix.report.render.html.repair import repair_page
from devfix.report.render.html.suite import suite_page
from devfix.report.render.machine_readable.json import dump
from devfix.report.types import DeviceMapRecord, ModuleRecord, TransferRecord

VOID = {"meta", "br", "rect"}


class Page(HTMLParser):
    """The tags of a page with their attributes, its text, and whether each tag is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text, self._open = "", list[str]()
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] not in ("style", "script"):
            self.text += data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


PAGES: dict[str, Callable[[bool], str]] = {
    "repair": lambda evil: repair_page(hostile(full_report()) if evil else full_report()),
    "find": lambda evil: find_page(hostile(find_record()) if evil else find_record()),
    "suite": lambda evil: suite_page(hostile(suite_record()) if evil else suite_record()),
    "fleet": sample_page,
}


def joined(page: str) -> str:
    """Return the text of a page without spaces."""
    return "".join(Page(page).text.split())


def test_a_report_has_every_part() -> None:
    text = joined(repair_page(full_report()))
    for part in (
        "Failure 1 of 2 at train.py:4 in main",
        "RuntimeError: Expected all tensors to be on the same device",
        "x cpu float32 [2, 16] created cpu at train.py:3 in main x = torch.ones(2, 16)",
        "created as a parameter cpu at",
        "moved to cuda:0 at train.py:2",
        "read by aten::addmm: the failure cpu at train.py:4",
        "Move `x` to the model's device placement/input-not-moved (safe)",
        "- x = model(x) # why + x = model(x.to('cuda'))",
        "Regression test tests/test_train.py",
        "Similar code, not changed (1)",
        "Candidates that were not kept (1)",
        "cuda x1 failed clean",
        "Without the fixes model Net cpu cuda:0 model.head Linear cpu model.head[0] Linear cuda:1 With the fixes",
        "8 without the fixes, up to the failure 2 with the fixes",
        "The fault is in lib 1",
        "python eval.py cpu clean clean as before",
        "Merge it git merge devfix/x",
        "devfix undo",
        "the tree is dirty",
    ):
        assert "".join(part.split()) in text, part


def test_a_search_has_every_part() -> None:
    text = joined(find_page(find_record()))
    for part in (
        "2 findings: 4 tests, 3 pass on the CPU",
        "lib/a.py:5 raises placement/factory-without-device 2 cuda:0 cuda:1",
        "A factory without a device",
        "Tests that reach it (2)",
        "The tensors on the GPU went into shifted (lib/a.py:3)",
        "Fail on the CPU (1)",
        "devfix find --repair",
    ):
        assert "".join(part.split()) in text, part


def test_the_worlds_of_a_session_have_the_name_of_their_kind_of_gpu() -> None:
    record = suite_record()
    mac = WorldRecord(kind="simulated", gpus=1, device=DeviceType.MPS)
    first, *others = record.worlds
    page = suite_page(replace(record, worlds=(replace(first, world=mac), *others)))
    assert "mps12110noneaskedfor" in joined(page)


def test_a_session_of_pytest_has_every_part() -> None:
    text = joined(suite_page(suite_record()))
    for part in (
        "2 device failures in 3 of 7 tests",
        "World a simulated GPU, with what tests create on a GPU",
        "train.py:4 cpu cuda:0 aten::addmm placement/input-not-moved 2 cuda x1, cuda x2",
        "x cpu float32 [2, 16] created cpu at train.py:3 in main",
        "read by aten::addmm: the failure cpu at train.py:4",
        "no run has verified it",
        "- x = model(x) # why + x = model(x.to('cuda'))",
        "Tests that end in it (2) tests/test_a.py::test_it",
        "cuda x1 1 2 1 1 0 none asked for 1 0 0 0 1",
        "Repair failure 2 devfix repair --run 'pytest tests/test_a.py::test_two' --gpus 2",
        "Fail for another reason than devices (1) tests/test_a.py::test_broken assert 1 == 2",
        "Could not be lifted (1)",
    ):
        assert "".join(part.split()) in text, part


def test_a_fleet_has_every_part() -> None:
    text = joined(sample_page())
    for part in (
        "46 of 48 jobs ended; 12 findings, 9 fixed",
        "Planned 48 jobs, 2 not yet run Findings 12, 9 with a verified fix Not counted 3 results",
        "environment failed 9 jobs",
        "placement/input-not-moved 8 8 5 none 4 1 2",
        "ada/model c0ffeec0ff repair repaired 2 2 1 min 14 s",
        "environment failed no release of torch fits torch<1.9 9 emmy/rings, hedy/hops, …",
        "- x = model(x) # why + x = model(x.to('cuda'))",
        "Its files are not shown: patches/x is not a regular file",
        "the whole job 46 1 min 2 s 2 min 0 s",
        "median 812 MB, 90 % below 1.9 GB, largest 3.7 GB",
        "sofia/tops c0ffeec0ff repair not yet run",
    ):
        assert "".join(part.split()) in text, part


@pytest.mark.parametrize("kind", PAGES)
def test_nothing_that_a_report_holds_takes_effect(kind: str) -> None:
    written = PAGES[kind](True)
    page = Page(written)
    assert "onerror=alert(1)" in page.text and "{{7*7}}" in page.text and "\\x1b[2J\\u202e" in page.text
    assert not page.named("img") and len(page.named("script")) == 1
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", written)


@pytest.mark.parametrize("kind", PAGES)
@pytest.mark.parametrize("evil", [False, True])
def test_a_page_needs_nothing_and_its_policy_allows_for_nothing_else(kind: str, evil: bool) -> None:
    written = PAGES[kind](evil)
    page = Page(written)
    assert not re.search(r"https?:|url\(|@import", written.partition("</style>")[0] + "".join(
        value or "" for _, attributes in page.tags for value in attributes.values() if value and "alert" not in value
    ))  # fmt: skip
    assert not [attributes for _, attributes in page.tags if {"src", "style"} & attributes.keys()]
    links = [attributes["href"] or "" for attributes in page.named("a")]
    targets = {attributes.get("id") for _, attributes in page.tags}
    assert links and all(link.startswith("#") and link[1:] in targets for link in links)
    policy = next(each["content"] or "" for each in page.named("meta") if "http-equiv" in each)
    for tag in ("style", "script"):
        inside = written.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")


@pytest.mark.parametrize("kind", PAGES)
def test_headings_labels_and_ids_fit_together(kind: str) -> None:
    page = Page(PAGES[kind](False))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    labelled = {attributes["aria-labelledby"] for _, attributes in page.tags if "aria-labelledby" in attributes}
    assert labelled and labelled <= set(ids)


def test_a_diff_has_the_colours_of_python_and_every_character() -> None:
    rows = diff_rows(DIFF)
    assert [row.kind for row in rows] == ["file", "file", "hunk", "same", "remove", "add"]
    assert "".join(row.mark + "".join(part for _, part in row.parts) + "\n" for row in rows) == DIFF
    assert ("keyword", "import") in rows[3].parts and ("comment", "# why") in rows[4].parts
    assert ("string", "cuda") in rows[5].parts or ("string", "'cuda'") in rows[5].parts


@pytest.mark.parametrize("line", ['-"""open', "-x = 1\r", "-\x0c", "-", "+\u2028x", "\\ No newline at end of file"])
def test_a_diff_of_unusual_lines_loses_nothing(line: str) -> None:
    diff = f"--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n{line}\n+y = 2\n"
    shown = "".join(row.mark + "".join(part for _, part in row.parts) for row in diff_rows(diff))
    kept = line.replace("\r", "").replace("\x0c", "\\x0c").replace("\u2028", "\\u2028")
    assert kept in shown and shown.endswith("+y = 2")


def module(name: str, device: str) -> ModuleRecord:
    return ModuleRecord(expression=name, type="Linear", device=device, tensors={device: 1})


def test_modules_are_below_the_one_they_belong_to() -> None:
    roots = module_tree([module(name, "cpu") for name in ("model", "model.a", "model.a[0]", "modeller", "other.x")])
    assert [each.module.expression for each in roots] == ["model", "modeller", "other.x"]
    assert [each.module.expression for each in roots[0].below[0].below] == ["model.a[0]"]


def test_copies_are_matched_by_their_source_although_lines_moved() -> None:
    def mapped(line: int, count: int) -> DeviceMapRecord:
        copy = TransferRecord(path="a.py", line=line, source="x.cpu()", direction="to-host", count=count, bytes=8)
        return DeviceMapRecord(modules=(), transfers=(copy,))

    found = bars([mapped(3, 8), mapped(5, 2)])
    assert [(bar.before, bar.after, bar.before_width, bar.after_width) for bar in found] == [(8, 2, 100, 25)]
    assert bars([mapped(3, 8)])[0].after is None and bars([]) == []


def test_a_stored_search_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "find.json").write_text(dump(find_record()))
    for output, expected in (("html", find_page(find_record())), ("json", dump(find_record()))):
        assert status(["show", str(tmp_path / "find.json"), "--format", output]) == 0
        assert capsys.readouterr().out == expected
    assert status(["show", str(tmp_path / "find.json")]) == 0
    assert capsys.readouterr().out.startswith("2 findings")
    (tmp_path / "find.json").write_text(dump(find_record()).replace('"tests": 4', '"tests": "many"'))
    assert status(["show", str(tmp_path / "find.json")]) == 2
    assert "not a devfix report: Expected `int`" in capsys.readouterr().err


@pytest.mark.slow
def test_a_repair_is_written_as_a_page(tmp_path: Path) -> None:
    program = "import torch\nmodel = torch.nn.Linear(2, 2).cuda()\nmodel(torch.ones(2)).sum()\n"
    root = make_repository(tmp_path / "program", {"main.py": program})
    done = repair(root, "--dry-run", "--format", "html")
    text = joined(done.stdout)
    assert done.returncode == 0 and "Repaired:1devicefailure,1fix." in text
    assert "WithoutthefixesmodelLinearcuda:0WiththefixesmodelLinearcuda:0" in text
    assert "main.py:2in<module>to-devicemodel=torch.nn.Linear(2,2).cuda()" in text


def test_a_stored_report_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = replace(full_report(), fixes=(), rejected=())
    (tmp_path / "report.json").write_text(dump(data))
    assert status(["show", str(tmp_path / "report.json"), "--format", "html"]) == 0
    assert capsys.readouterr().out == repair_page(data)
