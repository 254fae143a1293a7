"""Begin and end in a process, its children and its test runner."""
