"""A function of `torch.cuda` that needs a GPU is called where there may be none."""

import libcst as cst

from devfix.sdk import CallRule, CallSite, Changes, Context, expression, imported_name, replace_statement, rewrite


class UnguardedCuda(CallRule):
    """Checks for a GPU first, around a statement or in the expression."""

    failure_kind, device = "no-device", "cpu"
    message = "{failed_at} needs a GPU, and there is none."

    def fix(self, ctx: Context, site: CallSite) -> Changes:
        """Guard the call where torch is imported."""
        file, statement = site.file, site.statement
        asked, title = (
            imported_name(file, "torch.cuda.is_available"),
            f"Call `{file.code(site.node.func)}` where there is a GPU",
        )
        if not asked or not site.qualified_name.startswith("torch.cuda."):
            return
        if statement is not None and isinstance(site.line, cst.Expr) and site.line.value is site.node:
            guarded = replace_statement(file, statement, [f"if {asked}():\n    {file.code(site.node)}"])
            yield from rewrite(file, guarded, title)
        else:
            yield from site.change_to(expression(_choose(site, f"{asked}()")), title)


def _choose(site: CallSite, asked: str) -> str:
    """Return the guarded call; without a GPU it is False for a query, else the name of the host."""
    text, name = site.file.code(site.node), site.qualified_name.rpartition(".")[2]
    other = '"cpu"' if name in ("current_device", "get_device_name") else "None"
    whole = f"{asked} and {text}" if name.startswith(("is_", "can_")) else f"{text} if {asked} else {other}"
    parent = site.file.parent(site.node)
    bare = isinstance(parent, cst.Assign | cst.AnnAssign | cst.Return | cst.Arg | cst.FormattedStringExpression)
    return whole if bare else f"({whole})"
