"""Write the actual results of a rule into its page: `devfix test --update`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from devfix.rule_testing.case import Block, Case, Page
from devfix.rule_testing.format import lasting, matches_failure
from devfix.rule_testing.results import Result


def updated(page: Page, results: Iterable[Result]) -> str:
    """Return the page's text with each case's actual `failure`, and `after` as the rule's first change leaves it.

    A case without `after` is unchanged: only a person can decide that a rule must not match.
    """
    lines = page.text.split("\n")
    blocks = [each for result in results for each in _blocks(result)]
    for start, stop, new in sorted(blocks, reverse=True):
        lines[start:stop] = new
    return "\n".join(lines)


def _blocks(result: Result) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the replacements of lines of the page."""
    case = result.case
    for block in case.blocks:
        if (
            block.role == "failure"
            and result.failure_text
            and not (case.failure and matches_failure(case.failure, result.failure_text))
        ):
            yield block.start + 1, block.stop - 1, lasting(result.failure_text).split("\n")
        if block.role == "after" and result.after is not None:
            yield block.start + 1, block.stop - 1, _code(result.after[block.file])
    if result.after is not None and case.after is not None:
        yield from _missing(case, result.after)


def _missing(case: Case, after: Mapping[str, bytes]) -> Iterator[tuple[int, int, list[str]]]:
    """Yield blocks for files that the rule changed and the page does not show."""
    last = [block for block in case.blocks if block.role == "after"][-1]
    for name, content in after.items():
        if content != case.after_all[name] and name not in (case.after or {}):
            yield last.stop, last.stop, ["", f"```{_language(case, name)} after {name}", *_code(content), "```"]


def _language(case: Case, name: str) -> str:
    return next(block.language for block in case.blocks if _is_before(block, name))


def _is_before(block: Block, name: str) -> bool:
    return block.role == "before" and block.file == name


def _code(content: bytes) -> list[str]:
    return content.decode().removesuffix("\n").split("\n")
