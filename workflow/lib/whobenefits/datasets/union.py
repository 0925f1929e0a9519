"""One corpus of several topics' documents."""

from collections.abc import Mapping

import pandas as pd

from whobenefits.errors import DataError


def united_topics(topics: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The corpus and the groups of all topics together, each document once, by doc_id.

    `topics` has the corpus (doc_id, title, text) and the groups (doc_id, category, group) by topic. Raises DataError
    where two topics give one doc_id different texts or groups: a source whose groups depend on the topic, such as
    quartiles within it, cannot be united.
    """
    corpus = pd.concat([corpus for corpus, _ in topics.values()]).drop_duplicates()
    groups = pd.concat([groups for _, groups in topics.values()]).drop_duplicates()
    _check(corpus, ["doc_id"], "texts", topics)
    _check(groups, ["doc_id", "category"], "groups", topics)
    return (
        corpus.sort_values("doc_id", ignore_index=True),
        groups.sort_values(["doc_id", "category"], kind="stable", ignore_index=True),
    )


def _check(frame: pd.DataFrame, key: list[str], what: str, topics: Mapping) -> None:
    twice = frame.duplicated(key)
    if twice.any():
        first = frame.loc[twice, key].iloc[0].to_dict()
        raise DataError(
            f"the topics {', '.join(topics)} give {int(twice.sum())} documents different {what}, first {first}: set "
            "dataset.retrieval_corpus to topic"
        )
