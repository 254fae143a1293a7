"""An optimizer's state is loaded before the model is moved, and stays where the model was."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Event,
    Failure,
    File,
    Finding,
    ScopeVariable,
    SourceLocation,
    Sources,
    change,
    is_intentional,
    last_name,
    misplaced_operands,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report a tensor without a name that meets the gradient or weight of a model in the step of an optimizer."""
    if not any("optim" in frame.place.path.replace("\\", "/").split("/") for frame in failure.frames):
        return None
    for index, operand, peer in misplaced_operands(failure):
        if operand.names or is_intentional(failure, operand) or _model(failure) is None:
            continue
        reason = (
            f"the optimizer keeps state on {operand.device} for parameters on {peer.device}: it was filled before the"
            f" model was moved."
        )
        return Finding(index, reason, strength=1)
    return None


def _model(failure: Failure) -> tuple[ScopeVariable, Event] | None:
    """A module of the failing frames and its last move."""
    for frame in failure.owned_frames:
        for binding in frame.scope:
            moves = [event for event in binding.history if event.kind == "move" and event.owned_place is not None]
            if binding.kind == "module" and moves:
                return binding, moves[-1]
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Move the model before the state is loaded."""
    found = _model(diagnosis.failure)
    place = found[1].owned_place if found is not None else None
    file = source.file(place) if place is not None else None
    if file is None or place is None:
        return
    move = _statement(file, place)
    parent = file.parent(move) if move is not None else None
    if move is None or not isinstance(parent, cst.IndentedBlock | cst.Module):
        return
    body = list(parent.body)
    loaded = next((each for each in body if _loads(file, each)), None)
    if loaded is None or body.index(loaded) >= body.index(move):
        return
    moved = [each for each in body if each is not move]
    moved.insert(moved.index(loaded), move)
    if isinstance(parent, cst.Module):
        module = file.module.with_changes(body=moved)
    else:
        module = file.replaced({parent: parent.with_changes(body=moved)})
    made = change(file, module, "Move the model before the optimizer's state is loaded", "likely")
    if made:
        yield made


def _statement(file: File, place: SourceLocation) -> cst.SimpleStatementLine | None:
    """The statement that moves a model and does nothing else: `model.to(device)`, `model = model.to(device)`."""
    call = file.call_at(place, ("to", "cuda"))
    statement = file.statement_of(call) if call is not None else None
    if call is None or not isinstance(call.func, cst.Attribute) or not isinstance(call.func.value, cst.Name):
        return None
    return statement if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None


def _loads(file: File, statement: cst.CSTNode) -> bool:
    calls = [each for each in file.within(statement) if isinstance(each, cst.Call)]
    return any(last_name(each.func) == "load_state_dict" and "optim" in file.code(each.func).lower() for each in calls)
