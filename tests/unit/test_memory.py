import weakref

import pytest
import tiny
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from whobenefits.generation import decoders
from whobenefits.generation.beam_search import CORE_LOGITS
from whobenefits.generation.engine import Decoding, Engine
from whobenefits.generation.memory import Shape, peak_bytes, shape_of


class Counted(TorchDispatchMode):
    """The most bytes that tensors made meanwhile have together, each storage counted once and until it is freed."""

    def __init__(self):
        super().__init__()
        self.now = self.peak = 0
        self.known = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        given = {x.untyped_storage()._cdata for x in tree_leaves((args, kwargs)) if isinstance(x, torch.Tensor)}
        for tensor in tree_leaves(made):
            if isinstance(tensor, torch.Tensor) and tensor.untyped_storage()._cdata not in given | self.known:
                self._count(tensor.untyped_storage())
        return made

    def _count(self, storage):
        size, name = storage.nbytes(), storage._cdata
        self.known.add(name)
        self.now += size
        self.peak = max(self.peak, self.now)
        weakref.finalize(storage, self._free, name, size)

    def _free(self, name, size):
        self.known.discard(name)
        self.now -= size


@pytest.fixture(scope="module", params=["llama", "gemma2", "gemma3"])
def engine(request, tmp_path_factory):
    return Engine(tiny.tiny_llm(tmp_path_factory.mktemp(request.param), request.param), "float32")


@pytest.mark.parametrize("common", [0, 0.5, 0.9])
@pytest.mark.parametrize(
    ("prompts", "tokens", "beams", "new"),
    [(1, 400, 1, 4), (12, 30, 4, 8), (40, 5, 4, 3), (6, 100, 2, 40), (3, 250, 4, 20)],
)
def test_a_batch_needs_no_more_memory_than_predicted_and_not_much_less(
    engine, prompts, tokens, beams, new, common, monkeypatch
):
    monkeypatch.setitem(decoders.ENCODED_TOKENS, "cpu", 256)
    # So much of each prompt is the beginning of all.
    same = int(common * tokens)
    made = [tuple(5 + (i + j * (i >= same)) % 300 for i in range(tokens)) for j in range(prompts)]
    with Counted() as counted:
        engine._answer(made, Decoding("article", beams, new, "none"))
    shape = shape_of(engine.model.config, torch.float32)
    predicted = peak_bytes(
        shape, prompts, tokens, prompts * tokens, beams, new, 256, CORE_LOGITS * torch.get_num_threads()
    )
    assert 0.5 * predicted <= counted.peak <= predicted


def test_the_keys_and_values_of_a_large_model():
    # Llama 3.1 8B in bfloat16: 2 x 32 layers x 8 heads x 128 numbers x 2 bytes = 131,072 bytes a token.
    shape = Shape(32, 32, 8, 128, 4096, 14336, 128256, 2)
    assert shape.token == 131_072
    # 10 prompts of 6,000 tokens with 2 beams of 512: 70,240 places = 9.2 GB, and little beside them.
    assert 9.2e9 < peak_bytes(shape, 10, 6000, 60_000, 2, 512, 16384, 2**27) < 12e9
