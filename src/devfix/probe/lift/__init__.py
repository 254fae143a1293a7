"""A lifted run: what test code creates is on a GPU, as if its author had put it there. Nothing of a test is edited."""
