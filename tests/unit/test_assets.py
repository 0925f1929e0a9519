import hashlib
import json
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_gguf import tiny_llama, write_gguf

from whobenefits import assets
from whobenefits.assets import fetch_asset
from whobenefits.errors import DataError, UserError
from whobenefits.manifests import asset_identity
from whobenefits.settings.assets import Asset


def digest(content):
    return hashlib.sha256(content).hexdigest()


def single(folder, contents, **changes):
    """An asset of single files, each in a folder of its own."""
    (folder / "source").mkdir(exist_ok=True)
    files = {}
    for name, content in contents.items():
        path = folder / "source" / name.replace("/", "_")
        path.write_bytes(content)
        files[name] = {"address": [f"file:{path}"], "sha256": digest(content)}
    return Asset.model_validate({"files": files, "licence": "MIT", **changes})


def names(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_files_and_manifest_are_there_and_nothing_else(tmp_path):
    fetch_asset("demo", single(tmp_path, {"a.txt": b"abc", "sub/b.txt": b""}), tmp_path / "res/demo")
    assert names(tmp_path / "res") == ["demo/a.txt", "demo/asset.json", "demo/sub/b.txt"]
    manifest = json.loads((tmp_path / "res/demo/asset.json").read_text())
    # FIPS 180-4, example: SHA-256 of "abc".
    abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert manifest["files"]["a.txt"] == {"bytes": 3, "sha256": abc}
    assert manifest["sources"]["a.txt"]["address"] == [f"file:{tmp_path}/source/a.txt"]
    assert (manifest["name"], manifest["licence"], manifest["format"]) == ("demo", "MIT", "as-is")


def test_the_manifest_is_the_same_each_time(tmp_path):
    asset = single(tmp_path, {"b.txt": b"2", "a.txt": b"1"})
    for folder in ("one", "two"):
        fetch_asset("demo", asset, tmp_path / folder)
    assert (tmp_path / "one/asset.json").read_bytes() == (tmp_path / "two/asset.json").read_bytes()


def test_what_is_there_is_not_fetched_again(tmp_path):
    asset = single(tmp_path, {"a.txt": b"1"})
    fetch_asset("demo", asset, tmp_path / "demo")
    (tmp_path / "source/a.txt").unlink()
    fetch_asset("demo", asset, tmp_path / "demo")
    # Also without its manifest, which Snakemake removes before it runs the rule again.
    (tmp_path / "demo/asset.json").unlink()
    fetch_asset("demo", asset, tmp_path / "demo")
    assert names(tmp_path / "demo") == ["a.txt", "asset.json"]


def test_a_file_of_another_size_is_fetched_again(tmp_path):
    asset = single(tmp_path, {"a.txt": b"whole"})
    fetch_asset("demo", asset, tmp_path / "demo")
    (tmp_path / "demo/a.txt").write_bytes(b"who")
    fetch_asset("demo", asset, tmp_path / "demo")
    assert (tmp_path / "demo/a.txt").read_bytes() == b"whole"


def test_another_licence_changes_the_manifest_and_fetches_nothing(tmp_path):
    fetch_asset("demo", single(tmp_path, {"a.txt": b"1"}), tmp_path / "demo")
    other = single(tmp_path, {"a.txt": b"1"}, licence="CC0")
    (tmp_path / "source/a.txt").unlink()
    before = asset_identity(tmp_path / "demo")
    fetch_asset("demo", other, tmp_path / "demo")
    assert json.loads((tmp_path / "demo/asset.json").read_text())["licence"] == "CC0"
    assert asset_identity(tmp_path / "demo") == before


def test_a_file_that_the_settings_no_longer_name_is_removed(tmp_path):
    fetch_asset("demo", single(tmp_path, {"a.txt": b"1", "b.txt": b"2"}), tmp_path / "demo")
    fetch_asset("demo", single(tmp_path, {"a.txt": b"1"}), tmp_path / "demo")
    assert names(tmp_path / "demo") == ["a.txt", "asset.json"]


def test_a_file_of_someone_else_is_not_removed_but_named(tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo/mine.txt").write_text("mine")
    with pytest.raises(
        UserError, match="assets.demo: .*demo has files that are not the asset's: mine.txt: remove them"
    ):
        fetch_asset("demo", single(tmp_path, {"a.txt": b"1"}), tmp_path / "demo")
    assert names(tmp_path / "demo") == ["a.txt", "mine.txt"]


def test_a_wrong_file_leaves_no_manifest_and_no_file(tmp_path):
    asset = single(tmp_path, {"a.txt": b"old"})
    (tmp_path / "source/a.txt").write_bytes(b"new")
    with pytest.raises(UserError, match="assets.demo: a.txt: SHA-256 is .* but .* is expected"):
        fetch_asset("demo", asset, tmp_path / "demo")
    assert names(tmp_path) == ["source/a.txt"]


def test_a_broken_run_goes_on_where_it_ended(tmp_path):
    with zipfile.ZipFile(tmp_path / "pack.zip", "w") as pack:
        pack.writestr("a", "1")
    files = {
        "a": {"address": [f"file:{tmp_path}/pack.zip#a"], "sha256": digest(b"1")},
        "b": {"address": [f"file:{tmp_path}/late"], "sha256": digest(b"2")},
    }
    asset = Asset.model_validate({"files": files, "licence": "MIT"})
    with pytest.raises(UserError, match="there is no file"):
        fetch_asset("demo", asset, tmp_path / "demo")
    assert not (tmp_path / "demo/asset.json").exists()
    (tmp_path / "pack.zip").unlink()
    (tmp_path / "late").write_text("2")
    fetch_asset("demo", asset, tmp_path / "demo")
    assert names(tmp_path / "demo") == ["a", "asset.json", "b"]
    assert not (tmp_path / ".demo.partial").exists()


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "asset.json", ".x"])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path, name):
    files = {name: {"address": ["file:x"], "sha256": "0" * 64}}
    with pytest.raises(UserError, match="assets.demo: files..*: is not usable as a name"):
        fetch_asset("demo", Asset.model_validate({"files": files, "licence": "MIT"}), tmp_path / "demo")


def test_a_gguf_asset_has_one_file(tmp_path):
    asset = single(tmp_path, {"a": b"1", "b": b"2"}, format="gguf")
    with pytest.raises(UserError, match="format is gguf but files names 2 files: name the one GGUF file"):
        fetch_asset("demo", asset, tmp_path / "demo")


def test_a_gguf_is_converted_once_and_not_kept(tmp_path, monkeypatch):
    path = write_gguf(tmp_path / "tiny.gguf", tiny_llama())
    files = {"tiny.gguf": {"address": [f"file:{path}"], "sha256": digest(path.read_bytes())}}
    asset = Asset.model_validate({"files": files, "format": "gguf", "licence": "MIT"})
    fetch_asset("demo", asset, tmp_path / "demo")
    kept = ["asset.json", "config.json", "generation_config.json", "model.safetensors", "tokenizer.json"]
    assert names(tmp_path / "demo") == [*kept, "tokenizer_config.json"]
    path.unlink()
    fetch_asset("demo", asset, tmp_path / "demo")
    # A new way to convert needs the GGUF again.
    monkeypatch.setattr(assets, "CONVERSION", assets.CONVERSION + 1)
    with pytest.raises(UserError, match="there is no file"):
        fetch_asset("demo", asset, tmp_path / "demo")


def test_a_model_folder_is_linked_and_described(tmp_path):
    source = tmp_path / "mine"
    source.mkdir()
    for name in ("config.json", "model.safetensors", "pytorch_model.bin"):
        (source / name).write_text(name)
    asset = Asset.model_validate({"address": f"file:{source}", "licence": "MIT"})
    fetch_asset("demo", asset, tmp_path / "demo")
    assert names(tmp_path / "demo") == ["asset.json", "config.json", "model.safetensors"]
    # A link that leads nowhere is not whole.
    (source / "model.safetensors").rename(source / "other.safetensors")
    fetch_asset("demo", asset, tmp_path / "demo")
    assert names(tmp_path / "demo") == ["asset.json", "config.json", "other.safetensors"]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from("abc"), st.binary(max_size=9), min_size=1),
    st.sampled_from("abc"),
    st.binary(max_size=9),
)
def test_the_identity_follows_from_the_files_alone(tmp_path_factory, contents, name, content):
    folder = tmp_path_factory.mktemp("identity")
    changed = contents | {name: content}
    for place, files in (("one", contents), ("two", changed)):
        fetch_asset(place, single(folder, files, licence=place), folder / place)
    same = asset_identity(folder / "one") == asset_identity(folder / "two")
    assert same == (contents == changed)


def test_a_folder_without_a_manifest_has_no_identity(tmp_path):
    with pytest.raises(DataError, match="asset.json: is not there or is no manifest: fetch the asset again"):
        asset_identity(tmp_path)
