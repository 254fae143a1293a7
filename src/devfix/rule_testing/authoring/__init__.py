"""Create rules and pages, update them, lint them, and watch them for changes."""
