"""All that a rule may import: the only door between the tower and the garden. docs/sdk.md shows it, name by name."""

from devfix.model import Binding, Blame, Diagnosis, Edit, Event, Failure, Frame, Held, Operand, Owner, Place
from devfix.sdk.changes import SAFETIES, Change, change, joined
from devfix.sdk.code_warning import Doubt, doubt
from devfix.sdk.fixes.batches import batch_moved
from devfix.sdk.fixes.call_result import assigned_moved, occurrences
from devfix.sdk.fixes.container import container_moved, list_moved
from devfix.sdk.fixes.device_expressions import anchors, device_names, is_bound, is_local
from devfix.sdk.fixes.device_source import Origin, is_passed_in, named_anew, origins, origins_changed
from devfix.sdk.fixes.factories import FACTORIES, factory_given_device, names_device, told_device
from devfix.sdk.fixes.followed_devices import followed
from devfix.sdk.fixes.host import host_copies
from devfix.sdk.fixes.instances import is_of, objects_of, passed_in
from devfix.sdk.fixes.modules import astray, bound, made_spots, module_moved_before, outside_constructors, roots
from devfix.sdk.fixes.moves import argument_moved, is_written_to, result_moved
from devfix.sdk.fixes.pins import pinned_where_assigned
from devfix.sdk.fixes.registration import loads_strictly, module_container, modules_of, takes_modules
from devfix.sdk.trace.derived import Kept, kept, made_of
from devfix.sdk.trace.history import frame_of, is_born_in_reach, is_born_where_used, keeps_data, loop_event, maker
from devfix.sdk.trace.holders import attribute_of, classes_called, classes_holding, dominating, files_of, owned_places
from devfix.sdk.trace.loop_values import is_turned, turn_frame
from devfix.sdk.trace.operands import (
    birthplace,
    blamed,
    declarations,
    describe,
    is_meant,
    names_in,
    peer,
    strangers,
    target_device,
    was_moved_to,
)
from devfix.sdk.trace.placement import aimed, placed_by_code, placing, placing_places
from devfix.sdk.trace.returns import answers, class_of, methods_called
from devfix.sdk.trace.scopes import binding_at, device_at, device_in, is_spread, named_at, on_device, scope_of
from devfix.sdk.trace.sites import Spot, scope_at, spots
from devfix.source import File, Sources, last_name
from devfix.source.edits.buffers import registered_as_buffer
from devfix.source.edits.device_arguments import (
    device_given,
    device_replaced,
    given_argument,
    literal_device,
    literal_node,
    named_device,
)
from devfix.source.edits.expressions import (
    argument,
    code,
    expression,
    is_move,
    keyword_added,
    keyword_removed,
    method_called,
    moved,
    unmoved,
)
from devfix.source.edits.statements import inserted_after, inserted_before, removed, replaced_by
from devfix.source.queries.loops import outside_loops
from devfix.source.queries.naming import calls, imported_name, with_constant, with_import
from devfix.source.queries.reading import assignments, definition, parameters, reads_of

# What rules may count on; docs/sdk.md says when it changes and how long a deprecated name stays.
__version__ = "1.1"

__all__ = [
    "FACTORIES",
    "SAFETIES",
    "Binding",
    "Blame",
    "Change",
    "Diagnosis",
    "Doubt",
    "Edit",
    "Event",
    "Failure",
    "File",
    "Frame",
    "Held",
    "Kept",
    "Operand",
    "Origin",
    "Owner",
    "Place",
    "Sources",
    "Spot",
    "aimed",
    "anchors",
    "answers",
    "argument",
    "argument_moved",
    "assigned_moved",
    "assignments",
    "astray",
    "attribute_of",
    "batch_moved",
    "binding_at",
    "birthplace",
    "blamed",
    "bound",
    "calls",
    "change",
    "class_of",
    "classes_called",
    "classes_holding",
    "code",
    "container_moved",
    "declarations",
    "definition",
    "describe",
    "device_at",
    "device_given",
    "device_in",
    "device_names",
    "device_replaced",
    "dominating",
    "doubt",
    "expression",
    "factory_given_device",
    "files_of",
    "followed",
    "frame_of",
    "given_argument",
    "host_copies",
    "imported_name",
    "inserted_after",
    "inserted_before",
    "is_born_in_reach",
    "is_born_where_used",
    "is_bound",
    "is_local",
    "is_meant",
    "is_move",
    "is_of",
    "is_passed_in",
    "is_spread",
    "is_turned",
    "is_written_to",
    "joined",
    "keeps_data",
    "kept",
    "keyword_added",
    "keyword_removed",
    "last_name",
    "list_moved",
    "literal_device",
    "literal_node",
    "loads_strictly",
    "loop_event",
    "made_of",
    "made_spots",
    "maker",
    "method_called",
    "methods_called",
    "module_container",
    "module_moved_before",
    "modules_of",
    "moved",
    "named_anew",
    "named_at",
    "named_device",
    "names_device",
    "names_in",
    "objects_of",
    "occurrences",
    "on_device",
    "origins",
    "origins_changed",
    "outside_constructors",
    "outside_loops",
    "owned_places",
    "parameters",
    "passed_in",
    "peer",
    "pinned_where_assigned",
    "placed_by_code",
    "placing",
    "placing_places",
    "reads_of",
    "registered_as_buffer",
    "removed",
    "replaced_by",
    "result_moved",
    "roots",
    "scope_at",
    "scope_of",
    "spots",
    "strangers",
    "takes_modules",
    "target_device",
    "told_device",
    "turn_frame",
    "unmoved",
    "was_moved_to",
    "with_constant",
    "with_import",
]
