"""The context that both functions of a rule receive: the failure, an operand and its peer, and the sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from devfix.model import (
    Confidence,
    Event,
    Finding,
    ModuleOwner,
    NameRef,
    Operand,
    Safety,
    ScopeVariable,
    SourceLocation,
)
from devfix.sdk.changes import Change, first_is_safe, with_safety
from devfix.sdk.fixes.device_source import DeviceSource, change_device_sources, device_sources, pin_where_assigned
from devfix.sdk.fixes.host import host_copies
from devfix.sdk.fixes.modules import construction_sites, is_never_moved, largest_misplaced_module, root_modules
from devfix.sdk.rules.failure_view import FailureView
from devfix.sdk.rules.site import CallSite, Site, is_in_reach
from devfix.sdk.trace.derived import StoredAttribute, stored_attributes
from devfix.sdk.trace.history import loop_event
from devfix.sdk.trace.holders import is_kept_copy
from devfix.sdk.trace.loop_values import loop_variable_frame
from devfix.sdk.trace.operands import (
    creation_location,
    describe,
    is_intentional,
    misplaced_operands,
    names_in,
    peer_operand,
    target_device,
    was_moved_to,
)
from devfix.sdk.trace.placement import explicitly_placed, placement_locations, placement_targets
from devfix.sdk.trace.scopes import named_at
from devfix.sdk.trace.sites import FixSite, SiteKind, fix_sites
from devfix.source import File
from devfix.source.edits.expressions import is_move


@dataclass(frozen=True)
class Context(FailureView):
    """A failure as a rule sees it, with one operand in view: the blamed one, or a suspect.

    `suspects` yields a context for each operand that may be wrong; `sites` and `call_at` find the source code.

    >>> ctx.name, ctx.operand.device, ctx.peer.device, ctx.target_device
    ('`positions`', 'cpu', 'cuda:0', 'cuda:0')
    >>> ctx.created_at.line, ctx.is_intentional, [site.kind for site in ctx.sites()]
    (11, False, ['creation', 'argument', 'use'])
    """

    @property
    def operand(self) -> Operand:
        """The operand in view. Raises IndexError if the failure has no operand of that number."""
        number, count = self.finding.operand, len(self.failure.operands)
        if not 0 <= number < count:
            raise IndexError(f"operand {number}, of a failure with {count} operand{'s'[: count != 1]}, counted from 0")
        return self.failure.operands[number]

    @property
    def peer(self) -> Operand:
        """The operand on another device that the one in view met. Raises LookupError if there is none."""
        found = peer_operand(self.diagnosis)
        if found is None:
            raise LookupError("no operand is on another device")
        return found

    @property
    def target_device(self) -> str:
        """The device that the operand should be on: the finding's device, else the peer's, else ""."""
        return target_device(self.diagnosis)

    @property
    def name(self) -> str:
        """A short name of the operand for messages."""
        return describe(self.operand)

    @property
    def creation(self) -> Event | None:
        """The event in which the operand's data was created."""
        return self.operand.creation

    @property
    def created_at(self) -> SourceLocation | None:
        """The location where owned code called the factory; None if other code did."""
        return creation_location(self.operand)

    @property
    def is_intentional(self) -> bool:
        """True if the operand was placed on its device on purpose."""
        return is_intentional(self.failure, self.operand)

    @property
    def is_held(self) -> bool:
        """True if the operand is a parameter or buffer, which its module moves, and no copy of one in a dictionary."""
        kind = self.operand.owner.kind if self.operand.owner is not None else ""
        return kind in ("parameter", "buffer") and not is_kept_copy(self.failure, self.operand)

    @property
    def is_loop_item(self) -> bool:
        """True if the operand is an item of a loop that still runs."""
        return loop_event(self.failure, self.operand) is not None

    @property
    def is_in_reach(self) -> bool:
        """True if the function that created the operand still runs, or had something on the peer's device in scope."""
        return is_in_reach(self.failure, self.operand, self.peer.device, self.site_at(self.created_at))

    @property
    def loop_frame(self) -> int | None:
        """The number of the outermost frame in which the operand is a loop variable."""
        return loop_variable_frame(self.diagnosis, self.sources)

    def names_in(self, frame: int | None) -> list[NameRef]:
        """Return what holds the operand in a frame, before tensors that it was derived from; nothing for no frame."""
        return names_in(self.operand, frame) if frame is not None else []

    def names_at(self, place: SourceLocation) -> list[str]:
        """Return the names at a location of the operand, or of a tensor it was computed from; nearest first."""
        return named_at(self.failure, place, self.operand)

    def stored_attributes(self) -> list[StoredAttribute]:
        """Return the attributes that store the operand or a tensor from which it was computed, deepest frame first."""
        return stored_attributes(self.failure, self.operand)

    def root_modules(self) -> list[tuple[ModuleOwner, ScopeVariable]]:
        """Return the module that registers the operand, as each frame sees it, outermost frame first."""
        return root_modules(self.failure, self.operand)

    def misplaced_module(self, frame: int | None = None) -> ScopeVariable | None:
        """Return the largest module with the operand that is on its device as a whole, as a frame, or any, sees it."""
        return largest_misplaced_module(self.failure, self.operand, frame)

    def is_never_moved(self, module: ScopeVariable) -> bool:
        """Return whether neither a module was moved nor one that holds it, as far as running functions name them."""
        return is_never_moved(self.failure, module, (each.node for each in self.calls() if is_move(each.node)))

    def moved_to(self, device_type: str) -> SourceLocation | None:
        """Return where the operand was moved to a kind of device on purpose; None if it was not."""
        return was_moved_to(self.operand, device_type)

    def report(self, reason: str, confidence: Confidence = Confidence.DIRECT, device: str = "") -> Finding:
        """Return the finding that the operand in view is wrong."""
        return Finding(self.finding.operand, reason, confidence, device)

    def view(self, index: int) -> Context:
        """Return the context with another operand in view, to be moved to its peer's device."""
        return replace(self, finding=replace(self.finding, operand=index, device=""))

    def view_peer(self) -> Context:
        """Return the context with the peer in view."""
        return self.view(self.failure.operands.index(self.peer))

    def with_operand(self, operand: Operand) -> Context:
        """Return the context with another tensor in scope in view, which the operand follows."""
        operands = list(self.failure.operands)
        operands[self.finding.operand] = operand
        return replace(self, failure=replace(self.failure, operands=tuple(operands)))

    def follow(self, variable: ScopeVariable) -> Context:
        """Return the context with the tensor in view whose device the operand was given."""
        names = tuple(
            NameRef(number, each.expression)
            for number, frame in enumerate(self.failure.frames)
            for each in frame.scope
            if each.kind == "tensor" and each.history == variable.history and each.shape == variable.shape
        )
        return self.with_operand(
            Operand(variable.expression, variable.device, shape=variable.shape, names=names, history=variable.history)
        )

    def suspects(self) -> Iterator[Context]:
        """Yield a context for each operand that may be wrong, likeliest first."""
        return (self.view(index) for index, _, _ in misplaced_operands(self.failure))

    def placed_operands(self) -> Iterator[tuple[Context, SourceLocation]]:
        """Yield the operands that owned code placed, and where it did, likeliest to be wrong first."""
        return ((self.view(index), place) for index, _, place in explicitly_placed(self.failure))

    def placement_targets(self) -> Iterator[Context]:
        """Yield this context, then one for each other operand that owned code placed."""
        return (replace(self, finding=each.finding) for each in placement_targets(self.diagnosis))

    def placement_locations(self) -> list[SourceLocation]:
        """Return where the operand was put on its device, innermost first; without operands, the owned stack."""
        return placement_locations(self.diagnosis)

    def device_sources(self) -> list[DeviceSource]:
        """Return where the operand's device was chosen, outermost call first."""
        return device_sources(self.failure, self.placement_locations(), self.sources)

    def rename_device(self, found: Sequence[DeviceSource], reason: str = "") -> Iterator[Change]:
        """Yield changes that name the right device where it was chosen, then in each callee."""
        return change_device_sources(self.diagnosis, found, reason)

    def pin_device(self, name: str) -> Iterator[Change]:
        """Yield changes that resolve the device of an attribute to one GPU at its assignment."""
        return pin_where_assigned(self.diagnosis, self.sources, name)

    def copy_to_host(self) -> Iterator[Change]:
        """Yield changes that copy the operand to the host where the deepest owned frame passes it on."""
        return host_copies(self.diagnosis, self.sources)

    def sites(self, *kinds: SiteKind) -> Iterator[Site]:
        """Yield the editable places in the operand's history, its creation first, its failing use last."""
        for fix_site in fix_sites(self.diagnosis):
            if not kinds or fix_site.kind in kinds:
                yield from self._sites(replace(fix_site, expressions=self._with_properties(fix_site)))

    def uses(self) -> Iterator[Site]:
        """Yield the sites at which running frames pass the operand on, and the one that fails."""
        return self.sites("argument", "use")

    def creation_sites(self) -> Iterator[Site]:
        """Yield the site at which owned code called the factory; nothing if other code did."""
        return (site for site in self.sites("creation") if site.place == self.created_at)

    def construction_sites(self, module: ScopeVariable) -> list[Site]:
        """Return the calls that constructed a module, innermost first."""
        sites = construction_sites(self.failure, module, self.sources)
        return [site for fix_site in sites for site in self._sites(fix_site)]

    def move_constructed(self, module: ScopeVariable, safety: Safety = Safety.SAFE) -> Iterator[Change]:
        """Yield changes that move a module at its construction, first outside of constructors; inside, as unsure."""
        sites = sorted(self.construction_sites(module), key=lambda site: site.is_in_constructor)
        return first_is_safe(with_safety(site.move_result(), safety) for site in sites)

    def site_at(self, place: SourceLocation | None, kind: SiteKind = "creation") -> Site | None:
        """Return the site at a location, with what was in scope there."""
        if place is None:
            return None
        return next(self._sites(FixSite(kind, place, self.scope_at(place))), None)

    def site_of(self, frame: int | None) -> Site | None:
        """Return the site at which a frame runs, by its number."""
        if frame is None:
            return None
        found = self.failure.frames[frame]
        return next(self._sites(FixSite("use", found.place, found.scope, (), frame)), None)

    def failing_site(self) -> Site | None:
        """Return the site of the deepest frame in owned code."""
        found = [number for number, each in enumerate(self.failure.frames) if each.place == self.failure.at]
        return self.site_of(found[-1]) if found else None

    def call_at(self, place: SourceLocation | None, *names: str) -> CallSite | None:
        """Return the call at a location, with one of these last names if any are given."""
        site = self.site_at(place)
        call = site.call(*names) if site is not None else None
        return CallSite(site.diagnosis, site.sources, site.file, call, site.fix_site) if site and call else None

    def call_of(self, file: File, node: cst.CSTNode | None) -> CallSite | None:
        """Return the site of a call in a file; None if the node is not a call."""
        if not isinstance(node, cst.Call):
            return None
        function = file.function_of(node)
        places = [frame.place for frame in reversed(self.failure.frames)] + [place for place, _ in self.failure.scopes]
        roots = ((place, file.root_at(place)) for place in places if place.path == file.path)
        name = next((place.function for place, root in roots if root and file.function_of(root) is function), "")
        place = file.place_of(node, name)
        return CallSite(self.diagnosis, self.sources, file, node, FixSite("creation", place, self.scope_at(place)))

    def calls(self) -> Iterator[CallSite]:
        """Yield every call in the editable files that the failure involves."""
        for file in self.files():
            for node in file.within(file.module):
                if isinstance(node, cst.Call):
                    yield CallSite(self.diagnosis, self.sources, file, node, FixSite("use", file.place_of(node), ()))

    def failing_call(self, *names: str) -> CallSite | None:
        """Return the call at the failing location, with one of these last names if any are given."""
        return self.call_at(self.failure.at, *names)

    def _with_properties(self, fix_site: FixSite) -> tuple[str, ...]:
        """Return the names of the operand at a site, and the properties that return it: `net.scale` for `net._scale`.

        No trace has a property's name, since to read one may run code of the program.
        """
        names, types = [*fix_site.expressions], {each.expression: each.type for each in fix_site.scope}
        for whole, _, attribute in (each.rpartition(".") for each in fix_site.expressions):
            classes = self.repository.classes(types[whole]) if types.get(whole) and attribute.isidentifier() else []
            if len(classes) == 1:
                found = self.repository.properties_returning(classes[0], attribute)
                names += [f"{whole}.{each}" for each in found]
        return tuple(dict.fromkeys(names))

    def _sites(self, fix_site: FixSite) -> Iterator[Site]:
        file = self.sources.file(fix_site.place)
        node = file.root_at(fix_site.place) if file is not None else None
        if file is not None and node is not None:
            yield Site(self.diagnosis, self.sources, file, node, fix_site)
