"""Write the actual results of a rule into its page: `devfix test --update`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import unified_diff

from devfix.registry import Rule
from devfix.rule_testing.checking.format import lasting, matches_failure
from devfix.rule_testing.checking.results import Result
from devfix.rule_testing.checking.runner import Bench
from devfix.rule_testing.pages.case import Block, Case, Page
from devfix.rule_testing.pages.page import read_page


@dataclass(frozen=True)
class BlockUpdate:
    """New lines for a block of a page, in place of those from `start` to before `stop`, from 0.

    `old` is what is there. If it is not empty, somebody may have written it by hand.
    """

    case: str
    block: str
    start: int
    stop: int
    old: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def overwrites(self) -> bool:
        """True if something on the page is replaced."""
        return any(line.strip() for line in self.old)

    @property
    def difference(self) -> str:
        """The lines that differ, as a unified diff."""
        lines = unified_diff(self.old, self.new, f"{self.block} (on the page)", f"{self.block} (actual)", "", "", 2, "")
        return "\n".join(lines)


def update_page(rule: Rule, bench: Bench, accept: Callable[[BlockUpdate], bool]) -> bool:
    """Write the rule's results into its page; return whether that changed it. Raises PageError if it is not a page.

    `accept` is asked before anything on the page is replaced.
    """
    page = read_page(rule.page)
    found = list(updates(page, bench.check_all([(rule, case) for case in page.cases])))
    kept = [update for update in found if not update.overwrites or accept(update)]
    text = update_text(page, kept)
    if text == page.text:
        return False
    rule.page.write_bytes(text.encode())
    return True


def update_text(page: Page, chosen: Iterable[BlockUpdate]) -> str:
    """Return the page's text with updates."""
    lines = page.text.split("\n")
    for update in sorted(chosen, key=lambda each: (each.start, each.stop, each.new), reverse=True):
        lines[update.start : update.stop] = update.new
    return "\n".join(lines)


def updates(page: Page, results: Iterable[Result]) -> Iterator[BlockUpdate]:
    """Yield each block that is not as it happened: the actual `failure`, and `after` as the first change leaves it.

    A case without `after` gets none: only a person can decide that a rule must not match.
    """
    lines = page.text.split("\n")
    for result in results:
        for block, name, start, stop, new in _blocks(result):
            old = tuple(lines[start:stop])
            if old != tuple(new):
                yield BlockUpdate(result.case.name, f"{block} {name}", start, stop, old, tuple(new))


def _blocks(result: Result) -> Iterator[tuple[str, str, int, int, list[str]]]:
    """Yield the replacements of lines of the page, each with the role and the file of its block."""
    case = result.case
    for block in case.blocks:
        if (
            block.role == "failure"
            and result.failure_text
            and not (case.failure and matches_failure(case.failure, result.failure_text))
        ):
            new = lasting(result.failure_text).split("\n")
            yield block.role, "", block.start + 1, block.stop - 1, new
        if block.role == "after" and result.after is not None:
            yield block.role, block.file, block.start + 1, block.stop - 1, _code(result.after[block.file])
    if result.after is not None and case.after is not None:
        yield from _missing(case, result.after)


def _missing(case: Case, after: Mapping[str, bytes]) -> Iterator[tuple[str, str, int, int, list[str]]]:
    """Yield blocks for files that the rule changed and the page does not show."""
    last = [block for block in case.blocks if block.role == "after"][-1]
    for name, content in after.items():
        if content != case.after_all[name] and name not in (case.after or {}):
            new = ["", f"```{_language(case, name)} after {name}", *_code(content), "```"]
            yield "after", name, last.stop, last.stop, new


def _language(case: Case, name: str) -> str:
    return next(block.language for block in case.blocks if _is_before(block, name))


def _is_before(block: Block, name: str) -> bool:
    return block.role == "before" and block.file == name


def _code(content: bytes) -> list[str]:
    return content.decode().removesuffix("\n").split("\n")
