"""Rules that are data: a TOML file is read, checked, and compiled to a class that derives from a family of the SDK."""

from devfix.registry.declarations.rules import compile_module

__all__ = ["compile_module"]
