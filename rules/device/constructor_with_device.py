"""A legacy constructor such as `torch.LongTensor` is told to create its tensor on a GPU."""

import libcst as cst

from devfix.sdk import CallRule, CallSite, Changes, Context, call_method, code, match, remove_keyword


class ConstructorWithDevice(CallRule):
    """Moves what it creates: a modern constructor would read the dtype of the values, and reads a number as one."""

    failure_kind = "constructor-device"
    message = "{failed_at} calls a legacy constructor with a device, which has to be that of its class: the host."

    def fix(self, ctx: Context, site: CallSite) -> Changes:
        """Change all such calls of the file for the same class and device."""
        edits: dict[cst.CSTNode, cst.CSTNode] = {}
        given = site.argument("device")
        for each in site.file.within(site.file.module, cst.Call) if given is not None else ():
            found = match(each, "$_.$CLASS($$$, device=$DEVICE)")
            is_same = found is not None and code(each.func) == code(site.node.func)
            if found is not None and is_same and given is not None and code(found["DEVICE"]) == code(given.value):
                edits[each] = call_method(remove_keyword(each, "device"), "to", code(found["DEVICE"]))
        if given is not None:
            yield from site.replace(edits, f"Move what `{code(site.node.func)}` creates to `{code(given.value)}`")
