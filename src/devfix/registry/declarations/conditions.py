"""Decide whether an operand is as a declaration says."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from devfix.registry.declarations.schema import When, texts
from devfix.sdk import Context, Event


def holds(when: When, ctx: Context) -> bool:
    """Return whether the operand in view fulfils all conditions that are given."""
    operand = ctx.operand
    is_made = not (when.kinds or when.ops) or (
        ctx.creation is not None and ctx.created_at is not None and created_by(when, ctx.creation)
    )
    return (
        is_made
        and operand.device.startswith(when.device)
        and (not when.argument or _is_any(operand.argument, texts(when.argument)))
        and when.moved in (None, bool(operand.transfers))
        and when.in_module in (None, operand.owner is not None)
        and (when.in_reach is None or when.in_reach == ctx.is_in_reach)
    )


def created_by(when: When, event: Event) -> bool:
    """Return whether a creation is of the kinds, if any are given, and by one of the operators, if any are given."""
    kinds = (when.kinds,) if isinstance(when.kinds, str) else when.kinds
    name = re.split(r"[.:]+", event.op)[-1]
    return (not kinds or event.kind in kinds) and (not when.ops or _is_any(name, texts(when.ops)))


def _is_any(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, each) for each in patterns)
