"""Formats of a report: text, Markdown, GitHub annotations, SARIF and JSON."""
