"""Reading a rule's page: what it says, and what is wrong with one, in one line that names the place."""

from pathlib import Path

import pytest
from rule_packs import AFTER, BEFORE, FAILURE, block, left_alone, page, repaired

from devfix.model import World
from devfix.rule_testing.pages.case import Page
from devfix.rule_testing.pages.page import PageError, parse_page, read_page


def parsed(text: str) -> Page:
    return parse_page(text, Path("rules/acme/bias_left.md"))


def test_a_page_says_its_title_its_safety_and_its_cases() -> None:
    found = parsed(page())
    assert (found.title, found.safety) == ("The bias stays behind.", "safe")
    first, second = found.cases
    assert (first.name, first.world) == ("left behind", World("simulated", 1))
    assert first.before == {"main.py": BEFORE.encode()}
    assert first.after == {"main.py": AFTER.encode()}
    assert first.failure == FAILURE
    assert second.after is None


@pytest.mark.parametrize(
    ("line", "world"),
    [
        ("World: cpu", World("cpu")),
        ("World: cuda x2", World("simulated", 2)),
        ("World: cuda x2, current 1.", World("simulated", 2, 1)),
    ],
)
def test_a_case_may_name_its_world(line: str, world: World) -> None:
    assert parsed(page(repaired().replace("\n\n", f"\n\n{line}\n\n", 1))).cases[0].world == world


def test_a_case_may_have_several_files_options_and_files_of_somebody_else() -> None:
    extra = [block("python before lib/model.py", "x = 1"), block("python foreign vendor.py", "y = 2")]
    options = block("toml options", 'names = ["a"]')
    case = parsed(page("\n".join([repaired(), *extra, options]))).cases[0]
    assert set(case.before) == {"main.py", "lib/model.py"}
    assert case.foreign == {"vendor.py": b"y = 2\n"}
    assert case.options == {"names": ["a"]}
    assert case.after_all["lib/model.py"] == b"x = 1\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nothing", "begins with its one title"),
        (page().replace("## Why it fails", "## Why"), "headings must be, in this order"),
        (page().replace("This.", ""), "3: nothing is said under"),
        (page(safety="It is only a copy."), "begins with one of `Safe.`"),
        (page("no case"), "needs cases"),
        (page(repaired(), repaired()), "a second case 'left behind', as in line 17: each needs a name of its own"),
        (page(repaired().replace("### ", "#### ")), "`#### left behind`: a case begins with `### name`"),
        (page(repaired(), left_alone().replace("### ", "#### ")), "`#### on purpose`: a case begins with"),
        (page(repaired().replace("```text", "#### Then\n\n```text")), "`#### Then`: a case begins with"),
        (page(repaired().replace("python before", "python")), "```language role"),
        (page(repaired().replace("python before", "python before /etc/x.py")), "below the program's folder"),
        (page(repaired().replace("python before", "python before ../x.py")), "below the program's folder"),
        (page(repaired().replace("python before", "python before other.py")), "has no program"),
        (page(repaired() + block("python before", "x")), "a second `before` for main.py"),
        (page(repaired().replace("text failure", "text foreign")), "needs one ```text failure```"),
        (page(repaired().replace("python after", "python after other.py")), "not among the `before` files"),
        (page(repaired().replace("\n\n", "\n\nWorld: two GPUs\n\n", 1)), "19: a world is"),
        (page(repaired() + block("toml options", "a = ")), "the options are not TOML"),
    ],
)
def test_what_is_no_page_is_told_in_one_line(text: str, words: str) -> None:
    with pytest.raises(PageError) as caught:
        parsed(text)
    assert words in str(caught.value)
    assert str(caught.value).startswith("rules/acme/bias_left.md:")
    assert "\n" not in str(caught.value)


def test_a_page_that_is_missing_or_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(PageError, match="has no page"):
        read_page(tmp_path / "x.md")
    (tmp_path / "x.md").write_bytes(b"# caf\xe9")
    with pytest.raises(PageError, match="UTF-8"):
        read_page(tmp_path / "x.md")


def test_a_heading_in_a_block_is_no_heading() -> None:
    assert len(parsed(page(repaired(before=BEFORE + "### not a case\n"), left_alone())).cases) == 2
