"""A module is created on the host when it is first needed, while its input is on another device."""

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    EvidenceRule,
    Safety,
    ScopeVariable,
    SourceLocation,
    is_in_constructor,
)


class ModuleCreatedOnDemand(EvidenceRule[ScopeVariable]):
    """Moves the module where it is created, to its input's device."""

    confidence = Confidence.NEARBY

    def search(self, ctx: Context) -> ScopeVariable | None:
        """Return a module in scope that was created in a method, is on the operand's device, and computed or has it."""
        scopes = [frame.scope for frame in reversed(ctx.failure.frames)]
        for module in (each for scope in scopes for each in scope if each.kind == "module"):
            place, is_moved = _caller(module), bool(module.transfers)
            if place is None or is_moved or module.device != ctx.operand.device:
                continue
            is_late = not is_in_constructor(place.function) and "." in place.function
            # An object stores the module: a local one is created and moved by the lines that use it.
            if is_late and "." in module.expression and _is_concerned(ctx, module):
                return module
        return None

    def describe(self, ctx: Context, found: ScopeVariable) -> str:
        """Report the result of a module that was created outside of constructors and never moved."""
        place = _caller(found)
        method = place.function if place is not None else ""
        meets = "its input is" if ctx.is_held else "what it computes meets a tensor"
        return (
            f"`{found.expression}` ({found.type}) is created on {found.device} in `{method}` when it is first needed,"
            f" and never moved, while {meets} on {ctx.peer.device}."
        )

    def fix(self, ctx: Context, found: ScopeVariable) -> Changes:
        """Move it where it is constructed."""
        return ctx.move_constructed(found, Safety.LIKELY)


def _caller(module: ScopeVariable) -> SourceLocation | None:
    """Return where owned code called the constructor of a module's class."""
    places = module.history[0].places if module.history and module.history[0].kind == "made" else ()
    own = [number for number, place in enumerate(places) if place.function == f"{module.type}.__init__"]
    outside = places[own[-1] + 1 :] if own else places
    return next((place for place in outside if place.owned), None)


def _is_concerned(ctx: Context, module: ScopeVariable) -> bool:
    """Return whether a module has computed the operand; or has it, while what keeps the module does not register it.

    So it is with `@cached_property`, which writes to the `__dict__` of a module.
    """
    if ctx.is_held:
        return any(owner.root == module.expression for owner in ctx.operand.holders)
    return _has_computed(ctx, module)


def _has_computed(ctx: Context, module: ScopeVariable) -> bool:
    """Return whether a step of the operand's history ran in a method of the module's class."""
    places = (place for event in ctx.operand.history for place in event.places[:2])
    return any(place.function.startswith(f"{module.type}.") for place in places)
