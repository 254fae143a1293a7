"""What a program prints of its model, where a patch registers modules."""

from __future__ import annotations

import pytest

from devfix.model import Edit
from devfix.verification.checks.model_summaries import differs_by_children, registered_attributes

MODEL = "Net(\n  (trunk): Linear(in_features=4)\n)\nloss 0.25\n"
TABLE = """┏━━━┳━━━━━━━┳━━━━━━━━┓
┃   ┃ Name  ┃ Params ┃
│ 0 │ trunk │    195 │
└───┴───────┴────────┘
Total params: 195
Modules in train mode: 5
val_acc 0.265
"""


@pytest.mark.parametrize(
    ("before", "after", "is_summary"),
    [
        (MODEL, MODEL.replace(")\nl", "  (heads): ModuleDict(\n    (a): Linear(in_features=8)\n  )\n)\nl"), True),
        (MODEL, MODEL.replace(")\nl", "  (heads): ModuleDict()\n)\nl").replace("0.25", "0.35"), False),
        (
            TABLE,
            """┏━━━┳━━━━━━━━━━━━━━━┳━━━━━━━━┓
┃   ┃ Name          ┃ Params ┃
│ 0 │ trunk         │    195 │
│ 1 │ heads_modules │     18 │
└───┴───────────────┴────────┘
Total params: 213
Modules in train mode: 8
val_acc 0.265
""",
            True,
        ),
        (TABLE, TABLE.replace("0.265", "0.3"), False),
        (TABLE, TABLE + "and more\n", False),
        (TABLE, TABLE.replace("val_acc 0.265\n", ""), False),
    ],
)
def test_a_summary_may_tell_of_what_was_registered_and_nothing_else_may_change(
    before: str, after: str, is_summary: bool
) -> None:
    assert differs_by_children(before, after, ["heads", "heads_modules"]) is is_summary
    assert not differs_by_children(before, after, [])


def test_the_containers_of_a_patch_are_found() -> None:
    before = b"self.kept = nn.ModuleList()\nself.heads = {}\n"
    after = b"self.kept = nn.ModuleList()\nself.heads = nn.ModuleDict({})\nself.more: T = torch.nn.ModuleList(x)\n"
    assert registered_attributes([Edit("net.py", 2, before, after)]) == {"heads", "more"}
