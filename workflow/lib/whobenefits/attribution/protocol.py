"""Which documents support an answer: one Protocol for all attributors, found by the kind in the settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

# The document (title and text), as the premise, and the answer, as the hypothesis.
Pair = tuple[str, str]
# What an attributor reads of a document and an answer: a Pair, or more than that (see documents.Inputs).
Item = TypeVar("Item", contravariant=True)


@dataclass(frozen=True)
class Support:
    """How far each document supports its answer: `scores`, in the attributor's unit or NaN, and the verdicts `attributed`.

    Both have the shape (n,).
    """

    scores: np.ndarray
    attributed: np.ndarray


class Attributor(Protocol[Item]):
    """Scores a document and an answer, and says from the scores which documents support their answers."""

    def support(self, pairs: Sequence[Item]) -> Support:
        """The support of each pair, in their order; a pair's result depends on nothing but the pair.

        An answer that says nothing has a score of NaN and is attributed to no document.
        """


def attributor_of(settings: Mapping[str, Any], source: Path | None) -> Attributor[Pair]:
    """The attributor of checked settings: the class ATTRIBUTOR of the module named by `kind`.

    `source` is the folder of its model, or None. The module is imported by its name, so that code_of lists the chosen
    kind alone, and a change to another kind redoes nothing; the settings come as plain values for the same reason. The
    kind `likelihood` is none of these: its model is the LLM whose answers are attributed.
    """
    module = import_module(f"whobenefits.attribution.{settings['kind']}")
    options = {name: value for name, value in settings.items() if name not in ("kind", "model")}
    return module.ATTRIBUTOR(source, **options)
