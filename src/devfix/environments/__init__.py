"""Build the environment of a repository from what it declares, outside of the repository."""

from devfix.environments.build import Environment, build_environment, clear_environments
from devfix.environments.request import EnvironmentRequest

__all__ = ["Environment", "EnvironmentRequest", "build_environment", "clear_environments"]
