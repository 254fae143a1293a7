"""Examples of public names of the SDK without one in the docstring; docs/reference/sdk.md shows them, a test runs them.

A pair is a name's description and its example, for constants, which have no docstring.
"""

EXAMPLES: dict[str, str | tuple[str, str]] = {
    "FACTORIES": (
        "The names of the functions that make tensors and take `device=`, those that draw random numbers left out.",
        """>>> "arange" in FACTORIES, "randn" in FACTORIES
(True, False)""",
    ),
    "SAFETIES": (
        "The words for how safe a change is, the safest first. See `Change`.",
        """>>> SAFETIES
('safe', 'likely', 'unsure')""",
    ),
    "ScopeVariable": """>>> found = binding_at(failure, failure.at, "x")
>>> found.expression, found.kind, found.device, found.shape
('x', 'tensor', 'cuda:0', (2, 8))""",
    "Finding": """>>> Finding(1, "`positions` was made without a device.", strength=1).device
''""",
    "Change": """>>> Change("Do nothing", "safe", ()).edits
()""",
    "Diagnosis": """>>> diagnosis.rule, diagnosis.failure is failure
('placement/factory-without-device', True)""",
    "Edit": """>>> Edit("m.py", 1, b"x = 1\\n", b"x = 2\\n").path
'm.py'""",
    "Event": """>>> birth = blamed_operand(diagnosis).creation
>>> birth.kind, birth.op, birth.device, birth.owned_place.line
('factory', 'aten::arange', 'cpu', 11)""",
    "Failure": """>>> failure.kind, failure.exception, failure.at.path, failure.at.line
('device-mismatch', 'RuntimeError', 'main.py', 12)
>>> [operand.device for operand in failure.operands]
['cuda:0', 'cpu']""",
    "File": """>>> file = File("m.py", b"y = torch.zeros(3)\\n")
>>> file.code(file.find(file.module, "torch.zeros(3)")[0].func)
'torch.zeros'""",
    "Frame": """>>> [frame.place.function for frame in failure.owned_frames][-1]
'Model.forward'""",
    "NameRef": """>>> blamed_operand(diagnosis).names[0].expression, blamed_operand(diagnosis).names[0].relation
('positions', 'same')""",
    "Operand": """>>> wrong = blamed_operand(diagnosis)
>>> wrong.device, wrong.dtype, wrong.shape, wrong.transfers, wrong.owner
('cpu', 'torch.int64', (8,), (), None)""",
    "DeviceSource": """>>> found = device_sources(failure, last_placement(failure.operands[1]).places, source)[-1]
>>> found.file.path, found.named, found.parameter
('main.py', None, '')""",
    "ModuleOwner": """>>> ModuleOwner("self", 0, "Linear", "weight", "parameter").kind
'parameter'""",
    "SourceLocation": """>>> failure.at.path, failure.at.function, failure.at.owned
('main.py', 'Model.forward', True)""",
    "Sources": """>>> source.file(failure.at).path
'main.py'
>>> source.file(SourceLocation("lib.py", 1)) is None  # not owned
True""",
    "FixSite": """>>> fix_sites(diagnosis)[0].kind, fix_sites(diagnosis)[-1].kind
('birth', 'use')""",
    "device_expressions": """>>> spot = fix_sites(diagnosis)[0]
>>> device_expressions(diagnosis, spot, source.file(spot.place))[0]
'x.device'""",
    "move_argument": """>>> first = next(move_argument(diagnosis, fix_sites(diagnosis)[-1], source))
>>> first.title
'Move `positions` to `x.device`'""",
    "creation_location": """>>> creation_location(blamed_operand(diagnosis)).line
11""",
    "blamed_operand": """>>> blamed_operand(diagnosis).device
'cpu'""",
    "describe": """>>> describe(blamed_operand(diagnosis))
'`positions`'""",
    "add_device_argument": """>>> first = next(add_device_argument(diagnosis, fix_sites(diagnosis)[0], source))
>>> first.title
'Give `torch.arange` the device `x.device`'""",
    "is_bound": """>>> file = source.file(failure.at)
>>> is_bound(file, file.root_at(failure.at), "x.device")
True""",
    "last_name": """>>> last_name(expression("torch.nn.functional.pad"))
'pad'""",
    "names_in": """>>> [held.expression for held in names_in(blamed_operand(diagnosis), len(failure.frames) - 1)]
['positions']""",
    "occurrences": """>>> file = source.file(failure.at)
>>> [file.code(node) for node in occurrences(file, file.root_at(failure.at), "positions")]
['positions']""",
    "peer_operand": """>>> peer_operand(diagnosis).device
'cuda:0'""",
    "move_result": """>>> first = next(move_result(diagnosis, fix_sites(diagnosis)[0], source))
>>> first.title
'Move `torch.arange(x.shape[1])` to `x.device`'""",
    "scope_at": """>>> scope = scope_at(failure, failure.at)
>>> [(each.expression, each.device) for each in scope if each.kind == "tensor"][:2]
[('x', 'cuda:0'), ('positions', 'cpu')]""",
    "fix_sites": """>>> first, *_, last = fix_sites(diagnosis)
>>> first.kind, first.place.line, last.kind, last.place.line, last.expressions
('birth', 11, 'use', 12, ('positions',))""",
    "misplaced_operands": """>>> [(wrong.device, other.device) for _, wrong, other in misplaced_operands(failure)][0]
('cpu', 'cuda:0')""",
    "target_device": """>>> target_device(diagnosis)
'cuda:0'""",
    "was_moved_to": """>>> was_moved_to(blamed_operand(diagnosis), "cuda") is None
True""",
}
