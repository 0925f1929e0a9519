"""Settings of scoring, attribution, group measures and their uncertainty."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from whobenefits.settings.base import Positive, Settings, Share, Slug


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


def _two(names: list[str]) -> list[str]:
    if len(names) != 2:
        raise PydanticCustomError("own", "{names} is no pair of categories: name two", {"names": str(names)})
    return names


def _once(pairs: list[list[str]]) -> list[list[str]]:
    twice = [pair for pair in pairs if pairs.count(pair) > 1]
    if twice:
        raise PydanticCustomError("own", "names {pair} twice: remove one", {"pair": str(twice[0])})
    return pairs


Pair = Annotated[list[Slug], AfterValidator(_two)]


class Uncertainty(Settings):
    """How sure the numbers are."""

    draws: Annotated[int, Field(ge=100)] = Field(
        10000,
        description="Resamples of the queries behind each interval, and shuffles of the labels behind each p. With 1,000 an interval of a range covers about a point less than 95 %.",
    )
    crossed: Annotated[list[Pair], AfterValidator(_once)] = Field(
        [],
        description="Pairs of fairness categories, such as `[[age-of-topic, popularity]]`, whose groups are crossed: results/unevenness then has rows of the groups that are in both.",
    )
    min_queries: Positive = Field(
        5, description="Queries that a crossed group needs; those with fewer are left out, with their queries."
    )
