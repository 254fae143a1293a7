"""Start and end the probe in a process, its children and its test runner."""
