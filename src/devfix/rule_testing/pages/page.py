"""Read a rule's page: fixed headings, then cases made of fenced blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from devfix.rule_testing.pages.case import Case, Page
from devfix.rule_testing.pages.headings import HEADINGS
from devfix.rule_testing.pages.reading import PageError, read_case
from devfix.sdk import Safety

__all__ = ["PageError", "parse_page", "read_page"]


def read_page(path: Path) -> Page:
    """Read a page. Raises PageError, naming the line, if it is missing or not in the form of a page."""
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise PageError(f"{path}: the rule has no page; `devfix new-rule` writes one to start from") from None
    except (OSError, UnicodeDecodeError) as error:
        raise PageError(f"{path}: cannot be read as UTF-8 text: {error}") from error
    return parse_page(text, path)


def parse_page(text: str, path: Path) -> Page:
    """Read the text of a page; `path` is for messages."""
    tokens = MarkdownIt("commonmark").parse(text)
    outline = list(_outline(tokens))
    titles = [entry for entry in outline if entry[0] == 1]
    if len(titles) != 1 or outline[0] is not titles[0]:
        raise PageError(f"{path}:1: a page begins with its one title, `# …`: the first docstring line of its rule")
    sections = [entry for entry in outline if entry[0] == 2]
    if tuple(name for _, name, _, _ in sections) != HEADINGS:
        raise PageError(
            f"{path}:1: the headings must be, in this order: {', '.join(f'## {name}' for name in HEADINGS)}"
        )
    for _, name, line, body in sections[:-1]:
        if not any(token.type == "paragraph_open" for token in body):
            raise PageError(f"{path}:{line + 1}: nothing is said under `## {name}`")
    safety = _safety(path, sections[2])
    begin = sections[-1][2]
    cases = tuple(_cases(path, [entry for entry in outline if entry[2] > begin]))
    if not cases:
        raise PageError(f"{path}:{begin + 1}: `## Cases` needs cases, each under a `### name` of its own")
    return Page(path, text, titles[0][1], safety, cases)


def _cases(path: Path, entries: Sequence[tuple[int, str, int, list[Token]]]) -> Iterator[Case]:
    """Yield the cases below `## Cases`, from the headings there. Raises PageError for a heading of another level."""
    for level, name, line, _ in entries:
        if level != 3:
            raise PageError(
                f"{path}:{line + 1}: `{'#' * level} {name}`: a case begins with `### name` and has no headings below it"
            )
    known: dict[str, int] = {}
    for _, name, line, body in entries:
        if known.setdefault(name, line) != line:
            raise PageError(
                f"{path}:{line + 1}: a second case {name!r}, as in line {known[name] + 1}: each needs a name of its own"
            )
        yield read_case(path, name, line, body)


def _safety(path: Path, section: tuple[int, str, int, list[Token]]) -> Safety:
    _, _, line, body = section
    said = next((token.content for token in body if token.type == "inline"), "")
    word = (re.match(r"\w+(?=[.:,])", said) or [""])[0].lower()
    if word not in [each.value for each in Safety]:
        words = ", ".join(f"`{each.capitalize()}.`" for each in Safety)
        raise PageError(f"{path}:{line + 1}: the answer to `## {HEADINGS[2]}` begins with one of {words}")
    return Safety(word)


def _outline(tokens: Sequence[Token]) -> Iterator[tuple[int, str, int, list[Token]]]:
    """Yield each heading as (level, text, line from 0, the tokens up to the next heading)."""
    starts = [index for index, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0]
    for start, stop in zip(starts, [*starts[1:], len(tokens)], strict=False):
        line = (tokens[start].map or [0])[0]
        yield int(tokens[start].tag[1]), tokens[start + 1].content, line, list(tokens[start + 3 : stop])
