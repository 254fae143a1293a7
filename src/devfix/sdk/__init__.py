"""The public rule API: the only module of devfix that a rule imports. docs/reference/sdk.md shows it, name by name."""

from devfix.model import (
    Diagnosis,
    Edit,
    Event,
    Failure,
    Finding,
    Frame,
    ModuleOwner,
    NameRef,
    Operand,
    ScopeVariable,
    SourceLocation,
)
from devfix.sdk.changes import SAFETIES, Change, change, joined
from devfix.sdk.code_warning import CodeWarning, warning
from devfix.sdk.fixes.batches import move_batch
from devfix.sdk.fixes.call_result import move_assigned, occurrences
from devfix.sdk.fixes.container import move_container, move_list
from devfix.sdk.fixes.device_expressions import device_expressions, device_names, is_bound, is_local
from devfix.sdk.fixes.device_source import (
    DeviceSource,
    change_device_sources,
    device_sources,
    is_passed_in,
    replace_device_name,
)
from devfix.sdk.fixes.factories import FACTORIES, add_device_argument, device_parameter, has_device_name
from devfix.sdk.fixes.followed_devices import followed
from devfix.sdk.fixes.host import host_copies
from devfix.sdk.fixes.instances import is_of, objects_of, passed_in
from devfix.sdk.fixes.modules import (
    construction_sites,
    largest_misplaced_module,
    move_module_before,
    outside_constructors,
    root_modules,
    variable_in_frame,
)
from devfix.sdk.fixes.moves import is_written_to, move_argument, move_result
from devfix.sdk.fixes.pins import pin_where_assigned
from devfix.sdk.fixes.registration import loads_strictly, module_container, modules_of, takes_modules
from devfix.sdk.trace.derived import StoredAttribute, derived_in_frame, stored_attributes
from devfix.sdk.trace.history import (
    frame_of,
    is_created_in_reach,
    is_created_where_used,
    last_data_event,
    loop_event,
    preserves_data,
)
from devfix.sdk.trace.holders import attribute_of, classes_called, classes_holding, dominating, files_of, owned_places
from devfix.sdk.trace.loop_values import is_loop_variable, loop_variable_frame
from devfix.sdk.trace.operands import (
    blamed_operand,
    creation_location,
    declarations,
    describe,
    is_intentional,
    misplaced_operands,
    names_in,
    peer_operand,
    target_device,
    was_moved_to,
)
from devfix.sdk.trace.placement import explicitly_placed, last_placement, placement_locations, placement_targets
from devfix.sdk.trace.returns import class_of, methods_called, return_values
from devfix.sdk.trace.scopes import binding_at, device_at, device_in, is_spread, named_at, on_device, scope_of
from devfix.sdk.trace.sites import FixSite, fix_sites, scope_at
from devfix.source import File, Sources, last_name
from devfix.source.edits.buffers import register_as_buffer
from devfix.source.edits.device_arguments import (
    device_argument,
    device_text,
    literal_device,
    literal_node,
    named_device,
    replace_device,
)
from devfix.source.edits.expressions import (
    add_keyword,
    argument,
    call_method,
    code,
    expression,
    is_move,
    move_to,
    remove_keyword,
    remove_move,
)
from devfix.source.edits.statements import insert_after, insert_before, remove_statement, replace_statement
from devfix.source.queries.loops import outside_loops
from devfix.source.queries.naming import calls, imported_name, with_constant, with_import
from devfix.source.queries.reading import assignments, definition, parameters, reads_of

# What rules may count on; docs/reference/sdk.md says when it changes and how long a deprecated name stays.
__version__ = "1.1"

__all__ = [
    "FACTORIES",
    "SAFETIES",
    "Change",
    "CodeWarning",
    "DeviceSource",
    "Diagnosis",
    "Edit",
    "Event",
    "Failure",
    "File",
    "Finding",
    "FixSite",
    "Frame",
    "ModuleOwner",
    "NameRef",
    "Operand",
    "ScopeVariable",
    "SourceLocation",
    "Sources",
    "StoredAttribute",
    "add_device_argument",
    "add_keyword",
    "argument",
    "assignments",
    "attribute_of",
    "binding_at",
    "blamed_operand",
    "call_method",
    "calls",
    "change",
    "change_device_sources",
    "class_of",
    "classes_called",
    "classes_holding",
    "code",
    "construction_sites",
    "creation_location",
    "declarations",
    "definition",
    "derived_in_frame",
    "describe",
    "device_argument",
    "device_at",
    "device_expressions",
    "device_in",
    "device_names",
    "device_parameter",
    "device_sources",
    "device_text",
    "dominating",
    "explicitly_placed",
    "expression",
    "files_of",
    "fix_sites",
    "followed",
    "frame_of",
    "has_device_name",
    "host_copies",
    "imported_name",
    "insert_after",
    "insert_before",
    "is_bound",
    "is_created_in_reach",
    "is_created_where_used",
    "is_intentional",
    "is_local",
    "is_loop_variable",
    "is_move",
    "is_of",
    "is_passed_in",
    "is_spread",
    "is_written_to",
    "joined",
    "largest_misplaced_module",
    "last_data_event",
    "last_name",
    "last_placement",
    "literal_device",
    "literal_node",
    "loads_strictly",
    "loop_event",
    "loop_variable_frame",
    "methods_called",
    "misplaced_operands",
    "module_container",
    "modules_of",
    "move_argument",
    "move_assigned",
    "move_batch",
    "move_container",
    "move_list",
    "move_module_before",
    "move_result",
    "move_to",
    "named_at",
    "named_device",
    "names_in",
    "objects_of",
    "occurrences",
    "on_device",
    "outside_constructors",
    "outside_loops",
    "owned_places",
    "parameters",
    "passed_in",
    "peer_operand",
    "pin_where_assigned",
    "placement_locations",
    "placement_targets",
    "preserves_data",
    "reads_of",
    "register_as_buffer",
    "remove_keyword",
    "remove_move",
    "remove_statement",
    "replace_device",
    "replace_device_name",
    "replace_statement",
    "return_values",
    "root_modules",
    "scope_at",
    "scope_of",
    "stored_attributes",
    "takes_modules",
    "target_device",
    "variable_in_frame",
    "warning",
    "was_moved_to",
    "with_constant",
    "with_import",
]
