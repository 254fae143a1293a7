"""Find the packages: the engine and the probe below src, the rules below rules (installed as `devfix_rules`)."""

from setuptools import find_namespace_packages, setup

# Namespace packages too, for the folders that hold templates or are put on somebody's path.
ENGINE = find_namespace_packages("src", include=["devfix*"], exclude=["*__pycache__*"])
RULES = find_namespace_packages("rules", exclude=["*__pycache__*"])

setup(
    packages=[*ENGINE, "devfix_rules", *(f"devfix_rules.{name}" for name in RULES)],
    package_dir={"": "src", "devfix_rules": "rules"},
)
