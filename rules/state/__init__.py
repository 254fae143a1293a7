"""State that a move does not see: plain attributes and lists, caches, hand-written `.to()`, optimizers."""
