"""All settings of a run."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from whobenefits.settings.assets import Asset
from whobenefits.settings.base import Settings, Slug
from whobenefits.settings.dataset import Dataset, Queries, Topic
from whobenefits.settings.generation import Generation, Llm, Task
from whobenefits.settings.measures import Attribution, Measures, Scoring, Uncertainty
from whobenefits.settings.retrieval import Retrieval, Retriever

PROMPTS = Path(__file__).resolve().parents[4] / "config/prompts"


class Audit(Settings):
    """Which results, made elsewhere, the target `audit` checks."""

    folder: str | None = Field(
        None,
        description="Folder with `group_accuracy.csv` and, each optional, `group_factors.csv`, `group_sizes.csv` (or the lists `query_ids_TOPIC.csv`), `overall_accuracy.csv`, `spearman_aligned.csv`, `printed_table3.csv`, `printed_table4.csv` and `claims.json`, in the form of `tests/reference/query_group_fairness`. null: that folder, the published numbers of the query-group study.",
    )


class Grid(Settings):
    """The points that are computed: the product of these lists."""

    topics: list[Slug] = Field(description="Names under `topics`.", min_length=1)
    tasks: list[Literal["article", "title"]] = Field(description="Names under `tasks`.", min_length=1)
    retrievers: list[Slug] = Field(description="Names under `retrievers`.", min_length=1)
    llms: list[Slug] = Field(description="Names under `llms`.", min_length=1)
    categories: list[Slug] = Field(description="Fairness categories that are reported.", min_length=1)


class Config(Settings):
    """All settings of a run."""

    name: Slug = Field(description="Name of the study, shown in the report.")
    seed: int = Field(description="Everything that is drawn comes from this and the identity of what it is drawn for.")
    results: str = Field("results", description="Folder for everything that is computed.")
    resources: str = Field("resources", description="Folder for models and data that are fetched.")
    prompts: Slug = Field("paper", description="Folder of prompt templates under `config/prompts`.")
    grid: Grid = Field(description="Which points are computed.")
    dataset: Dataset = Field(description="Where the documents come from.")
    topics: dict[Slug, Topic] = Field(description="Topics that the grid can name.")
    queries: Queries = Field(description="How queries are drawn.")
    retrieval: Retrieval = Field(Retrieval(), description="Depth and context size.")
    retrievers: dict[Slug, Retriever] = Field(description="Retrievers that the grid can name.")
    llms: dict[Slug, Llm] = Field(description="LLMs that the grid can name.")
    generation: Generation = Field(Generation(), description="How generation is split into jobs, and long prompts.")
    tasks: dict[Literal["article", "title"], Task] = Field(description="Tasks that the grid can name.")
    scoring: Scoring = Field(Scoring(), description="Accuracy of an answer.")
    attribution: Attribution = Field(description="Which documents support an answer.")
    measures: Measures = Field(Measures(), description="Empty groups and rounding.")
    uncertainty: Uncertainty = Field(Uncertainty(), description="Intervals and tests.")
    audit: Audit = Field(Audit(), description="Results made elsewhere that the target `audit` checks.")
    assets: dict[Slug, Asset] = Field(description="Models and data by address.")

    def engine(self, llm: str) -> dict[str, Any]:
        """What a generating job needs to know of its LLM: nothing that only plans the jobs."""
        part = self.llms[llm].model_dump(exclude={"label", "model", "billion_parameters", "shards"})
        return part | {"truncation": self.generation.truncation}
