"""Base classes for families of rules: misplaced creations, modules and devices, and mistakes that the source shows."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar, Generic, TypeVar

import libcst as cst

from devfix.model import Confidence, Event, Finding, Safety, SourceLocation
from devfix.sdk.changes import Change, with_safety
from devfix.sdk.fixes.device_source import DeviceSource
from devfix.sdk.fixes.factories import FACTORIES
from devfix.sdk.fixes.modules import root_modules
from devfix.sdk.rules.rule import OperandRule, Rule, fill_message
from devfix.sdk.rules.rule_context import Context
from devfix.sdk.rules.site import Site
from devfix.sdk.trace.scopes import on_device
from devfix.source import File, last_name
from devfix.source.queries.repository import Definition

Evidence = TypeVar("Evidence")
PART_END = re.compile(r"[.\[]|$")  # where the name of a module ends in `self.model.layers[0]`


class CreationRule(OperandRule):
    """A rule for tensors that owned code created without a device, by a kind of call, and that were never moved.

    `kinds` are kinds of creation: "factory", "constant", "random", "numpy", "load". If the function that created the
    tensor has no access to the right device, the confidence is `confidence_far`. Loop variables are never blamed,
    tensors that a module holds only with `reports_held`.

    >>> class Made(CreationRule):
    ...     kinds, message = ("factory",), "{name} was made on {device}."
    ...     def fix(self, ctx, site): return site.add_device()
    >>> Made().diagnose(ctx).reason, [each.title for each in Made().propose(ctx)][0]
    ('`positions` was made on cpu.', 'Give `torch.arange` the device `x.device`')
    """

    kinds: ClassVar[tuple[str, ...]] = ()
    confidence_far: ClassVar[Confidence | None] = None
    reports_held: ClassVar[bool] = False

    def explain(self, ctx: Context) -> str:
        """Return the message if owned code created the operand by a call of the rule's kinds."""
        event = ctx.creation
        if event is None or ctx.created_at is None or not self.is_creation(event) or ctx.is_loop_item:
            return ""
        return "" if ctx.operand.owner is not None and not self.reports_held else super().explain(ctx)

    def is_creation(self, event: Event) -> bool:
        """Return whether a call is of the kind that the rule is about."""
        return event.kind in self.kinds

    def rate(self, ctx: Context) -> Confidence:
        """Return the confidence, which is lower if nothing on the right device was in reach of the creation."""
        return self.confidence if self.confidence_far is None or ctx.is_in_reach else self.confidence_far

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Yield what `fix` yields where the tensor was created; not for loop variables, which are many tensors.

        Those that one comprehension creates for an attribute are created at one place: `self.slow = [zeros(n) for …]`.
        So are those of one module, `model = nn.Linear(4, 1)`, and the rows of one tensor: `for row in torch.eye(n)`.
        """
        for site in ctx.creation_sites():
            is_one = _is_kept_comprehension(site) or _is_of_one_object(site) or _is_gone_through(site)
            if ctx.loop_frame is None or is_one:
                yield from self.fix(ctx, site)

    @abstractmethod
    def fix(self, ctx: Context, site: Site) -> Iterator[Change]:
        """Yield the changes at the call that created the tensor, best first."""


def _is_of_one_object(site: Site) -> bool:
    """Return whether a site is the only call of a class, which creates all of them: outside of loops."""
    call = site.call()
    return call is not None and last_name(call.func)[:1].isupper() and not site.file.loops_around(call)


def _is_gone_through(site: Site) -> bool:
    """Return whether a site is the tensor, in no list, whose rows a loop goes through."""
    inner: cst.CSTNode | None = site.call()
    for each in site.file.ancestors(inner) if inner is not None else ():
        if isinstance(each, cst.For | cst.CompFor):
            return inner is each.iter
        if not isinstance(each, cst.Call | cst.Attribute | cst.Arg):
            return False
        inner = each
    return False


def _is_kept_comprehension(site: Site) -> bool:
    """Return whether a site is in a comprehension that is assigned to an attribute of `self`."""
    is_in_comprehension = False
    for each in site.file.ancestors(site.node):
        is_in_comprehension |= isinstance(each, cst.BaseComp)
        if isinstance(each, cst.Assign):
            return is_in_comprehension and site.file.code(each.targets[0].target).startswith("self.")
    return False


class ModuleRule(OperandRule):
    """A rule for modules on another device than their inputs.

    >>> class Unmoved(ModuleRule):
    ...     message = "{name} is on {device}."
    ...     def fix(self, ctx): return (each for site in ctx.creation_sites() for each in site.move_result())
    >>> [each.title for each in Unmoved().propose(ctx)][0]
    'Move `torch.arange(x.shape[1])` to `x.device`'
    """

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Yield what `fix` yields; then, as unsure, a statement that moves the whole module before its use, or a part.

        The part is the innermost module with the operand that is named there: the others may be elsewhere for a reason.
        """
        yield from self.fix(ctx)
        owners = {owner.frame: owner for owner, _ in root_modules(ctx.failure, ctx.operand)}
        sites = [(site, owners[site.frame]) for site in ctx.sites() if site.frame in owners]
        for site, owner in sites:
            if owner.root != "self":
                yield from with_safety(site.move_module(owner.root), Safety.UNSURE)
        for site, owner in sites:
            parts = [owner.expression[: each.start()] for each in PART_END.finditer(owner.expression)]
            named = [each for each in parts if each != owner.root and site.occurrences(each)]
            for part in named[-1:]:
                is_all = owner.root == "self" and not _has_others(ctx, site, part)
                yield from with_safety(site.move_module(part), Safety.LIKELY if is_all else Safety.UNSURE)

    @abstractmethod
    def fix(self, ctx: Context) -> Iterator[Change]:
        """Yield the changes where modules are constructed, best first."""


def _has_others(ctx: Context, site: Site, part: str) -> bool:
    """Return whether `self` has another module than a part of it, or a tensor, where the operand is."""
    there = (each.expression for each in on_device(site.scope, ctx.operand.device, "module", "tensor"))
    return any(each.startswith("self.") and not re.match(rf"{re.escape(part)}(\W|$)", each) for each in there)


class EvidenceRule(OperandRule, Generic[Evidence]):
    """A rule that searches for evidence against an operand: it says both why the operand is wrong and what to change.

    >>> class Passed(EvidenceRule[Site]):
    ...     message = "{name} is passed on from {device}."
    ...     def search(self, ctx): return next(ctx.sites("use"), None)
    ...     def fix(self, ctx, found): return found.move_argument()
    >>> Passed().diagnose(ctx).reason, [each.title for each in Passed().propose(ctx)][0]
    ('`positions` is passed on from cpu.', 'Move `positions` to `x.device`')
    """

    def explain(self, ctx: Context) -> str:
        """Return what `describe` says of the evidence; "" without any."""
        found = self.search(ctx)
        return self.describe(ctx, found) if found else ""

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Yield what `fix` yields for the evidence."""
        found = self.search(ctx)
        if found:
            yield from self.fix(ctx, found)

    @abstractmethod
    def search(self, ctx: Context) -> Evidence | None:
        """Return the evidence against the operand in view; None, or what is empty, if there is none."""

    def describe(self, ctx: Context, found: Evidence) -> str:
        """Return why the operand is wrong, by the evidence; "" if another rule applies."""
        return fill_message(self.message, ctx)

    @abstractmethod
    def fix(self, ctx: Context, found: Evidence) -> Iterator[Change]:
        """Yield the changes that the evidence suggests, best first."""


class SourceRule(OperandRule):
    """A rule for mistakes that only the source shows, in any file that the failure involves.

    It blames an operand only if it finds something to change.

    >>> class Numbered(SourceRule):
    ...     message = "{name} was left on {device}."
    ...     def find(self, ctx, file):
    ...         for node in file.find(file.module, "torch.arange(x.shape[1])"):
    ...             yield from rewrite(file, {node: expression("torch.arange(8)")}, "Write 8")
    >>> Numbered().diagnose(ctx).reason, [each.title for each in Numbered().propose(ctx)]
    ('`positions` was left on cpu.', ['Write 8'])
    """

    reports_intentional = True

    def concerns(self, ctx: Context) -> bool:
        """Return whether there is anything to change."""
        return any(True for _ in self.propose(ctx))

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Yield what `find` yields for each file."""
        for file in ctx.files():
            yield from self.find(ctx, file)

    @abstractmethod
    def find(self, ctx: Context, file: File) -> Iterator[Change]:
        """Yield the changes for the mistakes in a file."""


class DeviceSourceRule(Rule):
    """A rule for operands that owned code put on a device that it named.

    `only_on` is a prefix of the operand's device. With `only_between_gpus`, failures that involve a tensor with
    dimensions on the host do not match.

    >>> class Named(DeviceSourceRule):
    ...     def rename(self, ctx, found): return ctx.rename_device(found)
    >>> Named().diagnose(ctx).reason, [each.title for each in Named().propose(ctx)][0]
    ('`positions` was put on cpu in main.py:11.', 'Name the device `x.device` in `torch.arange`')
    """

    confidence: ClassVar[Confidence] = Confidence.DIRECT
    only_on: ClassVar[str] = ""
    only_between_gpus: ClassVar[bool] = False

    def diagnose(self, ctx: Context) -> Finding | None:
        """Return the finding for the first operand that `matches`."""
        operands = ctx.failure.operands
        if self.only_between_gpus and any(each.shape and not each.device.startswith("cuda:") for each in operands):
            return None
        for each, place in ctx.placed_operands():
            if each.operand.device.startswith(self.only_on) and self.matches(each, place):
                thread = "" if ctx.failure.thread == "MainThread" else f" in the thread {ctx.failure.thread}"
                said = f"{each.name} was put on {each.operand.device} in {place.shown}{thread}."
                return each.report(said, self.confidence)
        return None

    def matches(self, ctx: Context, place: SourceLocation) -> bool:
        """Return whether the operand, which was placed at `place`, may be wrong as the rule says."""
        return True

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Yield what `rename` yields for the operand, then for the others that owned code placed."""
        for each in ctx.placement_targets():
            if found := each.device_sources():
                yield from self.rename(each, found)

    @abstractmethod
    def rename(self, ctx: Context, found: Sequence[DeviceSource]) -> Iterator[Change]:
        """Yield changes that name another device where it was chosen; `found` starts with the outermost call."""


def pass_device_to_creator(ctx: Context, site: Site) -> Iterator[Change]:
    """Yield changes that give the function that created the operand a parameter for the device, which its call passes.

    >>> [each.title for each in pass_device_to_creator(ctx, next(ctx.sites("creation")))][1]
    'Create `arange(…)` on `model.scale.device`, by a parameter `device`'
    """
    found = ctx.device_sources()
    if found and found[0].parameter:  # which an earlier change has added for another call
        yield from ctx.rename_device(found)
        return
    function, call, event = site.function, site.call(*FACTORIES), ctx.creation
    # A comprehension of the function, which has a frame of its own in older versions of Python, does not call it.
    sites = map(ctx.site_at, event.places[1:]) if event is not None else iter(())
    caller = next((each for each in sites if each is None or each.function is not function), None)
    outer = ctx.call_at(caller.place) if caller is not None else None
    if function is not None and call is not None and outer is not None:
        yield from outer.pass_device(Definition(site.file, function), [call], f"`{last_name(call.func)}(…)`")
