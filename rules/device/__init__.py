"""The device itself is wrong: hard-coded, not passed on, compared with what it never equals."""
