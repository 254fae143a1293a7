"""Rules from packs and folders; what is no rule is named, and the others go on."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from rule_packs import RULE, write_rule

from devfix import registry
from devfix.config import Config
from devfix.errors import RuleError, UserError
from devfix.registry import Catalog, collect, selection
from devfix.registry.loading import rule_at
from devfix.registry.options import format_defaults, read_options
from devfix.registry.timeout import GRACE

OPTIONS = """
from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    wrappers: tuple[str, ...] = ("Scaled",)
    deep_search: bool = False
    most: int = 3
    share: float = 0.5
    name: str = "x"
"""
WITH_OPTIONS = RULE.replace("\n\nclass BiasLeft", f"{OPTIONS}\n\nclass BiasLeft", 1)


def installed(monkeypatch: pytest.MonkeyPatch, folder: Path, *packages: str) -> None:
    """Have packages in `folder` stand as the installed packs."""
    monkeypatch.syspath_prepend(str(folder))
    points = [EntryPoint(name, name, registry.GROUP) for name in packages]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    for name in [*sys.modules]:
        if name.split(".")[0] in packages:
            monkeypatch.delitem(sys.modules, name)


def ids(found: Catalog) -> list[str]:
    return [rule.id for rule in found.rules]


def test_a_folder_of_packs_a_pack_a_module_and_a_page_give_rules(tmp_path: Path) -> None:
    module = write_rule(tmp_path)
    (tmp_path / "acme" / "_shared.py").write_text("raise RuntimeError\n")
    for path in (tmp_path, tmp_path / "acme", module, module.with_suffix(".md")):
        assert "acme/bias-left" in ids(collect([path]))
    rule = collect([tmp_path]).find("acme/bias-left")
    assert (rule.title, rule.pack, rule.page) == ("The bias stays behind.", "acme", module.with_suffix(".md"))
    with pytest.raises(UserError, match=r"did you mean acme/bias-left\?"):
        collect([tmp_path]).find("other/bias-left")


def test_a_pack_is_found_by_its_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_rule(tmp_path)
    (tmp_path / "acme" / "__init__.py").write_text("")
    (tmp_path / "acme" / "helping.py").write_text(RULE + "\nfrom ._words import WORD\n")
    (tmp_path / "acme" / "_words.py").write_text("WORD = 1\n")
    installed(monkeypatch, tmp_path, "acme")
    assert ids(collect()) == ["acme/bias-left", "acme/helping"]
    assert collect().problems == ()
    # Named by its path as well, it is the same rule and not a second one.
    assert collect([tmp_path / "acme"]).problems == ()


def test_another_copy_of_an_installed_pack_is_taken_from_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        module = write_rule(tmp_path / name, rule=RULE + f"\nfrom ._words import WORD\nassert WORD == {name!r}\n")
        (module.parent / "__init__.py").write_text("")
        (module.parent / "_words.py").write_text(f"WORD = {name!r}\n")
    installed(monkeypatch, tmp_path / "one", "acme")
    assert collect().find("acme/bias-left").path == tmp_path / "one" / "acme" / "bias_left.py"
    assert rule_at(tmp_path / "two" / "acme" / "bias_left.py").path == tmp_path / "two" / "acme" / "bias_left.py"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("raise KeyError('x')", "cannot be imported: KeyError: 'x'"),
        ("import sys; sys.exit(3)", "cannot be imported: SystemExit: 3"),
        ("def (", "cannot be imported: SyntaxError"),
        ("x = 1", "is not a rule, it needs one class derived from devfix.sdk.Rule, and has none"),
        (f"{RULE}\n\nclass Twin(BiasLeft): pass", "derived from devfix.sdk.Rule, and has 2: BiasLeft, Twin"),
        (f"{RULE}\n    def __init__(self): raise KeyError('x')", "BiasLeft() raised KeyError: 'x'"),
        (RULE.replace('"""The bias stays behind."""', ""), "is not a rule, it lacks a docstring, which is its title"),
        (RULE.replace("def propose", "def suggest"), "is not a rule, BiasLeft lacks propose"),
        (RULE + "\nOptions = {'a': 1}\n", "`Options` must be a dataclass"),
        (WITH_OPTIONS.replace("    wrappers", "    first: int\n    wrappers"), "needs a default"),
        (WITH_OPTIONS.replace('name: str = "x"', "name: object = None"), "option name has a default of type NoneType"),
    ],
)
def test_what_is_no_rule_is_named_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, words: str
) -> None:
    write_rule(tmp_path)
    write_rule(tmp_path, "wrong", rule=text)
    (tmp_path / "acme" / "__init__.py").write_text("")
    installed(monkeypatch, tmp_path, "acme", "missing")
    found = collect()
    assert ids(found) == ["acme/bias-left"]
    assert any(words in problem and "wrong" in problem for problem in found.problems), found.problems
    assert any("pack 'missing'" in problem for problem in found.problems)


def test_two_rules_with_one_id_are_told(tmp_path: Path) -> None:
    write_rule(tmp_path / "one")
    write_rule(tmp_path / "two")
    found = collect([tmp_path / "one", tmp_path / "two"])
    assert found.find("acme/bias-left").path == tmp_path / "one" / "acme" / "bias_left.py"
    assert any("set aside" in problem and "two" in problem for problem in found.problems)


@pytest.mark.parametrize("path", ["nowhere", "nothing.md", "empty"])
def test_a_path_without_rules_is_wrong_usage(tmp_path: Path, path: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=path):
        collect([tmp_path / path])


def test_select_and_ignore_name_rules_and_packs(tmp_path: Path) -> None:
    write_rule(tmp_path)
    write_rule(tmp_path, "other")
    assert ids(collect([tmp_path], select=["acme"])) == ["acme/bias-left", "acme/other"]
    assert ids(collect([tmp_path], select=["acme/other"])) == ["acme/other"]
    assert "acme/other" not in ids(collect([tmp_path], ignore=["acme/other"]))
    assert not any(name.startswith("acme/") for name in ids(collect([tmp_path], ignore=["acme"])))
    with pytest.raises(UserError, match="select: no rule or pack is called 'acne'"):
        collect([tmp_path], select=["acne"])


def test_options_reach_the_rule(tmp_path: Path) -> None:
    raising = "        raise ValueError(str(self.options))\n        for each in ctx"
    said = WITH_OPTIONS.replace("        for each in ctx", raising)
    write_rule(tmp_path, rule=said)

    def options_of(values: dict[str, object]) -> str:
        rule = collect([tmp_path], options={"acme/bias-left": values}).find("acme/bias-left")
        with pytest.raises(ValueError, match="Options") as caught:
            rule.diagnose(None)  # type: ignore[arg-type]
        return str(caught.value)

    assert options_of({}) == "Options(wrappers=('Scaled',), deep_search=False, most=3, share=0.5, name='x')"
    assert "wrappers=('A', 'B'), deep_search=True" in options_of({"wrappers": ["A", "B"], "deep-search": True})
    assert "share=2.0" in options_of({"share": 2})


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"wraper": []}, "unknown option 'wraper'; did you mean 'wrappers'?"),
        ({"zzz": 1}, "unknown option 'zzz'; known are deep-search, most, name, share, wrappers"),
        ({"wrappers": "A"}, "option 'wrappers' must be a list of strings, not 'A'"),
        ({"wrappers": [1]}, "must be a list of strings"),
        ({"most": True}, "option 'most' must be a whole number, not True"),
        ({"share": "1"}, "must be a number"),
        ({"deep-search": 1}, "must be true or false"),
    ],
)
def test_wrong_options_are_wrong_usage(tmp_path: Path, values: dict[str, object], words: str) -> None:
    write_rule(tmp_path, rule=WITH_OPTIONS)
    with pytest.raises(UserError) as caught:
        collect([tmp_path], options={"acme/bias-left": values})
    assert words in str(caught.value)
    write_rule(tmp_path / "without")
    with pytest.raises(UserError, match="rule acme/bias-left has no options"):
        collect([tmp_path / "without"], options={"acme/bias-left": values})


def test_options_are_shown_as_toml(tmp_path: Path) -> None:
    write_rule(tmp_path, rule=WITH_OPTIONS)
    options = collect([tmp_path]).find("acme/bias-left").options
    assert options is not None
    listed = format_defaults(options)
    assert listed == {
        "wrappers": '["Scaled"]',
        "deep-search": "false",
        "most": "3",
        "share": "0.5",
        "name": '"x"',
    }
    assert read_options(options, {}, "acme/bias-left").most == 3


def test_a_repository_does_not_load_rules_by_having_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    repository = tmp_path / "repository"
    write_rule(repository / "tools" / "rules", rule="raise SystemExit('loaded')\n")
    config = Config(rule_paths=("tools/rules",), source=repository / "pyproject.toml")
    found = selection.rules_for(config)
    assert not any("SystemExit" in problem for problem in found.problems)
    assert any("--rules tools/rules" in problem for problem in found.problems)


def test_the_command_line_and_the_users_own_configuration_name_rules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    repository = tmp_path / "repository"
    module = write_rule(repository / "tools" / "rules")
    config = Config(rule_paths=("tools/rules",), source=repository / "pyproject.toml")
    found = selection.rules_for(config, [module.parent.parent])
    assert "acme/bias-left" in ids(found)
    assert not any("tools/rules" in problem for problem in found.problems)
    write_rule(tmp_path / "home" / "devfix" / "mine", "own")
    (tmp_path / "home" / "devfix" / "devfix.toml").write_text('rule-paths = ["mine"]\n')
    assert "acme/own" in ids(selection.rules_for(config))


def test_a_rule_that_is_none_raises_for_who_asks_for_it_alone(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="is not a rule"):
        rule_at(write_rule(tmp_path, rule="x = 1\n"))


def test_what_is_named_comes_before_what_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("old", "new"):
        module = write_rule(tmp_path / name)
        (module.parent / "__init__.py").write_text("")
    installed(monkeypatch, tmp_path / "old", "acme")
    found = collect([tmp_path / "new" / "acme"])
    assert found.find("acme/bias-left").path == tmp_path / "new" / "acme" / "bias_left.py"


def test_a_pack_has_the_name_under_which_it_is_installed(tmp_path: Path) -> None:
    module = write_rule(tmp_path / "src")
    (tmp_path / "pyproject.toml").write_text('[project.entry-points."devfix.rules"]\nlocal = "company.acme"\n')
    assert "local/bias-left" in ids(collect([module.parent]))


def test_what_lies_too_deep_and_a_page_without_a_module_are_named(tmp_path: Path) -> None:
    write_rule(tmp_path)
    deep = write_rule(tmp_path / "more" / "packs")
    (tmp_path / "acme" / "lonely.md").write_text("# A rule\n\n## Cases\n")
    (tmp_path / "acme" / "README.md").write_text("# Rules of Acme\n")
    problems = collect([tmp_path]).problems
    assert [each for each in problems if "too deep" in each] == [f"{deep}: in too deep a folder: name that folder"]
    assert [each for each in problems if "without its module" in each] == [
        f"{tmp_path / 'acme' / 'lonely.md'}: the page of a rule without its module, lonely.py"
    ]
    with pytest.raises(UserError, match=f"name the folder {deep.parent}"):
        collect([tmp_path / "more"])


def test_a_rule_that_imports_torch_is_named(tmp_path: Path) -> None:
    write_rule(tmp_path, rule=RULE + "\nif False:\n    import torch.nn\n")
    assert any("bias_left.py: imports torch" in problem for problem in collect([tmp_path]).problems)


def test_an_import_without_end_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("devfix.registry.loading.IMPORT_SECONDS", 0.5)
    write_rule(tmp_path, rule=RULE + "\nwhile True:\n    pass\n")
    assert any("cannot be imported: took longer than 0.5 s" in problem for problem in collect([tmp_path]).problems)


def test_an_exception_in_a_module_names_its_line(tmp_path: Path) -> None:
    module = write_rule(tmp_path, rule=RULE + "\n{}['x']\n")
    line = len(RULE.splitlines()) + 2
    assert any(
        f"cannot be imported: KeyError: 'x' at {module}:{line}" in problem for problem in collect([tmp_path]).problems
    )


def test_what_a_rule_prints_goes_to_standard_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_rule(tmp_path, rule=RULE + "\nprint('loaded')\n")
    collect([tmp_path])
    out, err = capsys.readouterr()
    assert (out, err) == ("", "loaded\n")


def test_a_signal_during_an_import_ends_the_command(tmp_path: Path) -> None:
    write_rule(tmp_path, rule=RULE + "\nimport time\nprint('importing', flush=True)\ntime.sleep(600)\n")
    command = [sys.executable, "-m", "devfix", "rules", "--rules", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stderr is not None and process.stderr.readline() == b"importing\n"
        process.terminate()
        said = process.stderr.read()
        assert process.wait() == 128 + signal.SIGTERM, said


@pytest.mark.slow
def test_a_signal_ends_the_command_while_an_import_is_printing(tmp_path: Path) -> None:
    """Python's finalization aborts if a thread holds standard error: this one does, until its output is read."""
    write_rule(tmp_path, rule=RULE + "\nimport time\nprint('importing\\n' + 'x' * 1_000_000)\ntime.sleep(600)\n")
    command = [sys.executable, "-m", "devfix", "rules", "--rules", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stderr is not None and process.stderr.readline() == b"importing\n"
        process.terminate()
        time.sleep(4 * GRACE)
        said = process.stderr.read()
        assert process.wait() == 128 + signal.SIGTERM, said[-1000:]
