"""GitHub's API: requests, answers, pull requests and comments."""
