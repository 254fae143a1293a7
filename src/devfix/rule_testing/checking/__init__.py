"""Run cases in their worlds, and check what the rule proposes."""
