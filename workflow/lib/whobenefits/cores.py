"""How the jobs of a run share the cores and the memory of one machine."""

import os
from math import ceil


def machine_memory() -> int:
    """Main memory of this machine in MB."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 10**6


def threads_of_job(cores: int, jobs: int, job_memory: int, memory: int) -> int:
    """Threads of each of `jobs` like jobs on a machine: so many that no more of them run at once than it has memory for.

    Memory is in MB. As many jobs as possible run side by side, since to load a model uses one core alone. Never less than
    one thread, never more than there are cores: a job that does not fit at all runs by itself.
    """
    side_by_side = max(1, min(jobs, memory // job_memory))
    return ceil(cores / side_by_side)
