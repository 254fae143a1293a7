"""Options of a repair, and the session that they open."""
