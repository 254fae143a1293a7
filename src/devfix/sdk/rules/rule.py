"""Base classes of rules: any rule, one that blames an operand, one for a kind of failure, one for a failed call."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from devfix.model import Confidence, Failure, Finding, SourceLocation
from devfix.sdk.changes import Change
from devfix.sdk.code_warning import CodeWarning
from devfix.sdk.declining import Declined, decline
from devfix.sdk.rules.rule_context import Context
from devfix.sdk.rules.site import CallSite
from devfix.source import File


class Rule(ABC):
    """A rule: returns which operand of a failure is wrong and why, and yields changes, best first.

    `supersedes` names rules that come after this one if both have equally good evidence. A rule with options has a
    dataclass `Options` in its module; `options` holds the configured values. `warning_texts`: `warnings` is only called
    for files that contain one of these.

    >>> class Nothing(Rule):
    ...     def diagnose(self, ctx): return None
    ...     def propose(self, ctx): return iter(())
    >>> Nothing().supersedes, list(Nothing().warnings(source.file(failure.at)))
    ((), [])
    """

    supersedes: ClassVar[tuple[str, ...]] = ()
    warning_texts: ClassVar[tuple[str, ...]] = ()
    options: Any = None

    @abstractmethod
    def diagnose(self, ctx: Context) -> Finding | None:
        """Return which operand is wrong, and why; None if the rule does not apply."""

    @abstractmethod
    def propose(self, ctx: Context) -> Iterator[Change]:
        """Yield the changes that may fix it, best first; the operand in view is the blamed one."""

    def warnings(self, file: File) -> Iterator[CodeWarning]:
        """Yield warnings about code in a file that does not fail for now."""
        return iter(())


class OperandRule(Rule):
    """A rule that examines the operands that met others on another device, and blames the first that matches.

    Operands that were placed on purpose are only blamed with `reports_intentional`. `failure_kind` and `needs_object`
    (class names, an object of which must be in scope) restrict the failures. `message` is the reason, in which
    `{name}`, `{device}`, `{peer}`, `{op}`, `{made_at}` and `{failed_at}` are filled in.

    >>> class Left(OperandRule):
    ...     message = "{name} was made by `{op}` in {made_at} and left on {device}; it meets a tensor on {peer}."
    ...     def propose(self, ctx): return iter(())
    >>> Left().diagnose(ctx).reason
    '`positions` was made by `arange` in main.py:11 and left on cpu; it meets a tensor on cuda:0.'
    """

    confidence: ClassVar[Confidence] = Confidence.DIRECT
    reports_intentional: ClassVar[bool] = False
    failure_kind: ClassVar[str] = ""
    needs_object: ClassVar[tuple[str, ...]] = ()
    message: ClassVar[str] = ""

    def diagnose(self, ctx: Context) -> Finding | None:
        """Return the finding for the first suspect that `explain` gives a reason for."""
        if self.failure_kind not in ("", ctx.failure.kind) or not self.concerns(ctx):
            return None
        if self.needs_object and not ctx.objects(*self.needs_object):
            return None
        declined: list[str] = []
        for each in self.suspects(ctx):
            try:
                if (self.reports_intentional or not each.is_intentional) and (reason := self.explain(each)):
                    return each.report(reason, self.rate(each))
            except Declined as error:
                declined.append(str(error))
        if declined:
            decline("; ".join(dict.fromkeys(declined)))
        return None

    def concerns(self, ctx: Context) -> bool:
        """Return whether the rule applies to the failure as a whole."""
        return True

    def suspects(self, ctx: Context) -> Iterator[Context]:
        """Yield the operands that may be wrong, likeliest first."""
        return ctx.suspects()

    def matches(self, ctx: Context) -> bool:
        """Return whether `message` is true of the operand in view."""
        return True

    def explain(self, ctx: Context) -> str:
        """Return why the operand in view is wrong; "" if it is not, or another rule applies."""
        return fill_message(self.message, ctx) if self.matches(ctx) else ""

    def rate(self, ctx: Context) -> Confidence:
        """Return how good the evidence against the operand in view is."""
        return self.confidence


class FailureRule(Rule):
    """A rule for one kind of failure whose location shows what is wrong.

    `device` is where the operand should be. With `needs_location = False`, failures outside of owned code match too. A
    `pattern` must be in the failure's message; its named groups are placeholders of `message` and `device`.

    >>> class Forked(FailureRule):
    ...     failure_kind, message, device = "fork", "{failed_at} runs in a forked process.", "cpu"
    ...     def propose(self, ctx): return iter(())
    >>> Forked().diagnose(ctx) is None
    True
    """

    confidence: ClassVar[Confidence] = Confidence.DIRECT
    failure_kind: ClassVar[str]
    device: ClassVar[str] = ""
    needs_location: ClassVar[bool] = True
    pattern: ClassVar[re.Pattern[str] | None] = None
    message: ClassVar[str] = ""

    def diagnose(self, ctx: Context) -> Finding | None:
        """Return the finding if the failure is of the rule's kind."""
        if ctx.failure.kind != self.failure_kind or (self.needs_location and ctx.failure.at is None):
            return None
        if self.pattern is not None and self.pattern.search(ctx.failure.message) is None:
            return None
        ctx = ctx.view(self.find_operand(ctx.failure))
        reason = self.explain(ctx)
        return ctx.report(reason, self.confidence, self.locate(ctx)) if reason else None

    def find_operand(self, failure: Failure) -> int:
        """Return the index of the operand that is wrong."""
        return 0

    def explain(self, ctx: Context) -> str:
        """Return why it fails; "" if another rule applies."""
        return fill_message(self.message, ctx, self.groups(ctx))

    def locate(self, ctx: Context) -> str:
        """Return the device on which the operand should be."""
        return self.device.format_map(self.groups(ctx))

    def groups(self, ctx: Context) -> dict[str, str]:
        """Return the named groups that the pattern finds in the failure's message."""
        found = self.pattern.search(ctx.failure.message) if self.pattern is not None else None
        return found.groupdict() if found is not None else {}


class CallRule(FailureRule):
    """A rule for one kind of failure that is fixed at the call that failed; an operator such as `+` is no call.

    >>> class Added(CallRule):
    ...     failure_kind, message = "device-mismatch", "{failed_at} is given tensors of two devices."
    ...     def fix(self, ctx, site): return site.change_to(expression("x"), f"Leave `{site.name}` out")
    >>> Added().diagnose(ctx).reason, [each.title for each in Added().propose(ctx)]
    ('main.py:12 is given tensors of two devices.', [])
    """

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Yield what `fix` yields; nothing if no call of owned code failed."""
        site = ctx.failing_call()
        if site is not None:
            yield from self.fix(ctx, site)

    @abstractmethod
    def fix(self, ctx: Context, site: CallSite) -> Iterator[Change]:
        """Yield the changes at the call that failed, best first."""


def fill_message(message: str, ctx: Context, more: Mapping[str, str] | None = None) -> str:
    """Return the message of a rule with the placeholders for the operand in view, and `more` of them, filled in.

    >>> fill_message("{name} is on {device}.", ctx)
    '`positions` is on cpu.'
    """
    words = {"failed_at": _show(ctx.failure.at)}
    if ctx.failure.operands:
        peers = [each.device for each in ctx.failure.operands if each.device != ctx.operand.device]
        words |= {
            "name": ctx.name,
            "device": ctx.operand.device,
            "peer": ctx.peer.device if peers else "",
            "op": ctx.creation.op.removeprefix("aten::") if ctx.creation is not None else "",
            "made_at": _show(ctx.created_at),
        }
    return message.format_map({**words, **(more or {})})


def _show(place: SourceLocation | None) -> str:
    return place.shown if place is not None else ""
