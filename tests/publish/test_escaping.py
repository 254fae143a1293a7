"""What a program says reaches GitHub as text: rendered with GitHub's own Markdown, it is no link, mention or markup."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from programs import FIRST, SECOND, History, written

from devfix.errors import UserError
from devfix.publish.marker import Marker, find, frame_text, replace_text
from devfix.publish.proposals.artifact import open_artifact
from devfix.publish.proposals.convention import title
from devfix.publish.proposals.proposal import proposals
from devfix.publish.proposals.pull_request_text import PullRequestText
from devfix.report.render.machine_readable.json import read
from devfix.report.render.pull_request.markdown import code, fence, prose, remove_links
from devfix.report.render.pull_request.summary import summary
from devfix.report.render.terminal.github import command, outputs, workflow_commands

HOSTILE = [
    "@torvalds and @github/security",
    "fixes #1, closes ada/model#2, resolves GH-3",
    "<img src=x onerror=alert(1)><script>alert(1)</script>",
    "[click](javascript:alert(1)) ![x](https://evil.example/x.png)",
    "https://evil.example www.evil.example mailto:a@evil.example ada@evil.example ftp://x.example",
    "<https://evil.example> [a]: https://evil.example",
    "| a | b |\n| --- | --- |\n# Title\n- [ ] task\n1. one\n> quote\n---\n===",
    "`code` ``more`` ```fence``` ~~~",
    "````\n@torvalds <b>out</b>\n````",
    "$`\\href{https://evil.example}{x}`$ $$x$$",
    "{{ 7 * 7 }} {% raw %} {{ ''.__class__.__mro__ }}",
    "</details></td></table><!-- devfix:end --> --> <!-- devfix:record {} -->",
    "*bold* _it_ ~~gone~~ **x** :smile: &lt;b&gt; &#64;torvalds",
    "0123456789abcdef0123456789abcdef01234567 CVE-2024-1234 GHSA-xxxx-xxxx-xxxx",
    "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07 \u202egnp.exe \u200b@x\ud800",
    "\\`@torvalds\\` \\<b> \\[x](y)",
    "::error::x\r\n::set-output name=a::b %0A::warning::z",
    "`" * 200 + "\n" + "~" * 200,
]
ALLOWED = {
    "p",
    "code",
    "pre",
    "h2",
    "h3",
    "h4",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "strong",
    "details",
    "summary",
    "ul",
    "li",
    "ol",
    "em",
}


class Page(HTMLParser):
    """The elements of a page, and its text outside of code, where GitHub links people and issues."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self._code = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self._code += tag in ("code", "pre")

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag in ("code", "pre")

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.text.append(data)


def rendered(text: str) -> Page:
    return Page(cmarkgfm.github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE))


def assert_harmless(text: str) -> None:
    page = rendered(text)
    assert page.tags <= ALLOWED, page.tags - ALLOWED
    assert page.attributes <= {"lang", "class"}
    for piece in page.text:
        assert not re.search(
            r"(?<![\w.])@\w|#\d|\b(?:GH|gh)-\d|://|\bwww\.|\b[0-9a-f]{7,40}\b|\w@\w|:\w+:|\$", piece
        ), piece
    assert not re.search(r"\\href|javascript:", "".join(page.text)) or "a" not in page.tags


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("put", [prose, code, fence], ids=lambda put: put.__name__)
@pytest.mark.parametrize("frame", ["{}", "a {} b", "| a |\n| --- |\n| {} |", "- {}", "### {}", "**{}**"])
def test_hostile_text_stays_text_wherever_it_is_put(text: str, put: Any, frame: str) -> None:
    if put is fence and frame != "{}":
        return  # a block of code stands alone
    if put is prose and "$" in text:
        assert "$" not in put(text)  # an entity, which no renderer of mathematics takes for its sign
        text = text.replace("$", "")
    assert_harmless(frame.format(put(text)))


@pytest.mark.parametrize("text", ["@torvalds", "fixes #1", "a@b.c", "www.x.y", "1. one", "- x", "`@torvalds`"])
def test_the_check_itself_can_fail(text: str) -> None:
    if text.startswith(("`", "1", "-")):
        return
    with pytest.raises(AssertionError):
        assert_harmless(text)


def test_text_is_still_read_by_people() -> None:
    page = rendered(f"{prose('`x` was made on cuda:0 (see #12), by f(a, *b) | c < d & e')}")
    shown = "".join(page.text).replace("\u200b", "")
    assert "was made on cuda:0 (see #12), by f(a, *b) | c < d & e" in shown
    assert page.tags == {"p", "code"}


def hostile(data: Any, text: str) -> Any:
    """Put a text into every string of a record that its schema leaves free."""
    kept = {"schema", "outcome", "kind", "commit", "safety", "path", "diff", "owner_kind", "rule"}
    if isinstance(data, dict):
        forged = {
            key: value if key in kept and isinstance(value, str) else hostile(value, text)
            for key, value in data.items()
        }
        if isinstance(data.get("world"), dict):
            forged["world"]["device"] = data["world"]["device"]  # one of three, unlike the device of an operand
        return forged
    if isinstance(data, list):
        return [hostile(value, text) for value in data]
    return f"{data} {text}" if isinstance(data, str) else data


def written_words(history: History, tmp_path: Path, text: str) -> tuple[PullRequestText, Any, Any]:
    data = history.data(FIRST, SECOND)
    safe = {key: data[key] for key in ("schema", "outcome", "world", "commit")}
    report = hostile(data, text) | safe
    for fix, own in zip(report["fixes"], data["fixes"], strict=True):
        fix["rule"] = text
        fix["verdict"]["outcome"] = own["verdict"]["outcome"]
        fix["verdict"]["worlds"] = {
            f"{name} {text}": f"{said} {text}" for name, said in own["verdict"]["worlds"].items()
        }
    report["last_run"] = {**data["last_run"], "stdout": text, "stderr": text, "torch": text}
    artifact = open_artifact(written(tmp_path / "report.json", report))
    (proposal,) = proposals(artifact, history.content)
    return PullRequestText(artifact.data, [], lambda rule: ""), proposal, artifact


@pytest.mark.parametrize("text", HOSTILE)
def test_everything_that_is_published_is_harmless(history: History, tmp_path: Path, text: str) -> None:
    words, proposal, artifact = written_words(history, tmp_path, text)
    marker = Marker("p", proposal.failures, (text,))
    for body in (words.body(proposal), summary(artifact.data), words.comment(), words.fixed_comment()):
        body = re.sub("&#36;", "", body)
        assert_harmless(body)
        assert body.encode("utf-8")
    framed_body = frame_text(words.body(proposal), marker)
    found = find(framed_body)
    assert found == marker
    assert framed_body.count("<!-- devfix:") == 3
    named = words.title(proposal)
    assert len(named) <= 90 and "\n" not in named and not re.search(r"@\w|#\d", named)
    for fix in proposal.fixes:
        message = words.message(fix)
        assert not re.search(r"@\w|#\d|\x1b|Devfix-Seal", message)
        assert message.encode("utf-8")
    assert re.fullmatch(r"devfix/[a-z0-9-]+", proposal.branch)


@pytest.mark.parametrize("text", HOSTILE)
def test_workflow_commands_are_one_line_each_and_as_many_as_failures(history: History, text: str) -> None:
    data = read(json.dumps(hostile(history.data(FIRST, SECOND), text)))
    lines = workflow_commands(data).split("\n")
    assert [line.split(" ")[0] for line in lines] == ["::error", "::error", ""]
    assert "\r" not in workflow_commands(data)
    assert all(
        re.fullmatch(r"(?:outcome|failures|fixes|commit|branch)=[^\r\n]*", line) for line in outputs(data).splitlines()
    )


def test_properties_of_commands_cannot_be_left() -> None:
    assert command("error", "a\nb%", {"title": "x,file=y::z"}) == "::error title=x%2Cfile=y%3A%3Az::a%0Ab%25"


def test_templates_of_the_user_come_first_and_are_kept_in_a_sandbox(history: History, tmp_path: Path) -> None:
    artifact = open_artifact(history.artifact(tmp_path / "report.json", FIRST))
    (proposal,) = proposals(artifact, history.content)
    folder = tmp_path / "templates"
    folder.mkdir()
    body = folder / "pull_request.md.jinja"
    body.write_text("Ours: {{ report.command }} {{ '@torvalds' }}")
    assert (
        PullRequestText(artifact.data, [], lambda rule: "", folder).body(proposal)
        == "Ours: python train.py @&#8203;torvalds\n"
    )
    for wrong, said in {
        "{{ ''.__class__.__mro__ }}": "unsafe",
        "{{ nothing }}": "nothing",
        "{% for %}": "line 1",
        "{% include '/etc/passwd' %}": "passwd",
    }.items():
        body.write_text(wrong)
        with pytest.raises(UserError, match=said) as caught:
            PullRequestText(artifact.data, [], lambda rule: "", folder).body(proposal)
        assert "pull_request.md.jinja" in str(caught.value)


def test_pages_of_rules_are_quoted_without_links_to_strangers(history: History, tmp_path: Path) -> None:
    artifact = open_artifact(history.artifact(tmp_path / "report.json", FIRST))
    (proposal,) = proposals(artifact, history.content)
    page = "# Title\n\n## What fails\n\nSee @ada and #12.\n\n```python\nx @ y  # 12\n```\n\n## Cases\n\nnever shown\n"
    body = PullRequestText(artifact.data, [], lambda rule: page).body(proposal)
    assert "What fails" in body and "never shown" not in body and "x @ y  # 12" in body
    assert_harmless(body)


def test_a_huge_report_fits_into_a_pull_request(history: History, tmp_path: Path) -> None:
    data = history.data(FIRST)
    data["failures"][0]["message"] = "x `" * 400_000
    artifact = open_artifact(written(tmp_path / "report.json", data))
    (proposal,) = proposals(artifact, history.content)
    words = PullRequestText(artifact.data, [], lambda rule: "# t\n" + "```\ncode\n```\n" * 20_000)
    assert len(words.body(proposal)) < 65_536
    assert_harmless(words.body(proposal))


@pytest.mark.parametrize(
    ("recent", "expected"),
    [
        ([], "Move `x` to `device`"),
        (["feat(core): add a", "fix: repair b", "docs: say c", "Merge x"], "fix: move `x` to `device`"),
        (["Fix: repair b", "Add a", "Say c"], "Move `x` to `device`"),
        (["add a", "repair b", "say c"], "move `x` to `device`"),
        (["[feat] Add a", "[fix] Repair b", "[docs] Say c"], "[fix] Move `x` to `device`"),
        (["[core] Add a", "[io] Repair b", "[core] Say c"], "Move `x` to `device`"),
        ([":sparkles: Add a", ":bug: Repair b", ":memo: Say c"], ":bug: Move `x` to `device`"),
        (["✨ add a", "🐛 repair b", "📝 say c"], "🐛 move `x` to `device`"),
    ],
)
def test_titles_are_in_the_manner_of_the_repository(recent: list[str], expected: str) -> None:
    assert title("Move `x` to `device`.", recent) == expected


def test_people_may_write_around_what_is_ours() -> None:
    marker = Marker("p", ("f",), tip="1")
    body = f"Hello.\r\n{frame_text('old', marker)}\r\nBye."
    new = replace_text(body, "new", Marker("p", ("f",), tip="2"))
    assert new.startswith("Hello.\n<!--") and new.endswith("\nBye.") and "old" not in new
    assert find(new) == Marker("p", ("f",), tip="2")


@pytest.mark.parametrize(
    "body",
    ["", None, "<!-- devfix:record {} -->", '<!-- devfix:record {"program": 3} -->', "<!-- devfix:record {[} -->"],
)
def test_what_is_no_marker_is_none(body: str | None) -> None:
    assert find(body) is None


def test_a_program_cannot_write_our_marker(history: History, tmp_path: Path) -> None:
    forged = Marker("p", ("forged",), tip="f" * 40).to_comment()
    words, proposal, _ = written_words(history, tmp_path, forged + " <!-- devfix:end -->")
    marker = Marker("p", proposal.failures)
    body = frame_text(words.body(proposal), marker)
    assert find(body) == marker
    assert body.count("<!-- devfix:") == 3
    assert find(replace_text(body, words.body(proposal), marker)) == marker
    assert find(replace_text(body.replace("<!-- devfix:begin -->", ""), None, marker)) == marker


def test_unlinked_text_looks_the_same() -> None:
    assert remove_links("fixes #1 by @ada").replace("\u200b", "") == "fixes #1 by @ada"
