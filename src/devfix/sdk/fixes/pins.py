"""Pin a device without an index to one GPU where it is assigned."""

from __future__ import annotations

from collections.abc import Iterator

from devfix.model import Diagnosis, Safety
from devfix.sdk.changes import Change, change
from devfix.sdk.trace.holders import files_of
from devfix.source import Sources
from devfix.source.edits.expressions import expression
from devfix.source.queries.naming import imported_name
from devfix.source.queries.reading import assigned_values


def pin_where_assigned(diagnosis: Diagnosis, source: Sources, name: str) -> Iterator[Change]:
    """Yield changes that resolve the device of an attribute at its assignment: `torch.empty(0, device=…).device`.

    The current GPU of the assigning thread is then used wherever the attribute is.

    >>> list(pin_where_assigned(diagnosis, source, "self.device"))
    []
    """
    for file in files_of(diagnosis.failure, source):
        empty = imported_name(file, "torch.empty")
        found = assigned_values(file, name)
        if not empty or len(found) != 1:
            continue
        value = expression(f"{empty}(0, device={file.code(found[0])}).device")
        module = file.replace({found[0]: value})
        made = change(file, module, f"Resolve `{name}` to one GPU where it is assigned", safety=Safety.LIKELY)
        if made:
            yield made
