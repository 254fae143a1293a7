"""The requirements that a repository declares, from the files of projects, tools and people."""
