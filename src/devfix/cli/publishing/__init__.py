"""`devfix publish` and `devfix respond`: pull requests, and answers to comments on them."""
