"""Reports as JSON, SARIF and code quality issues."""
