"""Decline a failure with a reason, which `devfix repair --explain-rules` and `devfix test` show."""

from __future__ import annotations

from typing import NoReturn


class Declined(Exception):
    """A rule declines; the message is its reason."""


def decline(reason: str) -> NoReturn:
    """Decline the operand in view, the failure, or further changes, with a reason for the user.

    In `matches` or `explain`, the next operand is examined; elsewhere in `diagnose`, the rule blames nothing; in
    `propose`, it yields no more changes. It raises an exception, so nothing after it runs.

    >>> class Left(OperandRule):
    ...     message = "{name} was left on {device}."
    ...     def matches(self, ctx): decline("it is made in a function") if ctx.created_at.function else None
    ...     def propose(self, ctx): return iter(())
    >>> Left().diagnose(ctx)
    Traceback (most recent call last):
    devfix.sdk.declining.Declined: it is made in a function
    """
    raise Declined(reason)
