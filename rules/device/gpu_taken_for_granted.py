"""The code uses `.cuda()` or "cuda", and the machine has no GPU."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Changes,
    Context,
    DeviceChoice,
    DeviceSource,
    FailureRule,
    File,
    device_choices,
    device_literal,
    device_names,
    device_text,
    expression,
    imported_name,
    is_passed_in,
    last_name,
    literal_device,
    replace_device,
    replace_device_name,
    rewrite,
    with_constant,
)


class GpuTakenForGranted(FailureRule):
    """Uses the device that the code has a name for, or asks once per file which one there is."""

    failure_kind, device = "no-device", "cpu"
    message = "{failed_at} uses a GPU, and there is none."

    def explain(self, ctx: Context) -> str:
        """Return the message; a machine with another accelerator has a GPU, though not one of CUDA."""
        reason = super().explain(ctx)
        return reason if ctx.accelerator in ("", "cuda") else reason.replace("a GPU", "CUDA")

    def propose(self, ctx: Context) -> Changes:
        """Rename the device where it was chosen; another rule handles devices that a caller could pass on."""
        found = ctx.device_sources()
        if not found or found[0].parameter or _is_query(found[-1]):
            return
        for each in found:
            yield from _rename(each)
        file, named = found[0].file, found[0].named
        literal = device_literal(file, named, ctx.sources) if named is not None else None
        if literal is None or literal[1] is named:
            for choice in _choices(ctx, file, '"cuda"'):
                yield from _ask_once(file, choice)
        else:
            yield from _ask_there(ctx, *literal)


def _ask_there(ctx: Context, file: File, literal: cst.SimpleString) -> Changes:
    """Yield a choice of the device in place of a string that names CUDA."""
    if literal_device(file, literal).startswith("cuda"):
        for choice in _choices(ctx, file, file.code(literal)):
            changed = File(file.path, file.replace({literal: expression(choice.text)}).bytes)
            yield from rewrite(file, choice.add_import(changed), "Ask whether there is a GPU")


def _choices(ctx: Context, file: File, literal: str) -> Iterator[DeviceChoice]:
    """Yield what chooses the device: on the accelerators that the program must run on, else CUDA or the CPU.

    In a world that has another accelerator, a program that takes the CPU leaves that one unused, and is no repair.
    """
    if ctx.other_accelerators:
        yield from device_choices(file, ctx.sources, ctx.other_accelerators, literal)
    if ctx.accelerator in ("", "cuda"):
        yield from device_choices(file, ctx.sources, (), literal)


def _is_query(found: DeviceSource) -> bool:
    return found.file.qualified_name(found.call.func).startswith("torch.cuda.")


def _rename(found: DeviceSource) -> Changes:
    """Yield the device that has a name in scope, or that of a tensor parameter of the function."""
    function = found.file.function_of(found.call)
    here = {each.expression: each for each in found.site.scope}
    names = [text for text in device_names(found.site, found.file) if not here[text].device.startswith("cuda")]
    tensors = [text for text, each in here.items() if each.kind == "tensor"] if function is not None else []
    given = [f"{text}.device" for text in tensors if function and is_passed_in(found.file, function, text)]
    for text in (*names[:1], *given[:1]):
        if made := replace_device_name(found, text):
            yield made


def _ask_once(file: File, choice: DeviceChoice) -> Changes:
    """Yield a change that puts everything in the file on one device: what the repository names, or a new constant."""
    taken = {each.value for each in file.within(file.module, cst.Name) if _is_variable(file, each)}
    free = next((each for each in ("device", "DEVICE") if each not in taken), "")
    torch = imported_name(file, "torch")
    is_named = choice.text.isidentifier()
    is_own = is_named or choice.text.endswith("()")
    name = choice.text if is_named or (is_own and not choice.member) else free
    if not name or not (torch or is_own):
        return
    now = file
    # One after the other, since they may be nested: `model(x.cuda()).cuda()`.
    while call := next(filter(_is_bare, now.within(now.module, cst.Call)), None):
        now = File(file.path, now.replace({call: replace_device(call, name)}).bytes)
    if now is file:
        return
    changed = File(file.path, choice.add_import(now).bytes)
    if name == choice.text:
        yield from rewrite(file, changed.module, f"Use the device `{name}`, which the repository chooses")
    elif is_own:
        yield from rewrite(file, with_constant(changed, f"{name} = {choice.text}"), f"Ask `{choice.text}` once")
    else:
        line = f"{name} = {torch}.device({choice.text})"
        yield from rewrite(file, with_constant(changed, line), "Ask once whether there is a GPU")


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
