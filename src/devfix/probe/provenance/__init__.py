"""Record where tensors are created and moved."""
