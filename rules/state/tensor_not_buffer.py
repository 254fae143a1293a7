"""A module keeps a tensor as a plain attribute, which `.to()` does not move."""

from collections.abc import Iterator, Mapping

import libcst as cst

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    EvidenceRule,
    File,
    Safety,
    ScopeVariable,
    Sources,
    StoredAttribute,
    argument,
    assigned_targets,
    assignments,
    classes_called,
    classes_holding,
    code,
    dominating,
    expression,
    imported_name,
    insert_after,
    is_move,
    is_never_moved,
    join_changes,
    last_name,
    move_to,
    register_as_buffer,
    register_parts,
    remove_keyword,
    replace_statement,
    rewrite,
    stored_attributes,
)

Assignment = cst.Assign | cst.AnnAssign
CONTAINERS = (cst.List, cst.Tuple, cst.Dict, cst.ListComp, cst.DictComp)
# These return no tensor, or a Parameter, which cannot be a buffer.
OTHERS = ("item", "tolist", "numpy", "array", "Parameter")
ASKING = ("hasattr", "getattr", "delattr")
BUILTINS = ("float", "int", "bool", "str", "len")


class TensorNotBuffer(EvidenceRule[StoredAttribute]):
    """Registers the attribute as a buffer where the constructor assigns it, and keeps it out of the state dict.

    A tensor that is trained, as `requires_grad` says, becomes a parameter, so that moves keep what an optimizer takes.
    An attribute that only other methods assign is registered empty. A container of tensors cannot be a buffer: its
    tensors are moved before they are used. An attribute to which a number is assigned is skipped, since a buffer
    rejects it. A module that was never moved itself, such as a criterion, is moved where it is constructed, too.
    """

    def search(self, ctx: Context) -> StoredAttribute | None:
        """Return the attribute that stores the operand, unless a method besides the constructor made it for itself."""
        owner = ctx.operand.owner
        for each in stored_attributes(ctx.failure, ctx.operand) if owner is None or owner.kind == "attribute" else ():
            # A module on the tensor's device was never moved itself, or holds it as a buffer.
            is_moved = each.module is not None and each.module.device not in (ctx.operand.device, "mixed")
            if is_moved and (_is_of_constructor(each) or not _is_computed_here(ctx, each)):
                return each
        return None

    def describe(self, ctx: Context, found: StoredAttribute) -> str:
        """Report an attribute of a module that has moved."""
        said = f"`{found.whole}.{found.attribute}` is a plain attribute of {found.module_type}"
        if found.module is not None and is_never_moved(ctx.failure, found.module, _moves(ctx)):
            return (
                f"{said}, which was never moved: it stayed on {ctx.operand.device}, and meets a tensor on"
                f" {ctx.peer.device}."
            )
        return (
            f"{said}: `.to()` moves parameters and buffers, so it stayed on {ctx.operand.device} when the module went"
            f" to {ctx.peer.device}."
        )

    def rate(self, ctx: Context) -> Confidence:
        """Return a lower confidence if another method than the constructor created the tensor."""
        found = self.search(ctx)
        return Confidence.DIRECT if found is not None and _is_of_constructor(found) else Confidence.NEARBY

    def fix(self, ctx: Context, found: StoredAttribute) -> Changes:
        """Look at every class that has the attribute."""
        name = found.attribute
        holders = classes_holding(ctx.failure, ctx.sources, name, found.module_type)
        if _is_given_another_kind(ctx.sources, name, {holder.name.value for _, holder in holders}):
            return
        for file, holder in holders:
            inside = [each for each in assignments(file, f"self.{name}", holder) if _in_constructor(file, each)]
            if any(isinstance(each.value, CONTAINERS) for each in inside):
                for site in ctx.sites():
                    yield from site.move_batch()
                continue
            first = dominating(file, inside)
            trained = {each.value: made for each in first if each.value and (made := _as_parameter(file, each.value))}
            if trained:
                yield from rewrite(file, trained, f"Make `self.{name}` a parameter", Safety.LIKELY)
                continue
            calls = [(each, register_as_buffer(file, each)) for each in first if not _may_be_a_number(file, each)]
            edits: dict[cst.CSTNode, cst.CSTNode] = {each: cst.Expr(call) for each, call in calls if call is not None}
            if len(edits) == len(first):
                if found.module is not None and is_never_moved(ctx.failure, found.module, _moves(ctx)):
                    yield from _register_and_move(ctx, found.module, file, edits, name)
                else:
                    yield from rewrite(file, edits, f"Register `self.{name}` as a buffer")
        if not any(_in_constructor(file, each) for file, each in _assigned(holders, name)):
            yield from _part(ctx, found)
            yield from _declare(ctx, found, holders) if holders else ()


def _as_parameter(file: File, value: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the parameter for a tensor that is created to be trained; None if it is not, or the name is not there."""
    written = imported_name(file, "torch.nn.Parameter")
    if not isinstance(value, cst.Call) or not written:
        return None
    wanted = argument(value, "requires_grad")
    if wanted is not None and file.code(wanted.value) == "True":
        return expression(f"{written}({code(remove_keyword(value, 'requires_grad'))})")
    if last_name(value.func) == "requires_grad_" and not value.args and isinstance(value.func, cst.Attribute):
        return expression(f"{written}({file.code(value.func.value)})")
    return None


def _register_and_move(
    ctx: Context, module: ScopeVariable, file: File, registered: Mapping[cst.CSTNode, cst.CSTNode], name: str
) -> Changes:
    """Yield changes that also move a module that was never moved, at the call that constructed it."""
    for site in ctx.construction_sites(module):
        call = site.call()
        for device in site.device_expressions() if call is not None else ():
            assert call is not None
            moved: dict[cst.CSTNode, cst.CSTNode] = {call: move_to(call, device)}
            title = f"Register `self.{name}` as a buffer, and move its {module.type} to `{device}`"
            if site.file.path == file.path:
                yield from rewrite(file, {**registered, **moved}, title)
                continue
            pairs = ((file, registered), (site.file, moved))
            parts = [next(rewrite(each, edits, title), None) for each, edits in pairs]
            yield from filter(None, [join_changes(title, *parts)])
        if site.is_in_constructor:  # the next one constructs what keeps the module
            return


def _moves(ctx: Context) -> Iterator[cst.Call]:
    return (each.node for each in ctx.calls() if is_move(each.node))


def _assigned(holders: list[tuple[File, cst.ClassDef]], name: str) -> list[tuple[File, Assignment]]:
    return [(file, each) for file, holder in holders for each in assignments(file, f"self.{name}", holder)]


def _part(ctx: Context, found: StoredAttribute) -> Changes:
    """Yield changes that part `self.a, self.b = x, y` of a constructor, and register the tensors among them."""
    scope = ctx.failure.frames[found.frame].scope
    tensors = [each for each in scope if each.kind == "tensor" and each.device == ctx.operand.device]
    own = {each.expression.removeprefix(f"{found.whole}.") for each in tensors if not each.type.endswith("Parameter")}
    type_name = found.module_type
    classes = [(file, holder) for file in ctx.files() for holder in classes_called(file, type_name)]
    for file, holder in classes if found.attribute in own else ():
        for node in file.within(holder, cst.Assign):
            if not _in_constructor(file, node):
                continue
            names = [each for each in own if f"self.{each}" in map(file.code, _elements(node))]
            if found.attribute not in names or any(
                _is_given_another_kind(ctx.sources, each, {type_name}) for each in names
            ):
                continue
            statement, lines = file.statement_of(node), register_parts(file, node, names)
            is_alone = isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1
            module = replace_statement(file, statement, lines) if lines and statement is not None and is_alone else None
            listed = ", ".join(f"`self.{each}`" for each in sorted(names))
            yield from rewrite(file, module, f"Register {listed} as buffers", joint=len(names) > 1)


def _elements(assignment: cst.Assign) -> list[cst.BaseExpression]:
    target = assignment.targets[0].target
    return [each.value for each in target.elements] if isinstance(target, cst.Tuple) else []


def _declare(ctx: Context, found: StoredAttribute, holders: list[tuple[File, cst.ClassDef]]) -> Changes:
    """Yield a change that registers an empty buffer in the constructor, which the methods that assign it fill.

    It is the innermost constructor under which the attribute was assigned, since a name that has been assigned cannot
    be registered any more; else that of the class that assigns it. Code that asks whether the attribute exists would
    find it from the beginning.
    """
    name = found.attribute
    containers = any(isinstance(each.value, CONTAINERS) for _, each in _assigned(holders, name))
    if containers or _is_asked_for(ctx.sources, name):
        return
    stack = found.places
    running = [place for place in stack if place.owned and place.function.endswith(".__init__")]
    owners = [place.function.split(".")[-2] for place in running] or [holder.name.value for _, holder in holders]
    for file in ctx.files():
        for holder in classes_called(file, owners[0]):
            line = _base_constructor_call(file, holder)
            module = insert_after(file, line, [_empty_buffer(file, name)]) if line is not None else None
            yield from rewrite(file, module, f"Register `self.{name}` as a buffer")


def _base_constructor_call(file: File, holder: cst.ClassDef) -> cst.CSTNode | None:
    """Return the statement of a class's own constructor that calls its base's; a module registers nothing before it."""
    own = [each for each in holder.body.body if isinstance(each, cst.FunctionDef) and each.name.value == "__init__"]
    for line in own[0].body.body if own else ():
        calls = [*file.within(line, cst.Call)]
        if isinstance(line, cst.SimpleStatementLine) and any(last_name(each.func) == "__init__" for each in calls):
            return line
    return None


def _empty_buffer(file: File, name: str) -> str:
    return f"self.register_buffer({file.quote}{name}{file.quote}, None, persistent=False)"


def _is_asked_for(sources: Sources, name: str) -> bool:
    """Return whether code asks whether an attribute exists: `hasattr`, `getattr`, `except AttributeError`."""
    words = (f'"{name}"', f"'{name}'")
    calls = ((file, call) for file in sources.containing(*words) for call in file.within(file.module, cst.Call))
    asking = ((file, call) for file, call in calls if last_name(call.func) in ASKING)
    if any(file.code(each.value) in words for file, call in asking for each in call.args):
        return True
    return any("AttributeError" in file.text for file in sources.containing(f"self.{name} ="))


def _is_of_constructor(found: StoredAttribute) -> bool:
    """Return whether no other method than the constructor of its class or of a base created the tensor."""
    place = found.maker.owned_place if found.maker is not None else None
    if found.module is None or place is None:
        return True
    if place.function.rpartition(".")[0] != found.module.type:
        return True
    lineage = {found.module.type, *(each.rpartition(".")[2] for each in found.module.classes)}
    return any(each.function in {f"{name}.__init__" for name in lineage} for each in found.places)


def _is_computed_here(ctx: Context, found: StoredAttribute) -> bool:
    """Return whether the method that uses the tensor also created it: a cache, which no earlier move reaches."""
    running = ctx.failure.frames[found.frame].place
    places = found.places
    return any((each.path, each.function) == (running.path, running.function) for each in places)


def _is_given_another_kind(sources: Sources, name: str, holders: set[str]) -> bool:
    """Return whether a file of the repository assigns to an attribute of that name what a buffer rejects.

    Assignments of other classes to their own attribute of that name are ignored.
    """
    for file in sources.containing(f".{name} =", f".{name}: "):
        for node in file.within(file.module):
            if isinstance(node, Assignment) and _is_another_kind(node.value):
                owners = {file.code(each.value) for each in _targets(node) if each.attr.value == name}
                around = file.class_of(node)
                if owners - {"self"} or (owners and around is not None and around.name.value in holders):
                    return True
    return False


def _targets(statement: Assignment) -> list[cst.Attribute]:
    """Return the attributes that a statement assigns."""
    return [each for each in assigned_targets(statement) if isinstance(each, cst.Attribute)]


def _is_another_kind(value: cst.BaseExpression | None) -> bool:
    """Return whether a value is neither a tensor nor None: a number, a string, a module's parameter."""
    if isinstance(value, cst.UnaryOperation):
        value = value.expression
    called = last_name(value.func) if isinstance(value, cst.Call) else ""
    if called in BUILTINS:  # a method of that name casts a tensor
        return isinstance(value, cst.Call) and isinstance(value.func, cst.Name)
    is_truth = isinstance(value, cst.Name) and value.value in ("True", "False")
    return is_truth or isinstance(value, cst.BaseNumber | cst.BaseString) or called in OTHERS


def _may_be_a_number(file: File, assignment: Assignment) -> bool:
    """Return whether the value is a parameter with a default and no tensor annotation: a buffer rejects numbers."""
    function, value = file.function_of(assignment), assignment.value
    if function is None or not isinstance(value, cst.Name):
        return False
    every = (*function.params.params, *function.params.kwonly_params)
    given = [each for each in every if each.name.value == value.value and each.default is not None]
    return any(each.annotation is None or "Tensor" not in file.code(each.annotation.annotation) for each in given)


def _in_constructor(file: File, node: cst.CSTNode) -> bool:
    """Return whether a node is in a constructor, or in a method that the constructor of the class calls."""
    function, holder = file.function_of(node), file.class_of(node)
    if function is None or holder is None or function.name.value == "__init__":
        return function is not None and function.name.value == "__init__"
    around = [file.function_of(each) for each in file.find(holder, f"self.{function.name.value}")]
    return any(each is not None and each.name.value == "__init__" for each in around)
