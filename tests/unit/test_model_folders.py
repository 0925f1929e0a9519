import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import tiny_encoder
import torch
from loopback import Site, serving
from safetensors.torch import load_file
from transformers import BertModel

from whobenefits import model_folders
from whobenefits.errors import UserError
from whobenefits.model_folders import link_model_folder

REVISION = "0123456789abcdef0123456789abcdef01234567"
LIB = Path(model_folders.__file__).parents[1]
# The hub's library reads its settings once, when it is imported: so each test has a process of its own.
PROGRAM = """
import sys
from pathlib import Path
from whobenefits.errors import UserError
from whobenefits.model_folders import link_model_folder
try:
    print(*link_model_folder(sys.argv[1], Path(sys.argv[2])))
except UserError as error:
    print("error:", error)
"""
FILES = {
    "config.json": b"{}",
    "model.safetensors": b"weights",
    "consolidated.safetensors": b"the same again",
    "tokenizer.model": b"pieces",
    "vocab.txt": b"words",
    "pytorch_model.bin": b"pickle",
    "model.py": b"code",
    "onnx/config.json": b"{}",
}
WANTED = ["config.json", "model.safetensors", "tokenizer.model", "vocab.txt"]


def hub(files: dict[str, bytes]) -> Site:
    """What the hub's own server answers for one model, as far as a download needs it."""
    tree = [
        {"type": "file", "path": name, "size": len(data), "oid": f"{i:040x}"}
        for i, (name, data) in enumerate(files.items())
    ]
    site = Site({f"/api/models/org/name/tree/{REVISION}": json.dumps(tree).encode()})
    for i, (name, data) in enumerate(files.items()):
        path = f"/org/name/resolve/{REVISION}/{name}"
        site.files[path] = data
        site.answers[path] = (200, {"X-Repo-Commit": REVISION, "ETag": f'"{i:040x}"'})
    return site


def linked(address: str, folder: Path, **env: str) -> str:
    folder.mkdir(exist_ok=True)
    settings = {"HF_HOME": str(folder.parent / "cache"), "no_proxy": "127.0.0.1", "PYTHONPATH": str(LIB), **env}
    command = [sys.executable, "-c", PROGRAM, address, str(folder)]
    run = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def test_a_hub_model_is_linked_without_pickles_and_code_and_stays_when_the_hub_is_off(tmp_path):
    with serving(hub(FILES)) as site:
        address = f"hf:org/name@{REVISION}"
        assert linked(address, tmp_path / "a", HF_ENDPOINT=site.url).split() == WANTED
        fetched = {path.rpartition("/")[2] for path, _ in site.asked if "/resolve/" in path}
    assert fetched == set(WANTED)
    assert (tmp_path / "a/model.safetensors").is_symlink()
    assert (tmp_path / "a/model.safetensors").read_bytes() == b"weights"
    assert linked(address, tmp_path / "b", HF_ENDPOINT=site.url, HF_HUB_OFFLINE="1").split() == WANTED


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (403, "GatedRepo", "is gated: ask for access"),
        (404, "RepoNotFound", "there is no such model, or it is private"),
        (404, "RevisionNotFound", "the model has no such revision"),
    ],
)
def test_a_refusal_of_the_hub_is_said_in_plain_words(tmp_path, status, code, words):
    site = Site(answers={f"/api/models/org/name/tree/{REVISION}": (status, {"X-Error-Code": code})})
    with serving(site):
        said = linked(f"hf:org/name@{REVISION}", tmp_path / "a", HF_ENDPOINT=site.url)
    assert said.startswith(f"error: hf:org/name@{REVISION}: {words}")


def test_a_model_that_is_not_in_the_cache_needs_the_hub(tmp_path):
    said = linked(f"hf:org/name@{REVISION}", tmp_path / "a", HF_HUB_OFFLINE="1")
    assert "is not in the cache and the hub is off" in said


def test_a_branch_is_refused_with_the_commit_it_stands_at(tmp_path):
    site = Site({"/api/models/org/name/revision/main": json.dumps({"id": "org/name", "sha": REVISION}).encode()})
    with serving(site):
        said = linked("hf:org/name@main", tmp_path / "a", HF_ENDPOINT=site.url)
    assert said == (
        f"error: hf:org/name@main: is no pinned model: main can move; it stands at hf:org/name@{REVISION} now: write that"
    )


@pytest.mark.parametrize("address", ["hf:org/name", "hf:name@main", f"hf:name@{REVISION}"])
def test_a_hub_model_without_a_full_revision_is_refused(tmp_path, address):
    with pytest.raises(UserError, match="is no pinned model: write hf:ORG/NAME@REVISION"):
        link_model_folder(address, tmp_path)


def local(folder: Path, names: list[str]) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).write_text(name)
    return folder


def test_a_local_model_is_linked_by_the_same_rule(tmp_path):
    source = local(tmp_path / "mine", ["asset.json", *(name for name in FILES if "/" not in name)])
    (tmp_path / "out").mkdir()
    assert link_model_folder(f"file:{source}", tmp_path / "out") == WANTED
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == WANTED
    assert (tmp_path / "out/vocab.txt").read_text() == "vocab.txt"


def test_a_model_with_pickled_weights_only_needs_the_format_said(tmp_path):
    source = local(tmp_path / "mine", ["config.json", "pytorch_model.bin"])
    with pytest.raises(UserError, match="set format to pytorch if its weights are pytorch_model.bin"):
        link_model_folder(f"file:{source}", tmp_path)


def test_pickled_weights_are_converted_and_load_to_the_same_model(tmp_path):
    source, out = tmp_path / "mine", tmp_path / "out"
    model = BertModel.from_pretrained(tiny_encoder.tiny_bert(source, BertModel), use_safetensors=True)
    # Two names of one memory, as tied weights are, in two files.
    state = model.state_dict()
    names = sorted(state)
    torch.save({name: state[name] for name in names[:5]} | {"twin": state[names[0]]}, source / "pytorch_model-1.bin")
    torch.save({name: state[name] for name in names[5:]}, source / "pytorch_model-2.bin")
    (source / "pytorch_model.bin.index.json").write_text("{}")
    out.mkdir()
    made = link_model_folder(f"file:{source}", out, pickled=True)
    assert sorted(made) == sorted(path.name for path in out.iterdir())
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= set(made)
    assert not any("bin" in name for name in made) and not (out / "model.safetensors").is_symlink()
    held = load_file(out / "model.safetensors")
    assert set(held) == {*names, "twin"} and all(torch.equal(held[name], state[name]) for name in names)


def test_a_pickle_that_would_run_something_is_not_loaded(tmp_path):
    class Evil:
        def __reduce__(self):
            return Path.touch, (tmp_path / "touched",)

    source = local(tmp_path / "mine", ["config.json"])
    (source / "pytorch_model.bin").write_bytes(pickle.dumps({"weight": Evil()}, protocol=2))
    (tmp_path / "out").mkdir()
    with pytest.raises(UserError, match="pytorch_model.bin: holds more than tensors, or is broken"):
        link_model_folder(f"file:{source}", tmp_path / "out", pickled=True)
    assert not (tmp_path / "touched").exists() and not list((tmp_path / "out").iterdir())


def test_a_model_without_pickled_weights_is_told_so(tmp_path):
    source = local(tmp_path / "mine", ["config.json", "model.safetensors"])
    with pytest.raises(UserError, match=r"has no config.json or no pytorch_model\*.bin: set format to as-is"):
        link_model_folder(f"file:{source}", tmp_path, pickled=True)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UserError, match=f"there is no folder {tmp_path}/none: correct the address"):
        link_model_folder(f"file:{tmp_path}/none", tmp_path)
