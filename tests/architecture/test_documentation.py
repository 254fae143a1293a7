"""The pages of the documentation: links, navigation and paths that the code names."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import build_docs  # noqa: E402
import check_links  # noqa: E402
import editor_pictures  # noqa: E402


def test_every_relative_link_and_anchor_exists() -> None:
    assert [problem for page in check_links.pages() for problem in check_links.broken(page)] == []


def test_broken_links_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_links, "ROOT", tmp_path)
    (tmp_path / "a.md").write_text("# A b\n\n[b](b.md) [c](c.md)\n\n[self](#a-b) [none](#a-c) [web](https://x.org/y)\n")
    (tmp_path / "b.md").write_text("| [a](a.md#a-b) | [d](a.md#a-d) |\n|---|---|\n\n`[code](e.md)`\n")
    check_links.anchors.cache_clear()
    found = [problem for name in ("a.md", "b.md") for problem in check_links.broken(Path(name))]
    check_links.anchors.cache_clear()
    assert found == [
        "a.md:3: c.md: no such file in the repository",
        "a.md:5: #a-c: no such heading",
        "b.md:1: a.md#a-d: no such heading",
    ]


def test_every_page_of_the_documentation_is_in_the_navigation() -> None:
    config = (ROOT / "zensical.toml").read_text("utf-8")
    listed = set(re.findall(r'"([\w/-]+\.md)"', str(tomllib.loads(config)["project"]["nav"]).replace("'", '"')))
    written = {str(page) for page in check_links.pages() if page.parts[0] == "docs" and page.parts[1] != "adr"}
    assert written - listed == set() and not [page for page in listed if not (ROOT / page).is_file()]


def test_every_page_that_code_names_exists() -> None:
    listed = subprocess.run(
        ["git", "grep", "-ohE", r"docs/[a-z/-]+[0-9a-z-]*\.md"], cwd=ROOT, capture_output=True, text=True
    )
    named = set(listed.stdout.split())
    assert named and [page for page in sorted(named) if not (ROOT / page).exists()] == []


def test_words_after_the_language_of_a_block_become_its_title() -> None:
    text = "```python before\nx = 1\n```\n\n````markdown write a.md\n```text failure\n```\n````\n\n```toml\n```\n"
    assert build_docs.titled_blocks(text) == text.replace("python before", 'python title="before"').replace(
        "markdown write a.md", 'markdown title="write a.md"'
    )


@pytest.mark.exhaustive
def test_the_pictures_for_editors_are_what_devfix_prints() -> None:
    drifts = [editor_pictures.drift(name, content) for name, content in editor_pictures.files().items()]
    assert not any(drifts), "run: python scripts/editor_pictures.py\n" + "".join(drifts)


def test_the_pictures_for_editors_show_places_and_need_no_network() -> None:
    for name, place in (("run.svg", "train.py:6"), ("pytest.svg", "test_model.py:6"), ("pytest.svg", "model.py:5")):
        text = (editor_pictures.PICTURES / name).read_text("utf-8").replace("&#160;", " ")
        assert place in text and not re.search(r"url\((?!#)|href|@import", text)
    assert (editor_pictures.PICTURES / "sarif.png").stat().st_size < 100_000


def test_the_modules_of_the_simulation_that_its_page_names_are_there() -> None:
    page = (ROOT / "docs" / "explanation" / "simulated-gpu.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([\w/]+\.py|\w+/)`", row)}
    folder = ROOT / "src" / "devfix" / "probe" / "simulation"
    assert len(named) > 20 and not sorted(name for name in named if not (folder / name).exists())
