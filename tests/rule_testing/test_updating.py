"""`devfix test --update` writes what really happens, and replaces nothing that somebody wrote without consent."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rule_packs import AFTER, block, left_alone, page, repaired, write_rule

from devfix.registry.loading import rule_at
from devfix.rule_testing.authoring.updating import BlockUpdate, update_page
from devfix.rule_testing.checking.page_check import judge
from devfix.rule_testing.checking.runner import Bench


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench(Path(sys.executable)) as made:
        yield made


def agree(update: BlockUpdate) -> bool:
    return True


@pytest.mark.slow
def test_update_writes_what_the_rule_did(bench: Bench, tmp_path: Path) -> None:
    empty = page(repaired(after="", failure=""), left_alone(failure=""))
    module = write_rule(tmp_path, text=empty)
    assert update_page(rule_at(module), bench, agree)
    written = module.with_suffix(".md").read_text("utf-8")
    assert block("python after", AFTER) in written
    assert "device-mismatch at main.py:6" in written
    assert next(judge([rule_at(module)], bench)).passed
    assert not update_page(rule_at(module), bench, agree)


@pytest.mark.slow
def test_what_is_on_the_page_is_replaced_only_with_consent(bench: Bench, tmp_path: Path) -> None:
    text = page(repaired(after="x = 1"), left_alone(failure=""))
    module = write_rule(tmp_path, text=text)
    asked: list[BlockUpdate] = []
    assert update_page(rule_at(module), bench, asked.append), "the empty block was not written"  # type: ignore[arg-type]
    (update,) = asked
    assert (update.case, update.block, update.old) == ("left behind", "after main.py", ("x = 1",))
    assert "-x = 1" in update.difference.splitlines()
    assert "+print((weight + bias.to(device)).tolist())" in update.difference.splitlines()
    written = module.with_suffix(".md").read_text("utf-8")
    assert "x = 1" in written and written.count("device-mismatch at main.py:6") == 2
    assert not update_page(rule_at(module), bench, asked.append)  # type: ignore[arg-type]
    assert update_page(rule_at(module), bench, agree)
    assert block("python after", AFTER) in module.with_suffix(".md").read_text("utf-8")


@pytest.mark.slow
def test_update_leaves_out_the_words_in_which_builds_of_torch_differ(bench: Bench, tmp_path: Path) -> None:
    empty = repaired("import torch\n\nprint(torch.ones(2, device='cuda'))\n", failure="")
    module = write_rule(tmp_path, text=page(empty.replace("\n\n", "\n\nWorld: cpu\n\n", 1), left_alone()))
    assert update_page(rule_at(module), bench, agree)
    assert block("text failure", "no-device at main.py:3") in module.with_suffix(".md").read_text("utf-8")


@pytest.mark.slow
def test_a_file_that_the_page_does_not_show_after_is_added(bench: Bench, tmp_path: Path) -> None:
    main = "import torch\nimport adding\n\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
    main += "print(adding.add(torch.ones(3).to(device), torch.zeros(3)).tolist())\n"
    library = "def add(weight, bias):\n    return weight + bias\n"
    case = repaired(main, "device-mismatch at adding.py:2", "") + "\n" + block("python before adding.py", library)
    module = write_rule(tmp_path, text=page(case, left_alone()))
    assert update_page(rule_at(module), bench, agree)
    assert block("python after adding.py", library.replace("+ bias", "+ bias.to(weight.device)")) in (
        module.with_suffix(".md").read_text("utf-8")
    )
    assert next(judge([rule_at(module)], bench)).passed
