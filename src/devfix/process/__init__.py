"""Programs: started, bounded in time and output, and ended with every process they have started."""

from devfix.process.environment import child_environment
from devfix.process.program import Program
from devfix.process.running import Completed, can_protect, run

__all__ = ["Completed", "Program", "can_protect", "child_environment", "run"]
