"""GitLab: merge requests, through python-gitlab."""
