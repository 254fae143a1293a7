"""Change expressions and statements of a file."""
