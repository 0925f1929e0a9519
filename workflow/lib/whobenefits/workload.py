"""How much there is to generate, and how long it takes, from the settings alone. Imports nothing heavy.

The Snakefile takes the number of shards from here, so that nothing of this may depend on what is already computed.
"""

from dataclasses import dataclass
from math import ceil, prod

from whobenefits.categories import categories_of
from whobenefits.devices import DEVICES, Device
from whobenefits.settings.generation import Llm
from whobenefits.settings.study import Config

# Tokens of a whitespace word of English, and of a prompt's instruction: rough means of current vocabularies.
TOKENS_PER_WORD = 1.35
INSTRUCTION_TOKENS = 60
# Mean words of a text where none has been counted: 95 in the published study.
BODY_WORDS, TITLE_WORDS = 100, 3
# Share of a data sheet's figures that encoding (products) and decoding (bandwidth) reach, and the least time of one step
# of decoding, which is Python's. Assumptions, stated beside every estimate.
PRODUCTS, BANDWIDTH, STEP_SECONDS = 0.4, 0.6, 0.04


@dataclass(frozen=True)
class Load:
    """Prompts of one kind: how many, the mean tokens of one, and the most new tokens of an answer."""

    prompts: int
    tokens: float
    new_tokens: int


def query_bound(config: Config) -> int:
    """The most queries that a topic can have: one for each cell, or the limit that is set."""
    known = categories_of(config.dataset.model_dump())
    filled = prod(len(known[name].groups) for name in config.queries.cells)
    return min(filled, config.queries.max_queries or filled)


def prompt_loads(
    config: Config, task: str, queries: int, body: float = BODY_WORDS, title: float = TITLE_WORDS
) -> dict[str, Load]:
    """The loads of one topic and task by setting (llm, rag, doc), at most: no two retrievers share a document.

    `body` and `title` are the mean words of a document's text and title.
    """
    lists, depth = len(config.grid.retrievers), config.retrieval.context_size
    query = title if task == "article" else body
    new = config.tasks[task].max_new_tokens
    sizes = {"llm": (1, 0), "rag": (lists, depth), "doc": (lists * depth, 1)}
    return {
        setting: Load(queries * prompts, _tokens(query + documents * (title + body)), new)
        for setting, (prompts, documents) in sizes.items()
    }


def _tokens(words: float) -> float:
    return INSTRUCTION_TOKENS + TOKENS_PER_WORD * words


def seconds(load: Load, llm: Llm, device: Device) -> float:
    """Seconds that a device takes for a load: each prompt encoded once, then one step for each new token of a batch.

    Encoding: 2 x parameters operations a token. A step: the weights are read once, in two bytes each.
    """
    if not load.prompts:
        return 0.0
    weights = llm.billion_parameters * 1e9
    encoding = 2 * weights * load.prompts * load.tokens / (llm.gpus * device.teraflops * 1e12 * PRODUCTS)
    step = max(STEP_SECONDS, 2 * weights / (device.bandwidth * 1e9 * BANDWIDTH))
    batches = ceil(load.prompts / max(1, llm.batch_tokens // (load.tokens + load.new_tokens)))
    return encoding + batches * load.new_tokens * step


def shard_count(config: Config, task: str, llm: str) -> int:
    """Jobs that the prompts of one topic and task are split into for an LLM.

    Either what is set, or so many that each takes about `generation.target_minutes` on `generation.device`, and never
    more than there are queries, since the prompts of a query stay together.
    """
    model, queries = config.llms[llm], query_bound(config)
    if model.shards:
        return min(model.shards, queries)
    loads = prompt_loads(config, task, queries).values()
    total = sum(seconds(load, model, DEVICES[config.generation.device]) for load in loads)
    return min(queries, max(1, ceil(total / 60 / config.generation.target_minutes)))


def relative_work(config: Config, task: str, llm: str) -> float:
    """How much an LLM has to multiply for a topic and task, of the most in the grid: above 0 to 1.

    It says which jobs take longest: those are best begun first.
    """
    works = {(t, name): _operations(config, t, name) for t in config.grid.tasks for name in config.grid.llms}
    return works[task, llm] / max(works.values())


def _operations(config: Config, task: str, llm: str) -> float:
    """Each token of a prompt passes through the model once, and a new one in each beam."""
    loads, beams = prompt_loads(config, task, query_bound(config)).values(), config.tasks[task].beams
    tokens = sum(load.prompts * (load.tokens + beams * load.new_tokens) for load in loads)
    return 2e9 * config.llms[llm].billion_parameters * tokens
