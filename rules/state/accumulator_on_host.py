"""What is kept from step to step begins on the host and meets values that are not."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    Finding,
    Sources,
    blamed_operand,
    change,
    describe,
    device_expressions,
    fix_sites,
    insert_before,
    is_intentional,
    misplaced_operands,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report an attribute of an object that is no module, which nobody moved."""
    for index, operand, peer in misplaced_operands(failure):
        kept = any(held.expression.startswith("self.") and held.relation == "same" for held in operand.names)
        if not kept or is_intentional(failure, operand) or operand.owner is not None:
            continue
        reason = (
            f"{describe(operand)} is kept from call to call and began on {operand.device}, while what comes to it is on"
            f" {peer.device}."
        )
        return Finding(index, reason, strength=3)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move what is kept to where the values are, once, in the method that writes it anew."""
    operand = blamed_operand(diagnosis)
    for spot in fix_sites(diagnosis):
        file = source.file(spot.place) if spot.kind == "use" else None
        root = file.root_at(spot.place) if file is not None else None
        statement = file.statement_of(root) if file is not None and root is not None else None
        function = file.function_of(root) if file is not None and root is not None else None
        if file is None or statement is None or function is None:
            continue
        for name in spot.expressions:
            written = [
                each
                for each in file.within(function)
                if isinstance(each, cst.AssignTarget | cst.AugAssign) and file.code(each.target) == name
            ]
            if not written or not any(held.expression == name for held in operand.names):
                continue
            for anchor in device_expressions(diagnosis, spot, file):
                if anchor.startswith(f"{name}."):
                    continue
                module = insert_before(file, statement, [f"{name} = {name}.to({anchor})"])
                found = change(file, module, f"Keep `{name}` on `{anchor}`")
                if found:
                    yield found
