"""After a fix that moves a constant where it is used, its other uses are shown: in any file, by any name."""

import pytest

from devfix.diagnosis.similar_code import similar_sites
from devfix.model import Edit, Patch, Safety

CONSTANTS = "import torch\n\nMEAN = torch.tensor([0.5])\nSTD = torch.tensor([0.2])\n"
FIXED = "from acme import MEAN as mean\n\n\ndef normalize(x):\n    return x - mean\n"
PACKAGE = "from .constants import *\n"


def shown(other: str) -> list[str]:
    """Return the lines that are shown of another file."""
    after = FIXED.replace("x - mean", "x - mean.to(x.device)")
    files = {
        "acme/__init__.py": PACKAGE,
        "acme/constants.py": CONSTANTS,
        "acme/pre.py": after,
        "acme/post.py": other,
    }
    found = similar_sites(
        Patch("p/r", "", "", Safety.SAFE, (Edit("acme/pre.py", 5, FIXED.encode(), after.encode()),)),
        lambda path: files[path].encode() if path in files else None,
        lambda texts: [path for path, code in files.items() if any(text in code for text in texts)],
    )
    lines = []
    for edit in found:
        assert edit.path == "acme/post.py" and edit.before == other.encode()
        lines += sorted(set(edit.after.decode().splitlines()) - set(other.splitlines()))
    return [line.strip() for line in lines]


@pytest.mark.parametrize(
    ("imported", "use", "expected"),
    [
        ("from acme.constants import MEAN", "x + MEAN", "x + MEAN.to(x.device)"),
        ("from .constants import MEAN as m", "2 * m * x[0]", "2 * m.to(x.device) * x[0]"),
        ("import acme", "x.abs() * scale + acme.MEAN", "x.abs() * scale + acme.MEAN.to(x.device)"),
        ("from acme import constants", "constants.MEAN < x", "constants.MEAN.to(x.device) < x"),
        ("from acme import *", "MEAN * x - MEAN", "MEAN.to(x.device) * x - MEAN.to(x.device)"),
        ("from acme import MEAN", "-x * MEAN.double()", "-x * MEAN.to(x.device).double()"),
        ("from acme import MEAN", "x * MEAN.to(x.dtype)", "x * MEAN.to(dtype=x.dtype, device=x.device)"),
        ("import torch\nfrom acme import MEAN", "torch.max(MEAN, x)", "torch.max(MEAN.to(x.device), x)"),
    ],
)
def test_shows_uses_by_any_name(imported: str, use: str, expected: str) -> None:
    assert shown(f"{imported}\n\n\ndef f(x, scale=1.0):\n    return {use}\n") == [f"return {expected}"]


@pytest.mark.parametrize(
    "use",
    [
        "x + MEAN.to(x.device)",  # moved
        "x + MEAN.type(x.dtype).to(x.device)",
        "x.numpy() + MEAN.numpy()",  # on the host
        "len(MEAN) * x",
        "MEAN.shape[0] * x",
        "2 * MEAN",  # nothing that is elsewhere
        "x.shape[0] * MEAN",
        "scale * MEAN",
        "x.to(DEVICE) * MEAN",
        "fill(MEAN, x)",
        "x + STD",  # another constant
    ],
)
def test_shows_no_use_that_need_not_fail(use: str) -> None:
    assert shown(f"from acme import MEAN, STD\n\n\ndef f(x, scale=1.0):\n    return {use}\n") == []


def test_shows_nothing_of_another_constant_with_the_name() -> None:
    assert shown("from other import MEAN\n\n\ndef f(x):\n    return x + MEAN\n") == []
    assert shown("from acme import MEAN\n\n\ndef f(x, MEAN):\n    return x + MEAN\n") == []
    assert shown("MEAN = 3\n\n\ndef f(x):\n    return x + MEAN\n") == []


def test_uses_in_one_statement_are_shown_together() -> None:
    lines = "from acme import MEAN\n\n\ndef f(x, y):\n    z = x * MEAN, y / MEAN\n    return z\n"
    assert shown(lines) == ["z = x * MEAN.to(x.device), y / MEAN.to(y.device)"]
