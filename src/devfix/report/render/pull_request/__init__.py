"""Reports as Markdown for pull requests, and the messages of commits."""
