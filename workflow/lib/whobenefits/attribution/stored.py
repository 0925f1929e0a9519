"""Scores by content: each pair of texts goes through a model once, and what is done outlives a kill."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from whobenefits.attribution.protocol import Attributor, Pair, Support
from whobenefits.store import content_key, segment_writer, stored_records
from whobenefits.termination import deferred_termination

# Raised when an attributor scores otherwise than before, so that what is in the store is computed again.
VERSION = 1
# Pairs that are written together: what a kill can lose.
CHUNK = 2048

# One record for each pair.
Scorer = Callable[[list[Pair]], list[dict[str, Any]]]


class StoredAttributor:
    """An attributor that takes from a store what it has scored before; the model is loaded only for what is missing."""

    def __init__(self, load: Callable[[], Attributor[Pair]], identity: Any, store: str | Path) -> None:
        """`identity` is all that decides a score but the pair: the model and the settings, as what JSON can hold."""
        self.load, self.identity, self.store = load, identity, store

    def support(self, pairs: Sequence[Pair]) -> Support:
        """The support of each pair, in their order."""
        known = kept_records(pairs, self._scorer, self.identity, self.store)
        records = [known[pair] for pair in pairs]
        return Support(
            np.array([record["score"] for record in records], dtype=float),
            np.array([record["attributed"] for record in records], dtype=bool),
        )

    def _scorer(self) -> Scorer:
        attributor = self.load()

        def records(pairs: list[Pair]) -> list[dict[str, Any]]:
            support = attributor.support(pairs)
            verdicts = zip(support.scores, support.attributed, strict=True)
            return [{"score": float(score), "attributed": bool(verdict)} for score, verdict in verdicts]

        return records


def kept_records(
    pairs: Sequence[Pair], load: Callable[[], Scorer], identity: Any, store: str | Path
) -> dict[Pair, dict[str, Any]]:
    """The record of each distinct pair: from the store where it is known, else computed, and kept chunk by chunk.

    `load` gives what computes them, and is called only where one is missing. `identity` is all that decides a record but
    the pair, as what JSON can hold.
    """
    keys = {pair: content_key(VERSION, identity, pair) for pair in dict.fromkeys(pairs)}
    known = stored_records(store, set(keys.values()))
    missing = [pair for pair, key in keys.items() if key not in known]
    logging.info("%d pairs: %d in the store, %d to score", len(keys), len(keys) - len(missing), len(missing))
    if missing:
        known |= _computed(missing, keys, load(), store)
    return {pair: known[key] for pair, key in keys.items()}


def _computed(missing: list[Pair], keys: dict[Pair, str], scorer: Scorer, store: str | Path) -> dict[str, dict]:
    records = {}
    # Pairs of like length stand together, so that the batches within a chunk are full.
    missing = sorted(missing, key=lambda pair: (-len(pair[0]) - len(pair[1]), pair))
    with segment_writer(store) as write, deferred_termination() as end_if_asked:
        for start in range(0, len(missing), CHUNK):
            chunk = missing[start : start + CHUNK]
            done = dict(zip([keys[pair] for pair in chunk], scorer(chunk), strict=True))
            write(done)
            records |= done
            logging.info("%d of %d pairs scored", len(records), len(missing))
            if len(records) < len(missing):
                end_if_asked(f"{len(records)} of {len(missing)} missing scores are kept")
    return records
