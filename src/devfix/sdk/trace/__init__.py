"""Queries of a failure's trace: operands, histories, scopes and owners."""
