"""Examples of public names of the SDK without one in the docstring; docs/reference/sdk.md shows them, a test runs them.

A pair is a name's description and its example, for constants, which have no docstring.
"""

EXAMPLES: dict[str, str | tuple[str, str]] = {
    "Changes": (
        "What `propose` and the edits of a site return: an iterator of changes, best first.",
        """>>> def propose(ctx: Context) -> Changes:
...     for site in ctx.uses():
...         yield from site.move_argument()
>>> [each.title for each in propose(ctx)][0]
'Move `positions` to `x.device`'""",
    ),
    "FACTORIES": (
        "The names of the functions that make tensors and take `device=`, those that draw random numbers left out.",
        """>>> "arange" in FACTORIES, "randn" in FACTORIES
(True, False)""",
    ),
    "Safety": """>>> [str(each) for each in Safety]
['safe', 'likely', 'unsure']""",
    "ScopeVariable": """>>> found = binding_at(failure, failure.at, "x")
>>> found.expression, found.kind, found.device, found.shape
('x', 'tensor', 'cuda:0', (2, 8))""",
    "Confidence": """>>> Confidence.DIRECT < Confidence.GUESS
True""",
    "Finding": """>>> Finding(1, "`positions` was made without a device.", Confidence.DIRECT).device
''""",
    "Change": """>>> Change("Do nothing", Safety.SAFE, ()).edits
()""",
    "Diagnosis": """>>> diagnosis.finding.confidence.name, diagnosis.failure is failure
('GUESS', True)""",
    "Edit": """>>> Edit("m.py", 1, b"x = 1\\n", b"x = 2\\n").path
'm.py'""",
    "Event": """>>> creation = ctx.operand.creation
>>> creation.kind, creation.op, creation.device, creation.owned_place.line
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
    "NameRef": """>>> ctx.operand.names[0].expression, ctx.operand.names[0].relation
('positions', 'same')""",
    "Operand": """>>> wrong = ctx.operand
>>> wrong.device, wrong.dtype, wrong.shape, wrong.transfers, wrong.owner
('cpu', 'torch.int64', (8,), (), None)""",
    "DeviceSource": """>>> found = ctx.device_sources()[-1]
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
    "FixSite": """>>> [site.fix_site.kind for site in ctx.sites()][-1]
'use'""",
    "is_bound": """>>> file = source.file(failure.at)
>>> is_bound(file, file.root_at(failure.at), "x.device")
True""",
    "last_name": """>>> last_name(expression("torch.nn.functional.pad"))
'pad'""",
    "names_in": """>>> [held.expression for held in names_in(ctx.operand, len(failure.frames) - 1)]
['positions']""",
}
