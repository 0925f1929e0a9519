"""How the jobs of a run share one machine."""

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whobenefits.cores import machine_memory, threads_of_job

SOME = st.integers(1, 10**6)


@pytest.mark.parametrize(
    ("cores", "jobs", "job_memory", "memory", "threads"),
    [
        (2, 4, 7000, 24000, 1),  # three fit, two cores: two jobs of one thread
        (2, 4, 7000, 8000, 2),  # one fits: it has both cores
        (8, 4, 7000, 64000, 2),  # four jobs, two threads each
        (8, 4, 7000, 16000, 4),  # two fit, though there are four
        (6, 4, 7000, 64000, 2),  # three at once leave no core idle, four would leave two
        (8, 1, 7000, 64000, 8),  # one job has the machine
        (8, 4, 64000, 16000, 8),  # none fits: one at a time all the same
    ],
)
def test_hand_worked_machines(cores, jobs, job_memory, memory, threads):
    assert threads_of_job(cores, jobs, job_memory, memory) == threads


@given(cores=st.integers(1, 256), jobs=st.integers(1, 100), job_memory=SOME, memory=SOME)
def test_never_more_at_once_than_memory_and_never_more_threads_than_cores(cores, jobs, job_memory, memory):
    threads = threads_of_job(cores, jobs, job_memory, memory)
    at_once = cores // threads
    assert 1 <= threads <= cores
    assert at_once == 1 or at_once * job_memory <= memory


def test_the_memory_of_this_machine_is_in_megabytes():
    assert machine_memory() * 10**6 <= psutil.virtual_memory().total < (machine_memory() + 1) * 10**6
