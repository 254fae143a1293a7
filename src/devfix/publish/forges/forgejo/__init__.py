"""Forgejo and Gitea, which share the part of their API that devfix uses."""
