"""The workflow on a real SLURM: a whole run, and runs in which a job, a node or Snakemake itself is killed."""

import os
import re
import signal
from collections import Counter

import pytest
from checkouts import ROOT, Checkout, copied
from cluster import awaited, environment, held, is_signalled, jobs, last_number, process_of, told, written_files

# A group's job is named by the first five of its rules.
MEASURING = "attribute_gather_answers_measure_groups_measure_queries_measure_uncertainty_..."
RECORDS = {"report/index.html", "report/provenance.json", "ro-crate-metadata.json"}
LITTLE = 300  # MB: PyTorch and Snakemake need more


def results(run: Checkout) -> dict[str, bytes]:
    """All result files by name, but for logs, the store, indexes, and what says when and where a run was made."""
    names = [path.relative_to(run.results) for path in run.results.rglob("*") if path.is_file()]
    return {
        str(name): (run.results / name).read_bytes()
        for name in names
        if not {"logs", "store", "index"} & {*name.parts} and str(name) not in RECORDS
    }


def test_a_whole_run_gives_what_a_local_run_gives_and_only_models_get_gpus(heads, tiny_run, tmp_path):
    before, run = last_number(), copied(tmp_path, tiny_run.config)
    heads(run).end()
    local, clustered = results(tiny_run), results(run)
    assert local.keys() == clustered.keys() and len(local) > 30
    assert {name for name in local if local[name] != clustered[name]} == set()
    ran = jobs(before)
    assert {job.JobState for job in ran} == {"COMPLETED"}
    assert Counter((job.name, job.Partition, job.gpus) for job in ran) == {
        ("rule_prepare_dataset", "cpu", 0): 1,
        ("rule_build_index", "cpu", 0): 1,
        ("rule_encode_corpus", "gpu", 1): 1,
        ("group_retrieval_plan_requests_retrieve", "cpu", 0): 1,
        ("rule_generate", "gpu", 1): 2,
        (f"group_measuring_{MEASURING}", "cpu", 0): 1,
    }


def test_a_killed_process_loses_only_the_batch_in_flight_and_a_cancelled_job_not_even_that(generation):
    head = generation.start()
    process = process_of(generation.in_the_middle(), "generate")
    assert "CUDA_VISIBLE_DEVICES=0" in environment(process)
    os.kill(process, signal.SIGKILL)
    told("scancel", generation.in_the_middle(segments=2).JobId)
    head.end()
    assert generation.kept() and generation.is_as_expected()
    killed, cancelled, _ = ran = generation.jobs()
    assert [job.JobState for job in ran] == ["FAILED", "CANCELLED", "COMPLETED"]
    assert f"asked to end (SIGTERM): {generation.counts()[1]} of " in cancelled.output()
    assert [job.megabytes for job in ran] == [killed.megabytes * attempt for attempt in (1, 2, 3)]
    assert [job.minutes for job in ran] == [killed.minutes * attempt for attempt in (1, 2, 3)]


@pytest.mark.parametrize("requeue", [0, 1], ids=["by Snakemake", "by SLURM"])
def test_a_job_whose_node_goes_down_runs_again_on_another_node(generation, requeue):
    head = generation.start()
    first = generation.in_the_middle()
    told("scontrol", "update", f"jobid={first.JobId}", f"requeue={requeue}")
    told("scontrol", "update", f"nodename={first.NodeList}", "state=down", "reason=test")
    try:
        head.end()
    finally:
        told("scontrol", "update", f"nodename={first.NodeList}", "state=resume")
    assert generation.kept() and generation.is_as_expected()
    *failed, last = generation.jobs()
    assert [job.JobState for job in failed] == ([] if requeue else ["NODE_FAIL"])
    assert last.JobState == "COMPLETED" and last.NodeList != first.NodeList


def test_a_job_that_needs_more_memory_runs_again_with_more(generation):
    growing = f"generate:mem_mb={LITTLE} * attempt ** 4"
    generation.start("--set-resources", growing, "generate:slurm_partition=gpu").end()
    first, second = generation.jobs()
    assert (first.JobState, second.JobState) == ("FAILED", "COMPLETED")
    assert "exceeded memory limit" in first.output()
    assert (first.megabytes, second.megabytes) == (LITTLE, 16 * LITTLE)
    assert generation.is_as_expected()


def test_a_killed_snakemake_is_started_again_and_the_job_it_left_does_no_harm(generation):
    head = generation.start()
    left = generation.in_the_middle()
    process = process_of(left, "generate")
    with held(process):  # so that it does not end before its successor begins
        head.kill()
        assert told("bash", "-c", listing_of_leftovers()).split() == [left.JobId]
        generation.start("--unlock").end()
        head = generation.start()
        successor = process_of(generation.in_the_middle(segments=2), "generate")
        both = written_files(process, generation.checkout.folder) & written_files(successor, generation.checkout.folder)
    head.end()
    awaited("the end of both", lambda: [job.JobState for job in generation.jobs()] == ["COMPLETED"] * 2)
    assert both == set() and len(generation.segments()) == 2
    assert generation.is_as_expected()


def listing_of_leftovers() -> str:
    """The command in the profile that lists the jobs of a killed Snakemake, to be cancelled."""
    return re.search(r"scancel \$\((.*)\)$", (ROOT / "slurm/config.yaml").read_text(), re.M)[1]


def test_a_job_that_nears_its_time_limit_writes_the_batch_in_flight_and_gets_more_time(generation):
    head = generation.start()
    first = generation.in_the_middle()
    process = process_of(first, "generate")
    with held(process):  # so that it does not end before SLURM, which looks every half minute, warns it
        told("scontrol", "update", f"jobid={first.JobId}", "timelimit=2")
        awaited("the warning", lambda: is_signalled(process, signal.SIGTERM))
    head.end()
    assert generation.kept() and generation.is_as_expected()
    assert f"asked to end (SIGTERM): {generation.kept()} of " in first.output()
    first, second = generation.jobs()
    assert (first.JobState, second.JobState) == ("FAILED", "COMPLETED")
    assert second.minutes > first.minutes
