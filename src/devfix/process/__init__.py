"""Run programs with limits on time and output, and end every process that they start."""

from devfix.process.environment import child_environment
from devfix.process.limits import LimitKind, ResourceLimits, default_limits
from devfix.process.output_buffer import BoundedOutput
from devfix.process.running import Completed, TorchProcess, can_protect, run
from devfix.process.sandbox import Sandbox, interpreter_folders, why_no_sandbox
from devfix.process.supervised import SupervisedProcess

__all__ = [
    "BoundedOutput",
    "Completed",
    "LimitKind",
    "ResourceLimits",
    "Sandbox",
    "SupervisedProcess",
    "TorchProcess",
    "can_protect",
    "child_environment",
    "default_limits",
    "interpreter_folders",
    "run",
    "why_no_sandbox",
]
