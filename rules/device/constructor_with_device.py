"""A legacy constructor such as `torch.LongTensor` is given a device, or a tensor of a GPU."""

import libcst as cst

from devfix.sdk import CallRule, CallSite, Changes, Context, call_method, code, match, remove_keyword

# The dtypes of the classes, which read only tensors of their own.
DTYPES = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "CharTensor": "int8",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
}


class ConstructorWithDevice(CallRule):
    """Moves what it creates, since a modern constructor infers another dtype; reads a tensor of a GPU where it is."""

    failure_kind = "constructor-device"
    message = "{failed_at} calls a legacy constructor for a GPU; its class is one of the host's."

    def fix(self, ctx: Context, site: CallSite) -> Changes:
        """Change all such calls of the file for the same class and device, or the call that reads a tensor."""
        given = site.argument("device")
        if given is None:
            yield from _read_anywhere(site)
            return
        edits: dict[cst.CSTNode, cst.CSTNode] = {}
        for each in site.file.within(site.file.module, cst.Call):
            found = match(each, "$_($$$, device=$DEVICE)")
            is_same = found is not None and code(each.func) == code(site.node.func)
            if found is not None and is_same and code(found["DEVICE"]) == code(given.value):
                edits[each] = call_method(remove_keyword(each, "device"), "to", code(found["DEVICE"]))
        yield from site.replace(edits, f"Move what `{code(site.node.func)}` creates to `{code(given.value)}`")


def _read_anywhere(site: CallSite) -> Changes:
    """Change `torch.FloatTensor(data)` to `torch.as_tensor(data, dtype=torch.float32)`, which reads all devices."""
    found = match(site.node, "$TORCH.$CLASS($DATA)")
    dtype = DTYPES.get(code(found["CLASS"])) if found else None
    if found is not None and dtype is not None:
        torch, data = code(found["TORCH"]), code(found["DATA"])
        text = f"{torch}.as_tensor({data}, dtype={torch}.{dtype})"
        yield from site.replace({site.node: cst.parse_expression(text)}, f"Read `{data}` on its device")
