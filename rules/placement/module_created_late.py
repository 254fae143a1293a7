"""A layer or parameter is created after its module was moved."""

from collections.abc import Iterator

from devfix.sdk import Change, Context, ModuleRule, Safety, largest_misplaced_module, root_modules, with_safety


class ModuleCreatedLate(ModuleRule):
    """Moves the new module where it is created, passes a device to a parameter's tensor, or moves the whole again."""

    def explain(self, ctx: Context) -> str:
        """Report a parameter or buffer of a module whose other tensors are on another device: the move came before."""
        for owner, root in root_modules(ctx.failure, ctx.operand):
            if root.device == "mixed":
                late = owner.expression if owner.expression != owner.root else f"{owner.expression}.{owner.attribute}"
                return (
                    f"`{late}` is on {ctx.operand.device} while other parts of `{owner.root}` are on {ctx.peer.device}:"
                    f" it was created after `{owner.root}` was moved."
                )
        return ""

    def fix(self, ctx: Context) -> Iterator[Change]:
        """Move what was constructed late, else what was added to a container and is therefore elsewhere."""
        late = largest_misplaced_module(ctx.failure, ctx.operand)
        made = ctx.construction_sites(late) if late is not None else []
        created = list(ctx.sites("creation", "returned"))
        contained = bool(made and created) and made[0].is_in_constructor and not created[0].is_in_constructor
        if not contained:
            yield from ctx.move_constructed(late) if late is not None else ()
            created.sort(key=lambda site: late is not None and site.is_in_constructor)
        for site in created:
            changes = list(site.add_device() if site.kind == "creation" else ())
            if site.kind == "creation" or late is not None:
                is_sure = site.kind == "creation" and (late is None or contained)
                changes = changes or list(site.move_result())
                yield from changes if is_sure else with_safety(changes, Safety.UNSURE)
