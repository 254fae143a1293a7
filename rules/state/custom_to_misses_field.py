"""A hand-written `.to()` moves some of an object's tensors and forgets others."""

import re

import libcst as cst

from devfix.sdk import (
    CallSite,
    Changes,
    Context,
    Event,
    EvidenceRule,
    File,
    Site,
    SourceLocation,
    add_keyword,
    assigned_values,
    code,
    definition,
    derived_in_frame,
    expression,
    insert_after,
    is_move,
    last_name,
    match,
    parameter_nodes,
    remove_move,
    rewrite,
)

KEY = re.compile(r"""(.+)\[(["'])(\w+)\2\]""")
COPIES = ("_replace", "replace", "evolve")  # of named tuples, dataclasses and attrs
MOVER = re.compile(r"\.(\w*_)?(to|cuda|apply|move)(_\w+)?$")


class CustomToMissesField(EvidenceRule[tuple[str, str, SourceLocation]]):
    """Moves the field, a tensor or a module, as the method moves its sibling."""

    # A move of the object that is called again should move all of it.
    supersedes = ("placement/module-not-moved",)

    def search(self, ctx: Context) -> tuple[str, str, SourceLocation] | None:
        """Return the field that holds the operand, a sibling that a method of the object moved, and where it did so.

        What is taken from a tensor beside a module that was moved, such as rows of a memory, may be moved by itself.
        """
        owner = ctx.operand.owner
        for number, frame in enumerate(ctx.failure.frames):
            held = [each for each in ctx.operand.names if each.frame == number]
            whole_fields = [each.expression for each in held if each.relation == "same"]
            whole_fields += [owner.root, owner.expression] if owner is not None and owner.frame == number else []
            taken = [each.expression for each in held]
            taken += [each.expression for each in derived_in_frame(ctx.failure, ctx.operand, number)]
            for whole, dot, field in (name.rpartition(".") for name in dict.fromkeys([*taken, *whole_fields])):
                kinds = ("tensor", "module") if f"{whole}.{field}" in whole_fields else ("tensor",)
                for binding in frame.scope if dot else ():
                    holder, _, sibling = binding.expression.rpartition(".")
                    move = _moved_by_method(binding.history) if holder == whole and sibling != field else None
                    if move is not None and binding.kind in kinds and binding.device != ctx.operand.device:
                        return f"{whole}.{field}", sibling, move
        return _forgotten_key(ctx)

    def describe(self, ctx: Context, found: tuple[str, str, SourceLocation]) -> str:
        """Report a field of an object whose other fields were moved by a method of its own."""
        field, sibling, place = found
        method = re.sub(r"\.<locals>\.<\w+>$", "", place.function)  # not the comprehension in it
        return f"`{field}` stayed on {ctx.operand.device}: `{method}` ({place.shown}) moves `{sibling}` and forgets it."

    def fix(self, ctx: Context, found: tuple[str, str, SourceLocation]) -> Changes:
        """Move it where the method passes it on unchanged, else by a statement after the sibling's."""
        name, sibling, place = found
        site = ctx.call_at(place)
        if (key := KEY.fullmatch(name)) is not None and site is not None and site.function is not None:
            lists, title = _lists_of(site, sibling, key[3]), f"Move `{key[3]}` in `{site.function.name.value}` as well"
            yield from site.replace({each: _with_name(each, key[3]) for each in lists}, title)
            return
        method = definition(site.file, site.place.function) if site is not None else None
        if site is None or not isinstance(method, cst.FunctionDef):
            return
        field, bracket, index = name.rpartition(".")[2].partition("[")
        file, own, title = site.file, f"self.{field}", f"Move `{field}` in `{site.place.function}` as well"
        if any(is_move(each) and code(remove_move(each)) == own for each in file.within(method, cst.Call)):
            return  # to another place than the others: `self.lengths.cpu()`
        bare = [each for each in file.find(method, own) if _is_passed_on(file, each)]
        is_optional, moved = not bracket and _may_be_none(file, method, field), _moved_as(site, sibling, own)
        listed = [each for each in file.within(method) if sibling in _texts(each) and field not in _texts(each)]
        copy = _copying_call(site, sibling)
        if (bare or copy) and not bracket and moved:
            moved = f"None if {own} is None else {moved}" if is_optional else moved
        if copy is not None and not bracket and moved:
            yield from site.replace({copy: add_keyword(copy, field, moved)}, title)
        elif bare and not bracket and moved:
            yield from site.replace(dict.fromkeys(bare, expression(moved)), title)
        elif len(listed) == 1 and not (bare or bracket or is_optional or _may_be_number(file, method, field)):
            yield from site.replace({listed[0]: _with_name(listed[0], field)}, title)
        else:
            is_module = ctx.operand.owner is not None and ctx.operand.owner.kind in ("parameter", "buffer")
            added = _add_statement(site, sibling, own, bracket + index, is_optional, is_module)
            yield from rewrite(file, added, title)


def _forgotten_key(ctx: Context) -> tuple[str, str, SourceLocation] | None:
    """Return the operand's name in a dictionary, the key of a value that was moved, and where: by a list of keys."""
    for number, frame in enumerate(ctx.failure.frames):
        names = {each.expression: KEY.fullmatch(each.expression) for each in frame.scope if each.kind == "tensor"}
        own = [each.expression for each in ctx.operand.names if each.frame == number and each.relation == "same"]
        for name, key in ((each, names.get(each)) for each in own):
            for each in frame.scope if key is not None else ():
                sibling = names.get(each.expression)
                if key is None or sibling is None or sibling[1] != key[1] or each.device == ctx.operand.device:
                    continue
                moved = [event for event in each.history if event.kind == "move"]
                for place in (place for event in moved[-1:] for place in event.places if place.owned):
                    site = ctx.call_at(place)
                    if site is not None and len(_lists_of(site, sibling[3], key[3])) == 1:
                        return name, sibling[3], place
    return None


def _lists_of(site: CallSite, key: str, lacking: str) -> list[cst.CSTNode]:
    """Return the lists of texts, in the function that moves a value, which have its key and lack another.

    A key is looked for in them (`if key in ("ids", "mask")`): a loop over them would fail where a value is missing.
    """
    found = site.file.within(site.function) if site.function is not None else ()
    asked = (each for each in found if isinstance(site.file.parent(each), cst.ComparisonTarget))
    return [each for each in asked if key in _texts(each) and lacking not in _texts(each)]


def _moved_by_method(history: tuple[Event, ...]) -> SourceLocation | None:
    """Return where a method whose purpose is to move an object last moved a tensor."""
    for event in reversed(history):
        if event.kind == "move":
            return next((place for place in event.places if place.owned and MOVER.search(place.function)), None)
    return None


def _is_passed_on(file: File, node: cst.CSTNode) -> bool:
    """Return whether a field is given on as it is: `Batch(self.ids)`, `new.ids = self.ids`."""
    outer = file.parent(node)
    return isinstance(outer, cst.Arg) or (isinstance(outer, cst.Assign) and outer.value is node)


def _moved_as(site: CallSite, sibling: str, own: str) -> str:
    """Return the move of a field, like that of its sibling; "" if the sibling is not moved by one that can be copied.

    Fields may be moved by their names: `getattr(self, name).to(device)`.
    """
    moved = _rename(site, sibling, own)
    if moved != site.file.code(site.node):
        return moved
    found = match(site.node, "getattr(self, $_).$MOVE($$$)")
    method = site.node.func
    if found is None or not isinstance(method, cst.Attribute) or not is_move(site.node):
        return ""
    return code(site.node.with_changes(func=method.with_changes(value=expression(own))))


def _copying_call(site: CallSite, sibling: str) -> cst.Call | None:
    """Return the call that copies the object with another sibling, and with the other fields as they are."""
    given = site.file.parent(site.node)
    outer = site.file.parent(given) if isinstance(given, cst.Arg) else None
    is_named = isinstance(given, cst.Arg) and given.keyword is not None and given.keyword.value == sibling
    return outer if is_named and isinstance(outer, cst.Call) and last_name(outer.func) in COPIES else None


def _texts(node: cst.CSTNode) -> list[str]:
    """Return the texts that a list or tuple of plain texts has; none for other nodes."""
    elements = [each.value for each in node.elements] if isinstance(node, cst.List | cst.Tuple) else []
    texts = [each.raw_value for each in elements if isinstance(each, cst.SimpleString)]
    return texts if len(texts) == len(elements) else []


def _with_name(node: cst.CSTNode, name: str) -> cst.BaseExpression:
    """Return a list or tuple of texts with one more, in the quotes of the last."""
    assert isinstance(node, cst.List | cst.Tuple)
    last = node.elements[-1]
    assert isinstance(last.value, cst.SimpleString)
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    added = last.with_changes(value=cst.SimpleString(f"{last.value.quote}{name}{last.value.quote}"))
    return node.with_changes(elements=[*node.elements[:-1], last.with_changes(comma=comma), added])


def _rename(site: Site, sibling: str, name: str) -> str:
    """Return the sibling's move with the name of the field."""
    return re.sub(rf"\bself\.{re.escape(sibling)}\b", name, site.file.code(site.node))


def _may_be_none(file: File, method: cst.FunctionDef, field: str) -> bool:
    """Return whether the class of a method says that a field may be None: `batch: Tensor | None = None`."""
    holder = file.class_of(method)
    for each in file.within(holder, cst.AnnAssign) if holder is not None else ():
        if file.code(each.target) == field:
            return re.search(r"\bNone\b|\bOptional\b", file.code(each)) is not None
    constructor = definition(file, f"{holder.name.value}.__init__") if holder is not None else None
    names = {file.code(each) for each in assigned_values(file, f"self.{field}", holder)}
    every = parameter_nodes(constructor) if isinstance(constructor, cst.FunctionDef) else []
    defaults = [each.default for each in every if each.name.value in names]
    return "None" in names or any(match(each, "None") for each in defaults)


def _may_be_number(file: File, method: cst.FunctionDef, field: str) -> bool:
    """Return whether the class of a method gives a number to a field, or a parameter that is one by default."""
    holder = file.class_of(method)
    values = [*assigned_values(file, f"self.{field}", holder)] if holder is not None else []
    constructor = definition(file, f"{holder.name.value}.__init__") if holder is not None else None
    every = parameter_nodes(constructor) if isinstance(constructor, cst.FunctionDef) else []
    names = {file.code(each) for each in values}
    defaults = [each.default for each in every if each.name.value in names]
    return any(isinstance(each, cst.Integer | cst.Float) for each in (*values, *defaults))


def _add_statement(
    site: Site, sibling: str, own: str, index: str, is_optional: bool, is_module: bool
) -> cst.Module | None:
    """Return the module with `self.field = …` after the statement that moves the sibling in place.

    A module moves itself: `self.field.to(device)` after `self.sibling.to(device)`.
    """
    said = site.file.code(site.statement) if site.statement is not None else ""
    if (
        site.statement is None
        or not said.startswith((f"self.{sibling} = ", f"self.{sibling}."))
        or (index and is_module)
    ):
        return None
    each = _rename(site, sibling, "each")
    value = _rename(site, sibling, own) if not index else f"[{each} for each in {own}]"
    if '"' in index or "'" in index:
        value = f"{{key: {each} for key, each in {own}.items()}}"
    moved = value if is_module else f"{own} = {value}"
    return insert_after(site.file, site.statement, [f"if {own} is not None:\n    {moved}" if is_optional else moved])
