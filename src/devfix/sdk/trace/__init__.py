"""Questions to the trace of a failure: operands, histories, scopes and owners."""
