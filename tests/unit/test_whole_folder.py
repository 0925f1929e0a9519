import pytest

from whobenefits.whole_folder import whole_folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_folder_appears_with_all_its_files(tmp_path):
    with whole_folder(tmp_path / "a" / "index") as partial:
        (partial / "one").write_text("1")
        assert not (tmp_path / "a" / "index").exists()
    assert names(tmp_path / "a") == ["index"] and names(tmp_path / "a" / "index") == ["one"]


def test_what_stood_there_is_replaced_and_not_mixed_in(tmp_path):
    (tmp_path / "index").mkdir()
    (tmp_path / "index" / "old").write_text("0")
    with whole_folder(tmp_path / "index") as partial:
        (partial / "new").write_text("1")
    assert names(tmp_path) == ["index"] and names(tmp_path / "index") == ["new"]


def test_after_an_error_nothing_is_left_and_what_stood_there_stays(tmp_path):
    (tmp_path / "index").mkdir()
    with pytest.raises(ValueError), whole_folder(tmp_path / "index") as partial:
        (partial / "new").write_text("1")
        raise ValueError
    assert names(tmp_path) == ["index"] and names(tmp_path / "index") == []


def test_two_writers_at_once_never_write_into_one_folder(tmp_path):
    with whole_folder(tmp_path / "index") as first, whole_folder(tmp_path / "index") as second:
        (first / "a").write_text("first")
        (second / "b").write_text("second")
    # the outer one ends last
    assert names(tmp_path / "index") == ["a"] and names(tmp_path) == ["index"]
