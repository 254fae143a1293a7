"""Fixes as suggestions in the review of a pull request."""
