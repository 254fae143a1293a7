"""State that a move does not cover: plain attributes and lists, caches, hand-written `.to()`, optimizers."""
