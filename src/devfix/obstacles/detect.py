"""Detect what an unrelated failure shows to be missing on this machine, and suggest what to do."""

from __future__ import annotations

import re
from pathlib import Path

from devfix.model import Lack, Obstacle, Outcome, Run
from devfix.obstacles.exceptions import Ending, endings
from devfix.obstacles.modules import compiler, kernel, package, triton
from devfix.obstacles.surroundings import Surroundings, short, where

_RUN = "--run of devfix repair"
_FILE = re.compile(r"(?:No such file or directory|Not a directory|does not exist|name =)\S*:? ?'([^'\n]+)'")
_SCRIPT = re.compile(r"can't open file '([^'\n]+)': \[Errno 2\]")  # Python's message before it runs anything
_DATA = re.compile(
    r"Dataset not found|not found or corrupted|download=True|couldn't find (any|the)|is not a local folder|"
    r"[Uu]nable to (synchronously )?open file|[Nn]o (data|images?|files?|samples?) (was |were )?found",
)
_NETWORK = re.compile(
    r"name resolution|Network is unreachable|Max retries exceeded|couldn't connect to|urlopen error|"
    r"Name or service not known|offline mode|LocalEntryNotFound|[Cc]onnection (refused|aborted|error)"
)


def hindrance(run: Run, around: Surroundings) -> Obstacle | None:
    """Return the obstacle behind a failure that is unrelated to devices, None if there is no evidence of one."""
    if run.outcome is not Outcome.OTHER:
        return None
    found = endings(run)
    for ending in found:
        for look in (package, triton, compiler, kernel, _input, _file, _network):
            if obstacle := look(ending, around):
                return obstacle
    if not found and (match := _SCRIPT.search(run.stderr[-2000:])):
        return _no_script(match[1].removeprefix("./"), around)
    if not found and re.search(
        r"^Aborted[!.]$", run.stderr[-200:], re.MULTILINE
    ):  # click's message about a missing input
        return _no_input("the program")
    return None


def _input(ending: Ending, around: Surroundings) -> Obstacle | None:
    if ending.exception != "EOFError" or "reading a line" not in ending.message:
        return None
    return _no_input(where(ending))


def _no_input(where: str) -> Obstacle:
    message = f"{where} asks for input, but the standard input of the program is empty"
    advice = (
        f"pass the answer as an argument of the command, or as its input: bash -c 'echo ANSWER | python …' ({_RUN})"
    )
    return Obstacle(Lack.INPUT, message, advice)


def _no_script(path: str, around: Surroundings) -> Obstacle:
    if not Path(path).is_absolute() and (around.root / around.folder / path).exists():
        message = f"the command runs {path}, which is in the working tree but not in the commit that is run"
        return Obstacle(Lack.FILE, message, "commit it; files that git ignores are copied for the program")
    advice = f"give a command that runs a file of the repository ({_RUN}); the path is relative to the repaired folder"
    return Obstacle(Lack.FILE, f"the command runs {path}, which does not exist", advice)


def _file(ending: Ending, around: Surroundings) -> Obstacle | None:
    kind = re.search(r"(FileNotFoundError|NotADirectoryError)$", ending.exception)
    match = _FILE.search(ending.message) if kind or "open file" in ending.message else None
    if not kind and not match and not _DATA.search(ending.message):
        return None
    if match is None:
        message = f"{where(ending)} finds no data ({short(ending)})"
        return Obstacle(Lack.FILE, message, _advice_on_data())
    if ending.frames and ending.frames[-1][0].endswith("/subprocess.py"):
        message = f"{where(ending)} starts the program {match[1]}, which is not installed here"
        return Obstacle(Lack.PROGRAM, message, f"install {match[1]}, or give a command that does not need it ({_RUN})")
    path = match[1].removeprefix("./")
    own = around.root / around.folder / path
    message = f"{where(ending)} reads {path}, which does not exist"
    if not Path(path).is_absolute() and own.exists():
        message = f"{where(ending)} reads {path}, which is in the working tree but not in the commit that is run"
        return Obstacle(
            Lack.FILE, message, "commit it, or add it to .gitignore: ignored files are copied for the program"
        )
    return Obstacle(Lack.FILE, message, _advice_on_data())


def _network(ending: Ending, around: Surroundings) -> Obstacle | None:
    if not _NETWORK.search(f"{ending.exception}: {ending.message}"):
        return None
    message = f"{where(ending)} downloads something, but the network is not available ({short(ending)})"
    advice = f"download it beforehand, or give a command that needs no download ({_RUN})"
    return Obstacle(Lack.NETWORK, message, advice)


def _advice_on_data() -> str:
    return (
        f"create or download it first, or give a command that needs no data ({_RUN}); "
        "paths are relative to the repository"
    )
