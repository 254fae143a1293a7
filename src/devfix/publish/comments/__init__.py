"""Commands in comments on pull requests: `/devfix rebase`, `/devfix ignore`, `/devfix explain`."""
