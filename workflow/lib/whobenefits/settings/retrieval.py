"""Settings of the retrievers."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from whobenefits.settings.base import Positive, Settings, Share, Slug, checked_path


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
    path: Annotated[str, AfterValidator(checked_path)] = Field(
        description="Path of the TREC run file, with {topic} and {task} where they stand in its name."
    )


Retriever = Annotated[Bm25 | Okapi | Splade | Dense | GivenRun, Field(discriminator="kind")]
