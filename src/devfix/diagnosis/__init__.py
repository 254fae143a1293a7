"""Findings of rules about a failure, the fixes that they propose, and code with the same fault."""
