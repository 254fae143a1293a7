"""An object says that it is on one device, and what it holds lies on another."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Binding,
    Blame,
    Change,
    Diagnosis,
    Failure,
    File,
    Sources,
    assignments,
    blamed,
    change,
    classes_holding,
    moved,
    strangers,
)


def diagnose(failure: Failure) -> Blame | None:
    """Blame what comes from an object whose module lies elsewhere than the object's `device` says."""
    for index, operand, peer in strangers(failure):
        found = _lie(failure, operand.device, peer.device)
        if found is None:
            continue
        declared, held = found
        because = (
            f"`{declared.expression}` says {declared.device}, but `{held.expression}` lies on {held.device}: what is"
            f" made as declared meets what is computed elsewhere."
        )
        return Blame(index, because, strength=1, device=declared.device)
    return None


def _lie(failure: Failure, device: str, other: str) -> tuple[Binding, Binding] | None:
    """An object's declared device and its module on `device`, where the declaration says `other`."""
    for frame in reversed(failure.owned_frames):
        for declared in frame.scope:
            owner, _, name = declared.expression.rpartition(".")
            if declared.kind not in ("device", "string") or not owner or not name.endswith("device"):
                continue
            if declared.device != other:
                continue
            for held in frame.scope:
                if held.kind == "module" and held.device == device and held.expression.rpartition(".")[0] == owner:
                    return declared, held
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Make the declaration true where the object is made: load there; else return results where it says."""
    failure = diagnosis.failure
    found = _lie(failure, blamed(diagnosis).device, diagnosis.blame.device)
    if found is None:
        return
    declared, held = (each.expression.rpartition(".")[2] for each in found)
    for file, holder in classes_holding(failure, source, held):
        if not assignments(file, f"self.{declared}", holder):
            continue
        for each in assignments(file, f"self.{held}", holder):
            if each.value is not None:
                edits: dict[cst.CSTNode, cst.CSTNode] = {each.value: moved(each.value, f"self.{declared}")}
                made = change(file, file.replaced(edits), f"Move `self.{held}` to where `self.{declared}` says")
                if made:
                    yield made
        for result in _results(file, holder, held):
            edits = {result: moved(result, f"self.{declared}")}
            made = change(file, file.replaced(edits), f"Return results where `self.{declared}` says", "likely")
            if made:
                yield made


def _results(file: File, holder: cst.ClassDef, held: str) -> list[cst.BaseExpression]:
    """What the methods of a class return that calls the module which it holds."""
    found = []
    for node in file.within(holder):
        value = node.value if isinstance(node, cst.Return) else None
        if isinstance(value, cst.Call) and file.code(value.func).startswith(f"self.{held}"):
            found.append(value)
    return found
