"""Validated proposals from untrusted reports, and the text of their pull requests."""
