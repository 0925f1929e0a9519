"""Supports by content: each pair of document and answer goes through a model once, and what is done outlives a kill."""

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


class StoredAttributor:
    """An attributor that takes from a store what it has scored before; the model is loaded only for what is missing."""

    def __init__(self, load: Callable[[], Attributor], identity: Any, store: str | Path) -> None:
        """`identity` is all that decides a score but the pair: the model and the settings, as what JSON can hold."""
        self.load, self.identity, self.store = load, identity, store

    def support(self, pairs: Sequence[Pair]) -> Support:
        """The support of each pair, in their order."""
        keys = {pair: content_key(VERSION, self.identity, pair) for pair in dict.fromkeys(pairs)}
        known = stored_records(self.store, set(keys.values()))
        missing = [pair for pair, key in keys.items() if key not in known]
        logging.info("%d pairs: %d in the store, %d to score", len(keys), len(keys) - len(missing), len(missing))
        if missing:
            known |= self._scored(missing, keys)
        records = [known[keys[pair]] for pair in pairs]
        return Support(
            np.array([record["score"] for record in records], dtype=float),
            np.array([record["attributed"] for record in records], dtype=bool),
        )

    def _scored(self, missing: list[Pair], keys: dict[Pair, str]) -> dict[str, dict]:
        attributor, records = self.load(), {}
        # Pairs of like length stand together, so that the batches within a chunk are full.
        missing = sorted(missing, key=lambda pair: (-len(pair[0]) - len(pair[1]), pair))
        with segment_writer(self.store) as write, deferred_termination() as end_if_asked:
            for start in range(0, len(missing), CHUNK):
                chunk = missing[start : start + CHUNK]
                support = attributor.support(chunk)
                done = {
                    keys[pair]: {"score": float(score), "attributed": bool(verdict)}
                    for pair, score, verdict in zip(chunk, support.scores, support.attributed, strict=True)
                }
                write(done)
                records |= done
                logging.info("%d of %d pairs scored", len(records), len(missing))
                if len(records) < len(missing):
                    end_if_asked(f"{len(records)} of {len(missing)} missing scores are kept")
        return records
