"""A model is passed to DistributedDataParallel with `device_ids`, and was never moved to that GPU."""

import re

import libcst as cst

from devfix.sdk import CallSite, Changes, Context, Finding, Rule, assigned_values, move_to

# The message of DistributedDataParallel: `device_ids [1], output_device 1`, or devices by their names.
ASKED = re.compile(r"(?:device_ids \[|output_device )(?:device\(type='cuda', index=|')?(?:cuda:)?(\d+)")
# A GPU by its index, or the current one: the same in each process, while `device_ids` names one per process.
FIXED = re.compile(r"""["']cuda(:\d+)?["'](?!\s*,)""")


class WrappedOnHost(Rule):
    """Moves the model where it is wrapped: to a device in scope, else to the device in `device_ids`."""

    def diagnose(self, ctx: Context) -> Finding | None:
        """Report a parameter on the host that the failing call expected on one GPU."""
        asked = ASKED.search(ctx.failure.message) if ctx.failure.kind == "data-parallel" else None
        on_host = [index for index, each in enumerate(ctx.failure.operands) if each.device == "cpu"]
        if asked is None or not on_host:
            return None
        found, gpu = ctx.view(on_host[0]), f"cuda:{asked[1]}"
        model = f"`{found.operand.owner.root}`" if found.operand.owner is not None else "The model"
        reason = f"{model} is on the host when it is wrapped, and `device_ids` says that it is on {gpu}."
        return found.report(reason, device=gpu)

    def propose(self, ctx: Context) -> Changes:
        """Move it to a variable for the device; those that are the same in each process come last."""
        site = ctx.failing_call()
        module = site.argument("module", 0) if site is not None else None
        if site is None or module is None:
            return
        named = {each.expression for each in site.scope if each.kind in ("device", "string", "index")}
        found = [text for text in site.device_expressions() if text in named]
        fixed = [text for text in found if _is_fixed(site, text)]
        first = [text for text in found if text not in fixed]
        asked = _ask(site)
        for device in dict.fromkeys([*first, *([asked] if asked else []), *fixed]):
            title = f"Move `{site.file.code(module.value)}` to `{device}` before it is wrapped"
            yield from site.replace({module.value: move_to(module.value, device)}, title)


def _is_fixed(site: CallSite, name: str) -> bool:
    """Return whether a name is assigned a device that is the same in each process."""
    return any(FIXED.search(site.file.code(value)) for value in assigned_values(site.file, name))


def _ask(site: CallSite) -> str:
    """Return the expression for the device that a call names, which may be the host; "" if there is none."""
    ids, output = site.argument("device_ids", 1), site.argument("output_device", 2)
    given = ids or output
    if given is None:
        return ""
    value, text = given.value, site.file.code(given.value)
    if isinstance(value, cst.IfExp):
        then, other = _only(site, value.body), _only(site, value.orelse)
        return f"{then} if {site.file.code(value.test)} else {other}" if then and other else ""
    if isinstance(value, cst.Name | cst.Attribute):
        return f'{text}[0] if {text} else "cpu"' if ids else text
    return _only(site, value) if isinstance(value, cst.List | cst.Tuple) else ""


def _only(site: CallSite, value: cst.BaseExpression) -> str:
    """Return the only element of a list; the host for None and an empty list."""
    if isinstance(value, cst.Name) and value.value == "None":
        return '"cpu"'
    elements = value.elements if isinstance(value, cst.List | cst.Tuple) else ()
    if not elements:
        return '"cpu"' if isinstance(value, cst.List | cst.Tuple) else ""
    only = elements[0].value
    if isinstance(only, cst.Integer):
        return f'"cuda:{only.value}"'  # clearer than `0`
    return site.file.code(only) if len(elements) == 1 else ""
