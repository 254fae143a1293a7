"""Format results: what passed, what failed, and the difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from devfix.rule_testing.checking.page_check import Judgement
from devfix.rule_testing.checking.results import Problem, Result


def format_problems(result: Result) -> str:
    """Return what is wrong with a case, one problem below the other, with the evidence indented."""
    return "\n".join([*_lines(result.problems, ""), *(f"note: {remark}" for remark in result.remarks)])


def format_judgement(judgement: Judgement) -> str:
    """Return a rule and its cases, one line each, with the problems of those that failed."""
    lines = [judgement.rule.id, *_lines(judgement.problems, "  FAIL  ")]
    for result in judgement.results:
        word = "FAIL" if result.problems else "ok  "
        nothing = result.why_nothing and result.case.after is None and not result.problems
        why = f"  (left alone: {result.why_nothing})" if nothing else ""
        lines += [f"  {word}  {result.case.name}{why}", *_lines(result.problems, "        ")]
        lines += [f"        note: {remark}" for remark in result.remarks]
        if result.output:
            lines += ["        printed by the rule:", *_indent(result.output.rstrip("\n"), 12)]
    return "\n".join(lines)


def format_totals(
    judgements: Sequence[Judgement], seconds: float, broken: int = 0, runs: tuple[int, int] | None = None
) -> str:
    """Return how many rules and cases there were, how many failed, how many modules are not rules, and the time.

    `runs` is how many runs were made, and how many replayed.
    """
    results = [result for judgement in judgements for result in judgement.results]
    failed = sum(bool(result.problems) for result in results)
    pages = sum(bool(judgement.problems) for judgement in judgements)
    counted = ((failed, "failed"), (pages, "pages not in order"), (broken, "modules that are not rules"))
    bad = ", ".join(f"{number} {what}" for number, what in counted if number)
    made, replayed = runs or (0, 0)
    told = f"; {made} runs made, {replayed} replayed" if runs and replayed else ""
    return f"\n{len(judgements)} rules, {len(results)} cases: {bad or 'all pass'} ({seconds:.1f} s{told})"


def _lines(problems: Sequence[Problem], start: str) -> Iterator[str]:
    for problem in problems:
        yield start + problem.what
        if problem.shown:
            yield from _indent(problem.shown, len(start) + 4)


def _indent(text: str, columns: int) -> Iterator[str]:
    return (f"{' ' * columns}{line}".rstrip() for line in text.split("\n"))
