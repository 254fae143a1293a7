"""Screens, listings, pages and artifacts that several commands print or write."""
