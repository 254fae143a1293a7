"""Build the pytest arguments that run a failing test of the repository alone."""

from __future__ import annotations

from devfix.model import Target


def own_words(target: Target, test: str) -> list[str]:
    """Return arguments for pytest; none if no test failed (`test` is ""), or the suite was run without options.

    A suite may select its device by an option of its own (`--device cuda`), without which it has no test of that id.
    """
    here = target.root / target.subfolder
    options = [word for word in _words_of_pytest(target) if not (here / word.partition("::")[0]).exists()]
    return [*options, test] if test and options else []


def _words_of_pytest(target: Target) -> list[str]:
    """Return the arguments after `python -m pytest`; none for any other command."""
    words = list(target.command)
    for at in range(len(words) - 1):
        if words[at : at + 2] == ["-m", "pytest"]:
            return words[at + 2 :]
    return []
