import io
import stat
import tarfile
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from whobenefits.archives import extract_member
from whobenefits.errors import UserError


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, content in members.items():
            pack.writestr(name, content)
    return path


def tarred(path, members, links=()):
    with tarfile.open(path, "w:gz") as pack:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            pack.addfile(info, io.BytesIO(content))
        for name, kind in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/hostname"
            pack.addfile(info)
    return path


@pytest.mark.parametrize("pack", [zipped, tarred])
def test_a_member_comes_out_as_it_went_in(tmp_path, pack):
    archive = pack(tmp_path / "pack", {"a/b.txt": b"one", "c": b"two"})
    extract_member(archive, "a/b.txt", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"one"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "pack"]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=2000), st.sampled_from([zipped, tarred]))
def test_any_content_comes_out_as_it_went_in(tmp_path, content, pack):
    extract_member(pack(tmp_path / "pack", {"x": content}), "x", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == content


def test_a_missing_member_is_answered_with_those_of_its_name(tmp_path):
    archive = zipped(tmp_path / "pack", {"data/model.json": b"", "other": b""})
    with pytest.raises(UserError, match="#model.json: there is no such member in the archive: it has data/model.json$"):
        extract_member(archive, "model.json", tmp_path / "out")


def test_a_misspelt_member_is_answered_with_those_like_it(tmp_path):
    archive = tarred(tmp_path / "pack", {"data/summaries_en.json": b"", "x": b""})
    with pytest.raises(UserError, match="it has data/summaries_en.json$"):
        extract_member(archive, "data/sumaries_en.json", tmp_path / "out")


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("member", ["/etc/passwd", "../x", "a/../../x", "..\\x"])
def test_a_member_that_leads_out_of_its_archive_is_refused(tmp_path, pack, member):
    archive = pack(tmp_path / "pack", {member: b"bad"})
    with pytest.raises(UserError, match="leads out of its archive"):
        extract_member(archive, member, tmp_path / "out")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE])
def test_only_plain_files_of_a_tar_archive_are_taken(tmp_path, kind):
    archive = tarred(tmp_path / "pack", {}, links=[("link", kind)])
    with pytest.raises(UserError, match="#link: is a folder or a link"):
        extract_member(archive, "link", tmp_path / "out")


def test_a_link_in_a_zip_archive_is_refused(tmp_path):
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "pack", "w") as pack:
        pack.writestr(link, "/etc/hostname")
    with pytest.raises(UserError, match="#link: is a folder or a link"):
        extract_member(tmp_path / "pack", "link", tmp_path / "out")


def test_a_file_that_is_no_archive_has_no_members(tmp_path):
    (tmp_path / "text").write_text("text")
    with pytest.raises(UserError, match="is no zip archive, wheel or tar archive"):
        extract_member(tmp_path / "text", "x", tmp_path / "out")


def test_a_broken_archive_leaves_no_file(tmp_path):
    archive = zipped(tmp_path / "pack", {"x": b"0123456789" * 100})
    raw = bytearray(archive.read_bytes())
    raw[35:40] = b"\xff" * 5  # inside the packed bytes of the only member
    archive.write_bytes(raw)
    with pytest.raises(UserError, match="#x: its archive is broken"):
        extract_member(archive, "x", tmp_path / "out")
    assert not (tmp_path / "out").exists()
