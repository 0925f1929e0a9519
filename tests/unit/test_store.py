import pytest

from whobenefits.errors import DataError
from whobenefits.store import content_key, segment_writer, stored_records


def put(folder, records):
    with segment_writer(folder) as write:
        write(records)


def test_what_several_writers_put_in_comes_back_together(tmp_path):
    put(tmp_path, {"a": {"text": "één\nline"}})
    put(tmp_path, {"b": {"text": ""}, "c": {"text": "x"}})
    assert stored_records(tmp_path) == {"a": {"text": "één\nline"}, "b": {"text": ""}, "c": {"text": "x"}}
    assert len(list(tmp_path.iterdir())) == 2


def test_a_batch_can_be_read_while_its_writer_is_still_open(tmp_path):
    with segment_writer(tmp_path) as write:
        write({"a": {"text": "x"}})
        assert stored_records(tmp_path) == {"a": {"text": "x"}}


def test_a_folder_that_is_not_there_is_an_empty_store_and_an_idle_writer_makes_no_file(tmp_path):
    with segment_writer(tmp_path / "store"):
        pass
    assert stored_records(tmp_path / "store") == {} and not (tmp_path / "store").exists()


def test_a_line_torn_by_a_kill_loses_only_itself(tmp_path):
    put(tmp_path, {"a": {"text": "x"}, "b": {"text": "y"}})
    (segment,) = tmp_path.iterdir()
    whole = segment.read_bytes()
    for length in range(len(whole)):
        segment.write_bytes(whole[:length])
        assert set(stored_records(tmp_path)) == {"a", "b"} - ({"b"} if length < len(whole) else set()) - (
            {"a"} if length <= whole.index(b"\n") else set()
        )


def test_a_broken_line_in_the_middle_is_an_error_that_names_file_and_line(tmp_path):
    put(tmp_path, {"a": {"text": "x"}})
    (segment,) = tmp_path.iterdir()
    for bad in (b"not json\n", b"[]\n", b'{"text": "no key"}\n'):
        segment.write_bytes(bad + b'{"key": "b", "text": "y"}\n')
        with pytest.raises(DataError, match=rf"{segment.name}:1: is not a record of the store .* delete this file"):
            stored_records(tmp_path)


def test_two_records_of_one_key_are_settled_by_the_name_of_the_segment(tmp_path):
    (tmp_path / "1.jsonl").write_text('{"key": "a", "text": "first"}\n')
    (tmp_path / "2.jsonl").write_text('{"key": "a", "text": "second"}\n')
    assert stored_records(tmp_path) == {"a": {"text": "first"}}


def test_only_what_is_wanted_is_parsed(tmp_path):
    keys = [content_key(name) for name in "abc"]
    put(tmp_path, {key: {"text": name} for key, name in zip(keys, "abc", strict=True)})
    (segment,) = tmp_path.iterdir()
    lines = segment.read_bytes().splitlines(keepends=True)
    # The second line is broken behind its key: whoever wants it is told, others never look at it.
    segment.write_bytes(lines[0] + lines[1].replace(b"}", b"") + lines[2])
    assert stored_records(tmp_path, {keys[2]}) == {keys[2]: {"text": "c"}}
    assert stored_records(tmp_path, set()) == {}
    with pytest.raises(DataError, match=f"{segment.name}:2: is not a record"):
        stored_records(tmp_path, {keys[1]})


def test_lines_in_another_form_are_found_too(tmp_path):
    key = content_key("a")
    (tmp_path / "1.jsonl").write_text(f'{{"text": "x", "key": "{key}"}}\n')
    assert stored_records(tmp_path, {key}) == {key: {"text": "x"}}


def test_a_key_depends_on_each_part_and_on_nothing_else():
    base = content_key({"model": "m", "dtype": "bf16"}, {"beams": 2}, "prompt")
    assert base == content_key({"dtype": "bf16", "model": "m"}, {"beams": 2}, "prompt")
    others = [
        content_key({"model": "m", "dtype": "fp32"}, {"beams": 2}, "prompt"),
        content_key({"model": "m", "dtype": "bf16"}, {"beams": 4}, "prompt"),
        content_key({"model": "m", "dtype": "bf16"}, {"beams": 2}, "prompt "),
    ]
    assert len({base, *others}) == 4
