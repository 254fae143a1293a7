"""Count operators and source lines, and sum the values of tensors."""
