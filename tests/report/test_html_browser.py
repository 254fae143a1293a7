"""The HTML pages in headless Chromium: widths, schemes, keyboard, the copy button, and axe-core where it is there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from browsers import MISSING, Browser, browser
from full_pages import full_report, hostile
from sample_fleet import sample_page
from sample_search import record as find_record
from sample_suite import suite_record

from devfix.report.render.html.find import find_page
from devfix.report.render.html.repair import repair_page
from devfix.report.render.html.suite import suite_page

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=MISSING)]
AXE = os.environ.get("AXE_CORE", "")
RULES = "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']}"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as session:
        yield session


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    written = {
        "repair": repair_page(full_report()),
        "find": find_page(find_record()),
        "suite": suite_page(suite_record()),
        "fleet": sample_page(),
        "hostile": repair_page(hostile(full_report())),
        "hostile find": find_page(hostile(find_record())),
        "hostile suite": suite_page(hostile(suite_record())),
        "hostile fleet": sample_page(evil=True),
    }
    for name, text in written.items():
        (folder / f"{name}.html").write_text(text, "utf-8")
    return {name: folder / f"{name}.html" for name in written}


@pytest.mark.parametrize(
    "name", ["repair", "find", "suite", "fleet", "hostile", "hostile find", "hostile suite", "hostile fleet"]
)
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_a_page_fits_its_width_and_nothing_is_refused(
    chromium: Browser, pages: dict[str, Path], name: str, width: int
) -> None:
    chromium.open(pages[name], width)
    page, window = chromium.run("return [document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert window == width and page <= window
    assert chromium.messages() == []  # no script failed, and the policy refused neither style nor script
    assert chromium.run("return getComputedStyle(document.body).maxWidth") == "1200px"


def test_the_scheme_of_the_system_is_followed(chromium: Browser, pages: dict[str, Path]) -> None:
    backs = []
    for dark in (False, True):
        chromium.open(pages["repair"], dark=dark)
        backs.append(chromium.run("return getComputedStyle(document.body).backgroundColor"))
    assert backs == ["rgb(255, 255, 255)", "rgb(13, 17, 23)"]


def test_everything_is_reached_and_opened_by_keyboard(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["repair"])
    wanted = chromium.run("return document.querySelectorAll('a, summary, button, [tabindex=\"0\"]').length")
    reached, opened = 0, 0
    chromium.press("\ue004")  # Tab
    while chromium.run("return document.activeElement !== document.body") and reached <= wanted:
        reached += 1
        if chromium.run("return document.activeElement.matches('details:not([open]) > summary')"):
            chromium.press("\ue007")  # Enter
            assert chromium.run("return document.activeElement.parentElement.open")
            opened += 1
        assert chromium.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
        chromium.press("\ue004")
    assert reached == wanted and opened >= 3


def test_the_first_stop_skips_to_the_report(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["repair"])
    chromium.press("\ue004")
    chromium.press("\ue007")
    assert chromium.run("return document.activeElement.id") == "content"


def test_a_command_is_copied_or_selected(chromium: Browser, pages: dict[str, Path]) -> None:
    chromium.open(pages["repair"])
    chromium.run("document.querySelector('.command button').click()")
    said = chromium.wait_for(
        "const told = document.getElementById('copied');"
        "const wait = () => told.textContent ? done(told.textContent) : setTimeout(wait, 20); wait();"
    )
    assert said == "Copied." or chromium.run("return getSelection().toString()") == "git diff HEAD...devfix/x"


@pytest.mark.skipif(not AXE, reason="axe-core is not there: npm install axe-core, and set AXE_CORE to its axe.min.js")
@pytest.mark.parametrize("name", ["repair", "find", "suite", "hostile"])
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing(chromium: Browser, pages: dict[str, Path], name: str, dark: bool) -> None:
    chromium.open(pages[name], 1280, dark)
    chromium.run("for (const each of document.querySelectorAll('details')) each.open = true")
    chromium.run(Path(AXE).read_text("utf-8"))
    found = chromium.wait_for(f"axe.run(document, {RULES}).then(told => done(told.violations))")
    assert not [(each["id"], each["nodes"][0]["html"]) for each in found]
