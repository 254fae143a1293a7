"""A repair of a notebook with its pair, as the command does it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from git_repositories import git, make_repository
from notebooks import notebook

pytest.importorskip("ipykernel", reason="notebooks run in ipykernel")

CELLS = (
    "# markdown é",
    "%env OMP_NUM_THREADS=1\nimport torch",
    "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')",
    "def shifted(x):\n    steps = torch.arange(3.0)\n    return x + steps",
    "x = torch.ones(3, device=device)\nx",
    "%%time\nprint(shifted(x).sum().item())",
)


@pytest.mark.slow
def test_a_notebook_is_repaired_in_its_cell_alone(tmp_path: Path) -> None:
    before = notebook(*CELLS, indent=4)
    root = make_repository(tmp_path / "made", {"work/nb.ipynb": before})
    command = [sys.executable, "-m", "devfix", "repair", str(root / "work" / "nb.ipynb"), "--world", "simulated"]
    done = subprocess.run([*command, "--others", "0", "--format", "json"], capture_output=True, text=True)
    report = json.loads(done.stdout)
    assert report["outcome"] == "repaired", done.stderr
    failure, fix = report["failures"][0], report["fixes"][0]
    assert (failure["at"]["path"], failure["at"]["line"]) == ("work/nb.ipynb[cell 4]", 3)
    created = {each["creation"]["path"]: each["creation"]["line"] for each in failure["operands"]}
    assert created["work/nb.ipynb[cell 4]"] == 2
    assert 'work/nb.ipynb[cell 4]", line 3, in shifted' in failure["traceback"]
    assert [edit["path"] for edit in fix["edits"]] == ["work/nb.ipynb[cell 4]"]
    after = subprocess.run(
        ["git", "-C", str(root), "show", f"{report['branch']}:work/nb.ipynb"], capture_output=True, check=True
    ).stdout
    old, new = before.split(b"\n"), after.split(b"\n")
    assert len(old) == len(new)
    changed = [(one, other) for one, other in zip(old, new, strict=True) if one != other]
    assert len(changed) == 1 and b"torch.arange(3.0, device=" in changed[0][1]
    assert git(root, "status", "--porcelain") == ""
