"""Edits that rules propose: moves, devices of creations, buffers and containers."""
