"""Rules and pages for tests: a pack in a temporary folder, with one rule that moves what it blames."""

from __future__ import annotations

from pathlib import Path

RULE = '''"""The bias stays behind."""

from collections.abc import Iterator

from devfix.sdk import Change, Context, Finding, Rule


class BiasLeft(Rule):
    def diagnose(self, ctx: Context) -> Finding | None:
        for each in ctx.suspects():
            if each.operand.device == "cpu" and not each.moved_to("cpu"):
                return each.report(f"It never was on {each.peer.device}.")
        return None

    def propose(self, ctx: Context) -> Iterator[Change]:
        for site in ctx.sites():
            if site.kind == "use":
                yield from site.move_argument()
'''

BEFORE = """import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
weight = torch.ones(3).to(device)
bias = torch.zeros(3)
print((weight + bias).tolist())
"""
AFTER = BEFORE.replace("+ bias", "+ bias.to(device)")
ON_PURPOSE = BEFORE.replace("torch.zeros(3)", "torch.zeros(3).to(device).cpu()")
FAILURE = "device-mismatch at main.py:6\nRuntimeError: Expected all tensors to be on the same device…"


def block(info: str, content: str) -> str:
    return f"```{info}\n{content.rstrip(chr(10))}\n```\n"


def repaired(before: str = BEFORE, failure: str = FAILURE, after: str = AFTER) -> str:
    parts = [block("python before", before), block("text failure", failure), block("python after", after)]
    return "### left behind\n\n" + "\n".join(parts)


def left_alone(before: str = ON_PURPOSE, failure: str = FAILURE) -> str:
    return "### on purpose\n\n" + block("python before", before) + "\n" + block("text failure", failure)


def page(*cases: str, title: str = "The bias stays behind.", safety: str = "Safe. It is only a copy.") -> str:
    said = f"## What fails\n\nThis.\n\n## Why it fails\n\nSo.\n\n## Is the fix safe?\n\n{safety}\n\n## Cases\n\n"
    return f"# {title}\n\n{said}" + "\n".join(cases or (repaired(), left_alone()))


def write_rule(folder: Path, name: str = "bias_left", rule: str = RULE, text: str | None = None) -> Path:
    """Write a rule and its page into `folder`/acme, and return the module's path."""
    pack = folder / "acme"
    pack.mkdir(parents=True, exist_ok=True)
    (pack / f"{name}.py").write_text(rule, encoding="utf-8")
    (pack / f"{name}.md").write_text(page() if text is None else text, encoding="utf-8")
    return pack / f"{name}.py"
