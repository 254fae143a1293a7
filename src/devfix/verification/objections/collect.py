"""Collect the objections to a patch in code that no run has reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from devfix.model import Failure, Patch
from devfix.verification.evidence import Objection
from devfix.verification.objections.buffers import of_attributes, of_buffers
from devfix.verification.objections.callers import of_calls, of_overrides, of_reads
from devfix.verification.objections.code import Code
from devfix.verification.objections.emptied import of_emptied
from devfix.verification.objections.host.documented import of_documented_places, of_documented_results
from devfix.verification.objections.host.kept_on_purpose import (
    of_host_tables,
    of_modules_in_turns,
    of_rows_moved_in_parts,
)
from devfix.verification.objections.host.loader_items import of_loader_items
from devfix.verification.objections.host.pinned import of_pinned_tables
from devfix.verification.objections.host.placed_parts import of_placed_parts
from devfix.verification.objections.host.results import of_host_results, of_host_state
from devfix.verification.objections.instances import of_instances
from devfix.verification.objections.introduced import Introduced, find_introduced, with_names
from devfix.verification.objections.left_none import of_left_none
from devfix.verification.objections.members import of_members
from devfix.verification.objections.memory.shared_memory import of_renewed_memory, of_shared_memory, of_written_arrays
from devfix.verification.objections.memory.written_copies import of_written_copies
from devfix.verification.objections.origins import of_origins
from devfix.verification.objections.registered import of_modules, of_registered_on_host
from devfix.verification.objections.replicas import of_replicas
from devfix.verification.objections.saved import of_saved
from devfix.verification.objections.stored_devices import of_ignored_parameters, of_left_devices, of_stored_values

Check = Callable[[Introduced, Failure, Code], Iterator[Objection]]
CHECKS: tuple[Check, ...] = (
    *(of_buffers, of_emptied, of_replicas, of_attributes, of_modules, of_members, of_instances, of_registered_on_host),
    *(
        of_calls,
        of_left_none,
        of_overrides,
        of_origins,
        of_reads,
        of_stored_values,
        of_left_devices,
        of_ignored_parameters,
        of_host_results,
        of_host_state,
        of_shared_memory,
        of_renewed_memory,
        of_written_arrays,
        of_written_copies,
        of_saved,
        of_modules_in_turns,
        of_placed_parts,
        of_host_tables,
        of_rows_moved_in_parts,
        of_loader_items,
        of_pinned_tables,
        of_documented_places,
        of_documented_results,
    ),
)
MOST = 8  # reported for one patch


def objections(patch: Patch, failure: Failure, code: Code) -> list[Objection]:
    """Return the objections to a patch for a failure, strong ones first; `code` has the patch applied."""
    introduced = (each for what in find_introduced(patch.edits) for each in with_names(what, failure))
    found = (each for what in introduced for check in CHECKS for each in check(what, failure, code))
    unique = dict.fromkeys(replace(each, reason=code.in_cells(each.reason)) for each in found)
    return sorted(unique, key=lambda each: each.strength)[:MOST]  # "strong" before "weak"
