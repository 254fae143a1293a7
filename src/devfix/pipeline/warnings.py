"""Warnings of rules about code without a failure; only those that a run confirms are reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from devfix.model import Outcome, Run, ScopeVariable, SourceLocation
from devfix.pipeline.opening.session import Session
from devfix.registry import Rule
from devfix.registry.timeout import describe_error, within
from devfix.sdk import CodeWarning
from devfix.source import File, SourceError

FILES = 40  # at most, parsed for one rule
LINES = 2_000  # at most, watched in one run
SECONDS = 10.0  # for one rule and one file


def confirmed_warnings(session: Session, rules: Sequence[Rule], final: Run) -> Iterator[str]:
    """Yield a sentence for each warning that one more run confirms. Without warnings there is no run."""
    if final.outcome not in (Outcome.CLEAN, Outcome.FAILED):
        return
    found = [(rule, each) for rule in rules for each in _warnings(session, rule)]
    if not found:
        return
    lines = [SourceLocation(each.path, line) for _, each in found for line in range(each.first, each.last + 1)]
    watch = list(dict.fromkeys(lines))[:LINES]
    seen = session.observer.run(final.world, session.files, watch=watch, fresh=False).watched
    for rule, each in found:
        scopes = (scope for place, scope in seen if place.path == each.path and each.first <= place.line <= each.last)
        if any(_is_device(scope, each.expression) for scope in scopes):
            yield f"{each.path}:{each.line}: {each.reason} Not changed, since no run fails by it ({rule.id})."


def _warnings(session: Session, rule: Rule) -> Iterator[CodeWarning]:
    paths = session.repository.containing(rule.warning_texts) if rule.warning_texts else ()
    for path in [path for path in paths if path.endswith(".py")][:FILES]:
        data = session.content(path)
        if data is None:
            continue
        try:
            yield from within(SECONDS, partial(_collect, rule, File(path, data)))
        except SourceError:
            continue
        except Exception as error:
            session.notes.add(f"rule {rule.id} disabled: warnings {describe_error(error)}")
            return


def _collect(rule: Rule, file: File) -> list[CodeWarning]:
    return list(rule.warnings(file))


def _is_device(scope: tuple[ScopeVariable, ...], expression: str) -> bool:
    """Return whether an expression is a torch.device: by itself, or as the `device` of a tensor or a module."""
    owner = expression.removesuffix(".device")
    return any(
        (each.expression == expression and each.kind == "device")
        or (each.expression == owner != expression and each.kind in ("tensor", "module"))
        for each in scope
    ) and not any(each.expression == expression and each.kind in ("string", "index") for each in scope)
