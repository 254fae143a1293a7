"""The rules that come with devfix: each folder a pack, each module a rule, each page its sign and its test."""
