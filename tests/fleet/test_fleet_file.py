"""fleet.toml: what it says, and what is said of mistakes in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from devfix.errors import UserError
from devfix.fleet.planning import FleetFile, read_fleet_file
from devfix.model import JobMode, WorldChoice

ONE = '[[repository]]\naddress = "https://example.org/ada/model"\n'


def read(tmp_path: Path, text: str) -> FleetFile:
    (tmp_path / "fleet.toml").write_text(text)
    return read_fleet_file(tmp_path / "fleet.toml")


def refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(UserError) as error:
        read(tmp_path, text)
    return str(error.value).removeprefix(f"{tmp_path / 'fleet.toml'}: ")


def test_entries_have_the_defaults_of_the_fleet_and_their_own_settings(tmp_path: Path) -> None:
    text = '[fleet]\nmode = "repair"\ngpus = 2\nmemory = 8\nretries = 5\nresults = "out"\n'
    text += ONE + 'ref = "v1"\nsubfolder = "train"\nrun = "python train.py"\nworld = "simulated"\n'
    text += '[[repository]]\npath = "local"\nmode = "find"\nmemory = 16\nnetwork = true\n'
    fleet = read(tmp_path, text)
    assert (fleet.results, fleet.retries) == (tmp_path / "out", 5)
    first, second = fleet.repositories
    assert (first.address, first.ref, first.subfolder) == ("https://example.org/ada/model", "v1", "train")
    assert (first.settings.mode, first.settings.gpus, first.settings.memory) == (JobMode.REPAIR, 2, 8)
    assert (first.settings.run, first.settings.world) == ("python train.py", WorldChoice.SIMULATED)
    assert second.address == str(tmp_path / "local")
    assert (second.settings.mode, second.settings.memory, second.settings.network) == (JobMode.FIND, 16, True)


def test_an_owner_is_an_entry_of_its_own_kind(tmp_path: Path) -> None:
    text = '[[repository]]\nowner = "git.example.org/ada/*"\nforge = "gitlab"\ninclude = ["vision*"]\nforks = true\n'
    (found,) = read(tmp_path, text).repositories
    assert (found.owner, found.forge, found.include) == ("git.example.org/ada/*", "gitlab", ("vision*",))
    assert (found.archived, found.forks) == (False, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[fleet", "not valid TOML"),
        ("", "names no repository"),
        ("[fleets]\n" + ONE, "unknown table 'fleets'; known are [fleet] and [[repository]]"),
        ("[fleet]\nmemry = 3\n" + ONE, "fleet: unknown key 'memry'; did you mean 'memory'?"),
        ("[fleet]\nmemory = 0\n" + ONE, "fleet: key 'memory' must be a number of gigabytes above 0, not 0"),
        ('[fleet]\nmode = "run"\n' + ONE, "fleet: key 'mode' must be repair or find, not 'run'"),
        ("[repository]\n", "repository must be a list of tables: [[repository]]"),
        ('[[repository]]\nref = "main"\n', "repository 1: give one of address, path and owner, not none of them"),
        (ONE + 'path = "x"\n', "repository 1: give one of address, path and owner, not address and path"),
        (ONE + 'include = ["a"]\n', "repository 1: key 'include' is for the repositories of an owner"),
        (ONE + 'subfolder = "../other"\n', "repository 1: key 'subfolder' must be a folder inside the repository"),
        (ONE + 'options = ["--output=/etc"]\n', "repository 1: key 'options' has --output=/etc, which a job"),
        (ONE + 'mode = "find"\nrun = "x"\n', "repository 1: key 'run' is for mode = \"repair\""),
        (
            ONE + 'mode = "find"\nworld = "real"\n',
            "repository 1: key 'world' is real, and `devfix find` lifts tests to",
        ),
        (ONE + 'mode = "find"\nworld = "mps"\ngpus = 2\n', "repository 1: key 'gpus' is 2, and `devfix find` uses 1"),
        ("[fleet]\ngpus = 4\n" + ONE + 'mode = "find"\n', "repository 1: key 'gpus' is 4, and `devfix find` uses 2"),
        (ONE + 'python = "python3"\ntorch = "cpu"\n', "repository 1: key 'python' names an environment"),
        (ONE + "retries = 1\n", "repository 1: unknown key 'retries'"),
    ],
)
def test_mistakes_are_said_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    message = refused(tmp_path, text)
    assert (message.startswith(said) and "\n" not in message.replace(str(tmp_path), "")) or "TOML" in message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"fleet\.toml: cannot be read: No such file"):
        read_fleet_file(tmp_path / "fleet.toml")
