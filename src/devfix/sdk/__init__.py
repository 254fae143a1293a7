"""The public rule API: the only module of devfix that a rule imports. docs/reference/sdk.md shows it, name by name."""

from devfix.model import (
    Confidence,
    Diagnosis,
    Edit,
    Event,
    Failure,
    Finding,
    Frame,
    ModuleOwner,
    NameRef,
    Operand,
    Safety,
    ScopeVariable,
    SourceLocation,
)
from devfix.sdk.changes import Change, Changes, first_is_safe, join_changes, rewrite, with_safety
from devfix.sdk.code_warning import CodeWarning, warning
from devfix.sdk.declining import decline
from devfix.sdk.fixes.device_choices import DeviceChoice, device_choices, device_literal, gpu_of_number
from devfix.sdk.fixes.device_expressions import device_names
from devfix.sdk.fixes.device_source import DeviceSource, is_passed_in, replace_device_name
from devfix.sdk.fixes.factories import FACTORIES, creates_on_default_device, has_device_name
from devfix.sdk.fixes.followed_devices import find_followed
from devfix.sdk.fixes.instances import is_of, passed_in
from devfix.sdk.fixes.moves import is_written_to
from devfix.sdk.fixes.parameters import add_parameter, keep_device
from devfix.sdk.fixes.registration import (
    is_parameter,
    loads_strictly,
    module_container,
    modules_of,
    parameter_container,
    takes_modules,
)
from devfix.sdk.fixes.told_devices import tell_device
from devfix.sdk.rules.families import (
    CreationRule,
    DeviceSourceRule,
    EvidenceRule,
    ModuleRule,
    SourceRule,
    pass_device_to_creator,
)
from devfix.sdk.rules.rule import CallRule, FailureRule, OperandRule, Rule, fill_message
from devfix.sdk.rules.rule_context import Context
from devfix.sdk.rules.site import CallSite, Site
from devfix.sdk.trace.derived import StoredAttribute, derived_in_frame
from devfix.sdk.trace.flows import is_for_host
from devfix.sdk.trace.history import is_created_where_used, last_data_event, loop_event, preserves_data
from devfix.sdk.trace.holders import attribute_of, classes_called, classes_holding, dominating, owned_places
from devfix.sdk.trace.loop_values import is_loop_variable
from devfix.sdk.trace.moved_away import MovedAway, moved_away
from devfix.sdk.trace.operands import declarations, is_indexed_beside, is_selected_from, module_device
from devfix.sdk.trace.placement import last_placement
from devfix.sdk.trace.returns import class_of, methods_called, return_values
from devfix.sdk.trace.scopes import binding_at, device_at, device_in, is_spread, on_device, scope_of
from devfix.sdk.trace.sites import FixSite
from devfix.source import File, Sources, code, last_name
from devfix.source.edits.buffer_values import is_no_tensor, may_be_a_number
from devfix.source.edits.buffers import as_parameter, register_as_buffer, register_parts, register_set
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
    expression,
    is_move,
    join_tests,
    move_to,
    receiver,
    remove_keyword,
    remove_move,
)
from devfix.source.edits.imports import with_import
from devfix.source.edits.listed_tensors import is_drawn
from devfix.source.edits.statement_order import Reordered, reorder
from devfix.source.edits.statements import (
    add_method,
    insert_after,
    insert_before,
    remove_statement,
    replace_statement,
)
from devfix.source.matches import Match, match
from devfix.source.queries.bound_names import is_bound, is_local
from devfix.source.queries.guarded_caches import GuardedCache, guarded_cache
from devfix.source.queries.keyed_caches import KeyedCache, keyed_caches
from devfix.source.queries.loops import outside_loops
from devfix.source.queries.naming import calls, imported_name, with_constant
from devfix.source.queries.reading import (
    assigned_targets,
    assigned_values,
    assignments,
    definition,
    enclosing,
    is_in_constructor,
    method_call_on,
    parameter_nodes,
    parameters,
    reads_of,
)
from devfix.source.queries.registries import calls_of_factories
from devfix.source.queries.repository import Definition, Repository
from devfix.source.queries.set_by_name import set_by_name
from devfix.source.queries.writes import is_written

# What rules may count on; docs/reference/sdk.md says when it changes and how long a deprecated name stays.
__version__ = "3.0"

__all__ = [
    "FACTORIES",
    "CallRule",
    "CallSite",
    "Change",
    "Changes",
    "CodeWarning",
    "Confidence",
    "Context",
    "CreationRule",
    "Definition",
    "DeviceChoice",
    "DeviceSource",
    "DeviceSourceRule",
    "Diagnosis",
    "Edit",
    "Event",
    "EvidenceRule",
    "Failure",
    "FailureRule",
    "File",
    "Finding",
    "FixSite",
    "Frame",
    "GuardedCache",
    "KeyedCache",
    "Match",
    "ModuleOwner",
    "ModuleRule",
    "MovedAway",
    "NameRef",
    "Operand",
    "OperandRule",
    "Reordered",
    "Repository",
    "Rule",
    "Safety",
    "ScopeVariable",
    "Site",
    "SourceLocation",
    "SourceRule",
    "Sources",
    "StoredAttribute",
    "add_keyword",
    "add_method",
    "add_parameter",
    "argument",
    "as_parameter",
    "assigned_targets",
    "assigned_values",
    "assignments",
    "attribute_of",
    "binding_at",
    "call_method",
    "calls",
    "calls_of_factories",
    "class_of",
    "classes_called",
    "classes_holding",
    "code",
    "creates_on_default_device",
    "declarations",
    "decline",
    "definition",
    "derived_in_frame",
    "device_argument",
    "device_at",
    "device_choices",
    "device_in",
    "device_literal",
    "device_names",
    "device_text",
    "dominating",
    "enclosing",
    "expression",
    "fill_message",
    "find_followed",
    "first_is_safe",
    "gpu_of_number",
    "guarded_cache",
    "has_device_name",
    "imported_name",
    "insert_after",
    "insert_before",
    "is_bound",
    "is_created_where_used",
    "is_drawn",
    "is_for_host",
    "is_in_constructor",
    "is_indexed_beside",
    "is_local",
    "is_loop_variable",
    "is_move",
    "is_no_tensor",
    "is_of",
    "is_parameter",
    "is_passed_in",
    "is_selected_from",
    "is_spread",
    "is_written",
    "is_written_to",
    "join_changes",
    "join_tests",
    "keep_device",
    "keyed_caches",
    "last_data_event",
    "last_name",
    "last_placement",
    "literal_device",
    "literal_node",
    "loads_strictly",
    "loop_event",
    "match",
    "may_be_a_number",
    "method_call_on",
    "methods_called",
    "module_container",
    "module_device",
    "modules_of",
    "move_to",
    "moved_away",
    "named_device",
    "on_device",
    "outside_loops",
    "owned_places",
    "parameter_container",
    "parameter_nodes",
    "parameters",
    "pass_device_to_creator",
    "passed_in",
    "preserves_data",
    "reads_of",
    "receiver",
    "register_as_buffer",
    "register_parts",
    "register_set",
    "remove_keyword",
    "remove_move",
    "remove_statement",
    "reorder",
    "replace_device",
    "replace_device_name",
    "replace_statement",
    "return_values",
    "rewrite",
    "scope_of",
    "set_by_name",
    "takes_modules",
    "tell_device",
    "warning",
    "with_constant",
    "with_import",
    "with_safety",
]
