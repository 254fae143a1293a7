"""Constructors of tensors, also of legacy types and of the user's subclasses."""
