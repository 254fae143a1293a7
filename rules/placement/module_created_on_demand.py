"""A module is made on the host when it is first needed, and what it computes meets its input's device."""

from collections.abc import Iterator

from devfix.sdk import Change, Confidence, Context, OperandRule, ScopeVariable, SourceLocation


class ModuleCreatedOnDemand(OperandRule):
    """Moves the module where it is made, so that it follows its input."""

    confidence = Confidence.NEARBY

    def explain(self, ctx: Context) -> str:
        """Report an operand that a module computed which was made outside of constructors and never moved."""
        module = _module(ctx)
        place = _caller(module) if module is not None else None
        if module is None or place is None:
            return ""
        return (
            f"`{module.expression}` ({module.type}) is made on {module.device} in `{place.function}` when it is first"
            f" needed, and nobody moves it, while what it computes meets a tensor on {ctx.peer.device}."
        )

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Move it where it is constructed."""
        module = _module(ctx)
        return ctx.move_constructed(module, "likely") if module is not None else iter(())


def _module(ctx: Context) -> ScopeVariable | None:
    """A module in scope that was made in a method, lies with all it has where the operand does, and computed it."""
    scopes = [frame.scope for frame in reversed(ctx.failure.frames)] if not ctx.is_held else []
    for module in (each for scope in scopes for each in scope if each.kind == "module"):
        place, is_moved = _caller(module), any(event.kind == "move" for event in module.history)
        if place is None or is_moved or module.device != ctx.operand.device:
            continue
        is_late = not place.function.endswith("__init__") and "." in place.function
        # The module's object keeps it: a local one is made and moved by the lines that use it.
        if is_late and "." in module.expression and _has_computed(ctx, module):
            return module
    return None


def _caller(module: ScopeVariable) -> SourceLocation | None:
    """Where owned code called the constructor of a module's class."""
    places = module.history[0].places if module.history and module.history[0].kind == "made" else ()
    own = [number for number, place in enumerate(places) if place.function == f"{module.type}.__init__"]
    outside = places[own[-1] + 1 :] if own else places
    return next((place for place in outside if place.owned), None)


def _has_computed(ctx: Context, module: ScopeVariable) -> bool:
    """Whether a step of the operand's way ran in a method of the module's class."""
    places = (place for event in ctx.operand.history for place in event.places[:2])
    return any(place.function.startswith(f"{module.type}.") for place in places)
