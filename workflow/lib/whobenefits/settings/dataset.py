"""Settings of documents, topics and queries."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from whobenefits.settings.base import Positive, Settings, Slug, checked_path

# How a topic of the TREC files is selected: by its id, or by its place in the order of size.
WIKIPROJECT = re.compile(r"\d+|largest [1-9]\d*")


def _topic_path(path: str) -> str:
    return checked_path(path, ("{topic}",))


class DatasetSettings(Settings):
    """What all sources have."""

    max_words: Positive = Field(512, description="Documents with more whitespace words are dropped and counted.")
    retrieval_corpus: Literal["topic", "union"] = Field(
        "topic",
        description="Whose documents are retrieved from: `topic`, those of the query's topic; `union`, those of all topics of the grid together.",
    )

    def prepared(self) -> dict[str, Any]:
        """The settings that decide the documents of a topic."""
        return self.model_dump(exclude={"retrieval_corpus"})


class VitalArticles(DatasetSettings):
    """Lead paragraphs of Wikipedia's vital articles."""

    source: Literal["vital-articles"] = Field(description="Lead paragraphs of Wikipedia's vital articles.")
    asset: Slug = Field(description="Name of the asset that holds `summaries_en-us.json`.")


def _checked_groups(groups: list[str]) -> list[str]:
    twice = [group for group in groups if groups.count(group) > 1]
    if twice or not all(group.strip() and " | " not in group for group in groups):
        fault = f"has {twice[0]!r} twice" if twice else "has an empty label, or one with ' | '"
        raise PydanticCustomError("own", "{fault}: correct the list", {"fault": fault})
    return groups


class CategorySettings(Settings):
    """A fairness category of any field of the metadata; one with the name of a built-in category takes its place."""

    field: str = Field(
        description="Field of the metadata: a label, a list of labels, or an object whose keys are labels. A document with several different labels is in the group `Several`, one with an empty list in `Unknown` if the groups have it, one with an empty text in none."
    )
    label: str = Field(description="Name shown in tables and figures.")
    short: str = Field(description="Short name shown in tables.")
    groups: Annotated[list[str], AfterValidator(_checked_groups)] = Field(
        description="Labels that the field can have, literally, in their natural order. Any other label is an error.",
        min_length=2,
    )
    note: str = Field("", description="What stands behind the labels; shown in the report.")


class TrecFair(DatasetSettings):
    """The TREC 2022 Fair Ranking track's Wikipedia articles."""

    source: Literal["trec-fair"] = Field(
        description="The files of the TREC 2022 Fair Ranking track: JSON lines, plain or gzip. Either the three paths or `ir_datasets`."
    )
    corpus: str | None = Field(None, description="Path of the documents: `id`, `title`, `plain`.")
    metadata: str | None = Field(
        None, description="Path of the documents' labels: `page_id` and the fields of the categories."
    )
    topics: str | None = Field(None, description="Path of the WikiProjects: `id`, `title`, `rel_docs`.")
    ir_datasets: Literal["trec-fair/2022/train"] | None = Field(
        None,
        description="The same files through the package ir_datasets, which downloads them (8 GB) into the folder that its variable IR_DATASETS_HOME names, once.",
    )
    categories: dict[Slug, CategorySettings] = Field({}, description="Further fairness categories.")

    @model_validator(mode="after")
    def _one_way(self) -> "TrecFair":
        given = [name for name in TREC_FILES if getattr(self, name) is not None]
        if len(given) != (0 if self.ir_datasets else len(TREC_FILES)):
            raise PydanticCustomError("own", "give either the paths corpus, metadata and topics, or ir_datasets")
        return self


# The track's files, in the order in which the rules hand them on.
TREC_FILES = ("corpus", "metadata", "topics")

Dataset = Annotated[VitalArticles | TrecFair, Field(discriminator="source")]


class Topic(Settings):
    """One topic: a part of the collection."""

    label: str = Field(description="Name shown in tables and figures.")
    select: str = Field(
        description='What the source calls the topic. vital-articles: the topic\'s name. trec-fair: the id of a WikiProject, such as `"666"`, or `largest N`, the one with the Nth most documents after all filters (of as many the one with the smaller id).'
    )


class Queries(Settings):
    """How the queries are drawn from the documents."""

    cells: list[Slug] = Field(
        description="Categories whose product of groups makes the cells: one query per non-empty cell. Documents without a label in each of them are dropped.",
        min_length=1,
    )
    max_queries: Positive | None = Field(
        None, description="At most so many queries a topic, with an even cover of the groups. null: every filled cell."
    )
    ids: Annotated[str, AfterValidator(_topic_path)] | None = Field(
        None,
        description="Path of the queries where they are given and not drawn, with {topic} where it stands in the name: a CSV file with a column `query_id` or `docno`, or one identifier a line.",
    )

    @model_validator(mode="after")
    def _one_way(self) -> "Queries":
        if self.ids and self.max_queries:
            raise PydanticCustomError("own", "max_queries limits what is drawn, but ids gives the queries: remove one")
        return self
