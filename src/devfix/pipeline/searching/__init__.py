"""The search over failures and candidates."""
