"""The fixed headings of a rule's page."""

HEADINGS = ("What fails", "Why it fails", "Is the fix safe?", "Cases")
