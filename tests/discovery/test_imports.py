"""The files of a repository that a program imports."""

from pathlib import Path

from devfix.discovery.imports import Imports


def _imports(root: Path, files: dict[str, str], kind: type[Imports] = Imports) -> Imports:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return kind(root, frozenset(files), Path("python"))


def test_a_name_beside_the_program_comes_before_one_at_the_top_and_in_src(tmp_path: Path) -> None:
    paths = ("model.py", "tools/model.py", "src/model.py", "src/pkg/__init__.py", "pkg.py", "tools/deep/__init__.py")
    imports = _imports(tmp_path, dict.fromkeys(paths, ""))

    assert imports.find("model") == "model.py"
    assert imports.find("model", "tools") == "tools/model.py"
    assert imports.find("model", "src") == "src/model.py"
    assert imports.find("pkg", "tools") == "pkg.py"
    assert imports.find("pkg", "src") == "src/pkg/__init__.py"
    assert imports.find("deep", "tools") == "tools/deep/__init__.py"
    assert imports.find("deep") is None
    assert imports.find("tools.deep", "tools") == "tools/deep/__init__.py"


def test_programs_of_one_folder_share_what_their_modules_import(tmp_path: Path) -> None:
    class Counting(Imports):
        searches = 0

        def find(self, name: str, folder: str = "") -> str | None:
            self.searches += 1
            return super().find(name, folder)

    files = {f"lib/m{n}.py": f"from lib.m{n + 1} import f, g, h\n" for n in range(20)} | {
        "lib/m20.py": "import torch\n"
    }
    tests = {f"tests/test_{n}.py": "import lib.m0\n" for n in range(30)}
    imports = _imports(tmp_path, {"lib/__init__.py": "", **files, **tests}, Counting)
    assert isinstance(imports, Counting)

    assert all(imports.reaches(path, frozenset({"lib/m20.py"})) for path in tests)
    # Each of 20 modules has five names to search for, each test two: without sharing, 30 times as many of the modules.
    assert imports.searches <= 20 * 5 + 30 * 2 + 2
    assert not imports.reaches("tests/test_0.py", frozenset({"tests/test_1.py"}))
