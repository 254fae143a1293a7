"""Commands for authors of rules: list, test, scaffold, lint, and the playground."""
