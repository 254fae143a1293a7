"""The rules that come with devfix: each folder is a pack, each module a rule, each page its documentation and test."""
