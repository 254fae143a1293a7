"""After a fix in one branch, other branches that combine the same tensors are shown, and no others."""

from devfix.diagnosis.similar_code import similar_sites
from devfix.model import Edit, Patch, Safety

BEFORE = """class Average:
    def update(self, rows):
        if self.value is None:
            self.value = rows.mean(0)
        elif len(rows) > 1:
            self.value = self.value + rows.mean(0)
        elif self.slow:
            self.value = from_numpy(self.value.numpy() + rows.cpu().numpy())
        elif self.other:
            self.value = self.value.to(rows.device) + rows[1]
        elif self.moved:
            self.value = self.value.to(rows.device)
            self.value = self.value + rows[2]
        else:
            self.value = self.value * 0.5 + rows[0]
"""
FAILED = "            self.value = self.value + rows.mean(0)\n"
TWIN = "            self.value = self.value * 0.5 + rows[0]\n"


def shown(after: str) -> list[str]:
    """Return the files that are shown for a patch."""
    patch = Patch("p/r", "", "", Safety.SAFE, (Edit("m.py", 6, BEFORE.encode(), after.encode()),))
    found = similar_sites(patch, lambda path: after.encode() if path == "m.py" else None, lambda texts: ["m.py"])
    return [each.after.decode() for each in found]


def test_a_move_in_place_is_shown_in_place() -> None:
    after = BEFORE.replace(FAILED, FAILED.replace("self.value +", "self.value.to(rows.device) +"))
    assert shown(after) == [after.replace(TWIN, TWIN.replace("self.value *", "self.value.to(rows.device) *"))]


def test_a_move_by_a_line_of_its_own_is_shown_as_one() -> None:
    line = "            self.value = self.value.to(rows.device)\n"
    after = BEFORE.replace(FAILED, line + FAILED)
    assert shown(after) == [after.replace(TWIN, line + TWIN)]


def test_nothing_is_shown_for_a_move_before_the_branches() -> None:
    test = "        if self.value is None:\n"
    assert shown(BEFORE.replace(test, "        self.value = self.value.to(rows.device)\n" + test)) == []
