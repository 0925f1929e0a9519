"""The checked settings and the few functions that the rules share."""

import math
from os.path import relpath
from pathlib import Path

from whobenefits.code import code_of
from whobenefits.config import checked_config
from whobenefits.cores import machine_memory, threads_of_job
from whobenefits.describe import about_of, grid_categories, labels_of
from whobenefits.errors import ConfigError
from whobenefits.generation.kinds import SETTINGS
from whobenefits.settings.dataset import TREC_FILES
from whobenefits.workload import relative_work, shard_count

try:
    CONFIG = checked_config(config, ", ".join(map(str, workflow.configfiles)))
except ConfigError as error:
    raise WorkflowError(str(error)) from None

GRID, RESULTS, RESOURCES = CONFIG.grid, CONFIG.results, CONFIG.resources
LOGS = f"{RESULTS}/logs"
# Whose documents are retrieved from: those of a topic, or of all topics of the grid together.
UNITED = getattr(CONFIG.dataset, "retrieval_corpus", "topic") == "union"
POOL = "_union" if UNITED else "{topic}"
# Retrievers whose documents pass through a model, on a GPU where there is one.
ENCODERS = [
    name for name in GRID.retrievers if hasattr(CONFIG.retrievers[name], "model")
]

# The priority of jobs that the LLMs wait for: above theirs, so that the longest of them can begin first.
BEFORE_LLMS = 2


wildcard_constraints:
    topic="|".join(map(re.escape, GRID.topics)),
    task="|".join(GRID.tasks),
    retriever="|".join(map(re.escape, GRID.retrievers)),
    llm="|".join(map(re.escape, GRID.llms)),
    asset="|".join(map(re.escape, CONFIG.assets)),
    shard=r"\d+-of-\d+",


def code(script, *modules):
    """The files whose content decides what a script writes; relative, so that a moved checkout changes no input."""
    return [relpath(path) for path in code_of(script, *modules)]


def manifest(asset):
    """The file that says an asset is whole; the asset's files lie beside it."""
    return f"{RESOURCES}/{asset}/asset.json"


def model_of(part):
    """The manifest of the model that a retriever, an LLM or an attributor needs, if it needs one."""
    return [manifest(part.model)] if hasattr(part, "model") else []


def cells(pattern):
    """The pattern for each topic, task and LLM of the grid."""
    return expand(
        f"{RESULTS}/{pattern}", topic=GRID.topics, task=GRID.tasks, llm=GRID.llms
    )


def grows(amount):
    """A resource that grows with each attempt: what failed for lack of it gets more."""
    return lambda wildcards, attempt: attempt * amount


def share_of_cores(*parts, memory, most=8):
    """Threads of a job of which a run has one for each combination of these parts of the grid, and which needs so much
    memory: on one machine its share of the cores, on a cluster `most`.
    """
    jobs = math.prod(len(getattr(GRID, part)) for part in parts)

    def threads(wildcards):
        if workflow.is_main_process and workflow.local_exec:
            return threads_of_job(
                workflow.cores, jobs, memory(wildcards, 1), machine_memory()
            )
        return most

    return threads


def llm_memory(wildcards, attempt):
    """Main memory in MB to load an LLM: its weights in two bytes each, half as much again, and what Python needs."""
    return attempt * (4000 + int(3000 * CONFIG.llms[wildcards.llm].billion_parameters))


def longest_first(wildcards):
    """The priority of a job of an LLM, 0 to 1: the longer it takes, the higher. What comes after has none."""
    return relative_work(CONFIG, wildcards.task, wildcards.llm)


def shards(wildcards):
    """The tables of answers that one topic, task and LLM is split into."""
    count = shard_count(CONFIG, wildcards.task, wildcards.llm)
    folder = f"{RESULTS}/{wildcards.topic}/{wildcards.task}/{wildcards.llm}/shards"
    return [f"{folder}/{number}-of-{count}.parquet" for number in range(1, count + 1)]


def retriever_code(script):
    """The script's code and that of the retriever's own module, which the script takes by its kind."""
    return lambda w: code(
        script, f"whobenefits.retrieval.{CONFIG.retrievers[w.retriever].kind}"
    )


def given_run(wildcards):
    """The TREC run file that stands in for a retriever, if one does."""
    path = getattr(CONFIG.retrievers[wildcards.retriever], "path", None)
    return [path.format(topic=wildcards.topic, task=wildcards.task)] if path else []
