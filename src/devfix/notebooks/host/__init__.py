"""Programs that the interpreter of a notebook runs: nothing here imports devfix."""
