"""Detect shell syntax in a command line."""

from __future__ import annotations

import re

_OPERATOR = re.compile(r"&&|\|\||&>>?|\d*>>|\d*[<>]&|<<<?|<\(|>\(|\d*>\|?|<|\|&?|;;?|&")
_FIRST = re.compile(r"\s*(\(|[^\s;&|<>]+)")
_EXPANSION = re.compile(r"`|\$(?:\(\(?|\{[^}]*\}?|[A-Za-z_]\w*)")
_WORDS = frozenset(
    [
        "!",
        ".",
        ":",
        "{",
        "alias",
        "bg",
        "case",
        "cd",
        "declare",
        "eval",
        "exec",
        "exit",
        "export",
        "fg",
        "for",
        "function",
        "if",
        "local",
        "popd",
        "pushd",
        "set",
        "shift",
        "shopt",
        "source",
        "trap",
        "ulimit",
        "umask",
        "unset",
        "until",
        "wait",
        "while",
    ]
)


def shell_syntax(line: str) -> str:
    """Return the first part of a command line that needs a shell, or "" if it can be run without one.

    That is an operator (`&&`, `|`, `>`), an expansion (`$HOME`, `$(date)`), a subshell, or a shell builtin in place of
    the program (`cd`). Quoted or escaped text is a plain argument.
    """
    first = _FIRST.match(line)
    if first is not None and (first[1] == "(" or first[1] in _WORDS):
        return first[1]
    at, quote = 0, ""
    while at < len(line):
        character = line[at]
        if character == "\\" and quote != "'":
            at += 2
            continue
        if character == quote:
            quote = ""
        elif not quote and character in "'\"":
            quote = character
        elif quote != "'" and (found := _EXPANSION.match(line, at) or (None if quote else _operator_at(line, at))):
            return found[0]
        at += 1
    return ""


def _operator_at(line: str, at: int) -> re.Match[str] | None:
    """Match an operator; it includes a file descriptor (`2>`) only at the start of a word."""
    found = _OPERATOR.match(line, at)
    if found is None or not found[0][0].isdigit() or at == 0 or line[at - 1].isspace():
        return found
    return None
