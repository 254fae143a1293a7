"""Imports that an edit needs are added once, in the order and layout of the file's own."""

from __future__ import annotations

import libcst as cst
import pytest

from devfix.sdk import with_import


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from a import b, d\n", "from a import b, c, d\n"),
        ("from a import d, e\n", "from a import c, d, e\n"),
        ("from a import a, b\n", "from a import a, b, c\n"),
        ("from a import e, b\n", "from a import e, b, c\n"),
        ("from a import SIZE, Zoo, b, d\n", "from a import SIZE, Zoo, b, c, d\n"),
        ("from a import (b, d)\n", "from a import (b, c, d)\n"),
        ("from a import (b)\n", "from a import (b, c)\n"),
        ("from a import (\n    b,\n    d,\n)\n", "from a import (\n    b,\n    c,\n    d,\n)\n"),
        ("from a import (\n    b,\n)\n", "from a import (\n    b,\n    c,\n)\n"),
        ("from a import (\n    d\n)\n", "from a import (\n    c,\n    d\n)\n"),
        ("from a import (\n    b\n)\n", "from a import (\n    b,\n    c\n)\n"),
        ("from a import (\n    b,  # why\n    d,\n)\n", "from a import (\n    b,  # why\n    c,\n    d,\n)\n"),
        ("from a import (\n    b,  # why\n)\n", "from a import (\n    b,  # why\n    c,\n)\n"),
        ("from a import (\n    b  # why\n)\n", "from a import (\n    b,  # why\n    c\n)\n"),
        ("from a import (b,  # why\n)\n", "from a import (b,  # why\n    c,\n)\n"),
        ("from a import b, \\\n    d\n", "from a import b, \\\n    c, \\\n    d\n"),
        ("from a import (\r\n    b,\r\n)\r\n", "from a import (\r\n    b,\r\n    c,\r\n)\r\n"),
        ("from a import c as d\n", "from a import c, c as d\n"),
        ("import os; from a import b  # both\n", "import os; from a import b, c  # both\n"),
        ("from a import PI, N, d\n", "from a import PI, N, c, d\n"),
        ("from a import SIZE, Box, Zoo, d\n", "from a import SIZE, Box, Zoo, c, d\n"),
        ("from a import (\n    b,\n\n    d,\n)\n", "from a import (\n    b,\n\n    c,\n    d,\n)\n"),
        ("from a import b\nx = 1\n", "from a import b, c\nx = 1\n"),
        ("from .a import b\n", "from .a import b\nfrom a import c\n"),
        ("def f():\n    from a import b\n", "from a import c\n\ndef f():\n    from a import b\n"),
    ],
)
def test_a_member_joins_the_import_of_its_module(before: str, after: str) -> None:
    made = with_import(cst.parse_module(before.encode()), "a", "c")
    assert made.bytes.decode() == after
    compile(after, "m.py", "exec")
    assert with_import(made, "a", "c") is made


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import os\n\nx = 1\n", "import os\nimport torch\n\nx = 1\n"),
        ("x = 1\n", "import torch\n\nx = 1\n"),
        ("import os\n# why\nx = 1\n", "import os\nimport torch\n\n# why\nx = 1\n"),
        ("from torch import nn\n", "from torch import nn\nimport torch\n"),
        ("import torch\n", "import torch\n"),
        ("# license\n\nx = 1\n", "# license\n\nimport torch\n\nx = 1\n"),
        ('"""Doc."""\nx = 1\n', '"""Doc."""\n\nimport torch\n\nx = 1\n'),
        ('"""Doc."""\n\nimport os\n', '"""Doc."""\n\nimport os\nimport torch\n'),
    ],
)
def test_a_new_import_comes_after_the_others(before: str, after: str) -> None:
    assert with_import(cst.parse_module(before), "torch").code == after


def test_an_import_from_the_future_comes_first() -> None:
    module = cst.parse_module('"""Doc."""\nimport os\n')
    made = with_import(module, "__future__", "annotations").code
    compile(made, "m.py", "exec")
    assert made == '"""Doc."""\n\nfrom __future__ import annotations\nimport os\n'
