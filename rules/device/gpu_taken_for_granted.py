"""The code uses `.cuda()` or "cuda", and the machine has no GPU."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Context,
    DeviceSource,
    FailureRule,
    File,
    device_names,
    device_text,
    expression,
    imported_name,
    is_passed_in,
    last_name,
    literal_node,
    replace_device,
    replace_device_name,
    rewrite,
    with_constant,
)


class GpuTakenForGranted(FailureRule):
    """Uses the device that the code has a name for, or checks once per file whether there is a GPU."""

    failure_kind, device = "no-device", "cpu"
    message = "{failed_at} uses a GPU, and there is none."

    def propose(self, ctx: Context) -> Iterator[Change]:
        """Rename the device where it was chosen; another rule handles devices that a caller could pass on."""
        found = ctx.device_sources()
        if not found or found[0].parameter or _is_query(found[-1]):
            return
        for each in found:
            yield from _rename(each)
        file, named = found[0].file, found[0].named
        literal = literal_node(file, named) if named is not None else None
        if literal is None or literal is named:
            yield from _ask_once(file)
        elif imported_name(file, "torch"):
            asked = f'{file.code(literal)} if {imported_name(file, "torch.cuda.is_available")}() else "cpu"'
            yield from rewrite(file, {literal: expression(asked)}, "Ask whether there is a GPU")


def _is_query(found: DeviceSource) -> bool:
    return found.file.qualified_name(found.call.func).startswith("torch.cuda.")


def _rename(found: DeviceSource) -> Iterator[Change]:
    """Yield the device that has a name in scope, or that of a tensor parameter of the function."""
    function = found.file.function_of(found.call)
    here = {each.expression: each for each in found.spot.scope}
    names = [text for text in device_names(found.spot, found.file) if here[text].device == "cpu"]
    tensors = [text for text, each in here.items() if each.kind == "tensor"] if function is not None else []
    given = [f"{text}.device" for text in tensors if function and is_passed_in(found.file, function, text)]
    for text in (*names[:1], *given[:1]):
        if made := replace_device_name(found, text):
            yield made


def _ask_once(file: File) -> Iterator[Change]:
    """Yield a change that puts everything in the file on one device, which is chosen at the top of the file."""
    taken = {each.value for each in file.within(file.module) if isinstance(each, cst.Name) and _is_variable(file, each)}
    name = next((each for each in ("device", "DEVICE") if each not in taken), "")
    torch = imported_name(file, "torch")
    if not torch or not name:
        return
    now = file
    # One after the other, since they may be nested: `model(x.cuda()).cuda()`.
    while call := next(
        (each for each in now.within(now.module) if isinstance(each, cst.Call) and _is_bare(each)), None
    ):
        now = File(file.path, now.replaced({call: replace_device(call, name)}).bytes)
    if now is not file:
        line = f'{name} = {torch}.device("cuda" if {torch}.cuda.is_available() else "cpu")'
        yield from rewrite(file, with_constant(now, line), "Ask once whether there is a GPU")


def _is_bare(node: cst.Call) -> bool:
    """Return whether a call puts its result on "cuda" without an index."""
    is_function = last_name(node.func) == "cuda" and not isinstance(node.func, cst.Attribute)
    if is_function or last_name(node.func) in ("device", "Generator"):
        return False
    return device_text(node).replace("'", '"') == '"cuda"'


def _is_variable(file: File, name: cst.Name) -> bool:
    """Return whether a name is a variable, and not an attribute or a keyword."""
    parent = file.parent(name)
    if isinstance(parent, cst.Attribute):
        return parent.attr is not name
    return not (isinstance(parent, cst.Arg) and parent.keyword is name)
