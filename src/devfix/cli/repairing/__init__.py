"""`devfix repair` and `devfix undo`: arguments, decisions at the keyboard, and taking fixes."""
