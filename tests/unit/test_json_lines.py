import gzip
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whobenefits.datasets.json_lines import number_finder, numbered_lines, parsed, wanted_rows
from whobenefits.errors import DataError

FINDER = number_finder("id")


def written(folder, *lines: bytes, packed: bool = False):
    path = folder / "lines"
    data = b"".join(line + b"\n" for line in lines)
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


def rows(path, wanted=frozenset({5}), key="id"):
    return list(wanted_rows(path, key, wanted))


@pytest.mark.parametrize("packed", [False, True])
def test_wanted_lines_come_with_their_numbers_plain_or_packed(tmp_path, packed):
    path = written(tmp_path, b'{"id": 4}', b"", b'{"id":5,"a":"x"}', b' { "id" : 6 } ', packed=packed)
    assert rows(path, {5, 6}) == [(3, {"id": 5, "a": "x"}), (4, {"id": 6})]


@pytest.mark.parametrize(
    "line",
    [
        b'{"title": "a", "id": 5}',
        b'{"text": "\\"id\\": 9, ", "id": 5}',
        b'{"text": "{\\"id\\": 9}", "more": {"id": 8}, "id": 5}',
        b'{"id": 5, "text": "the \\"id\\": 9 of it"}',
        b'{"id": 5, "more": {"id": 9}}',
        b'{"id": 5, "list": [{"id": 9}, "id"]}',
        b'{"\\u0069d": 5}',
        # of a key that comes twice, parsers take the last one
        b'{"id": 9, "id": 5}',
        b'{"id": 9, "i\\u0064": 5}',
        b'{"id": 5}\r',
        b'{"id": 5, "x": NaN}',
    ],
)
def test_the_number_is_found_wherever_it_stands_and_whatever_the_texts_hold(tmp_path, line):
    assert [row["id"] for _, row in rows(written(tmp_path, line))] == [5]
    assert rows(written(tmp_path, line), {9, 8}) == []


def test_only_lines_that_leave_no_doubt_are_not_parsed():
    assert FINDER(b'{"id":5,"plain":"a \\"id\\": 7 and {\\"id\\": 8}"}\n') == 5
    assert FINDER(b'{"id":5,"plain":"a", "id": 7}\n') is None
    assert FINDER(b'{"plain":"a","id":5}\n') is None
    assert FINDER(b'{"id":5,"plain":"a') is None
    assert FINDER(b'{"id":5.0}\n') is None
    assert FINDER(b'{"id":"5"}\n') is None


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text('id"\\:,{}5\n é'), st.just("id")),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["id", "a", 'x"id']), inner)),
    max_leaves=6,
)
PAIRS = st.lists(st.tuples(st.sampled_from(["id", "title", 'a"id', "page_id"]), JSON), max_size=5)


@settings(max_examples=300, deadline=None)
@given(PAIRS, st.booleans(), st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]))
def test_a_found_number_is_the_one_that_parsing_gives(pairs, ascii_only, separators):
    # objects with repeated keys, as no dict can be
    parts = [
        f"{json.dumps(key)}{separators[1]}{json.dumps(value, ensure_ascii=ascii_only, separators=separators)}"
        for key, value in pairs
    ]
    line = ("{" + separators[0].join(parts) + "}\n").encode()
    found = FINDER(line)
    assert found is None or (json.loads(line)["id"] == found and type(json.loads(line)["id"]) is int)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"id": 5, "title": "a', r"is not JSON \(.*\)"),
        (b'{"id": 5, "title": "\xff"}', r"is not UTF-8 \(.*0xff.*\)"),
        (b'{"id": 5, "title": "\\ud800"}', r"has a half of a character \(a lone surrogate\)"),
        (b"[5]", "is a list, not an object"),
        (b'{"title": "a"}', "has no field 'id'"),
        (b'{"id": "5"}', r"""'id' is a text \("5"\), not a whole number"""),
        (b'{"id": true}', r"'id' is true or false \(true\), not a whole number"),
        (b'{"id": 5.0}', r"'id' is a number \(5\.0\), not a whole number"),
        (b'{"id": null}', r"'id' is null \(null\), not a whole number"),
        (b'{"id": 5}{"id": 6}', "is not JSON"),
        (b"[" * 200_000, "is not JSON"),
    ],
)
def test_a_broken_line_is_named_with_its_number_and_a_remedy(tmp_path, line, message):
    path = written(tmp_path, b'{"id": 1}', line)
    with pytest.raises(DataError, match=f"{re.escape(str(path))}, line 2: {message}.*: correct the line or get the"):
        rows(path)


def test_a_line_that_is_cut_off_is_noticed_also_where_it_is_not_wanted(tmp_path):
    with pytest.raises(DataError, match="line 1: is not JSON"):
        rows(written(tmp_path, b'{"id": 4, "title": "a'))


def test_a_gzip_stream_that_is_cut_off_or_damaged_is_named_with_the_last_line_that_was_read(tmp_path):
    lines = [b'{"id": %d, "text": "%032x"}' % (i, i**9) for i in range(20_000)]
    path = written(tmp_path, *lines, packed=True)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"the gzip stream is broken behind line \d+,\d+ \(.*\): get the file again"):
        rows(path)
    path.write_bytes(whole[:2000] + bytes(500) + whole[2500:])
    with pytest.raises(DataError, match="(the gzip stream is broken behind|is not JSON|is not UTF-8)"):
        rows(path, range(20_000))
    path.write_bytes(whole[:-6] + b"\0\0\0\0\0\0")
    with pytest.raises(DataError, match="the gzip stream is broken behind"):
        rows(path)


def test_a_file_that_is_not_there_or_a_folder_is_named(tmp_path):
    with pytest.raises(DataError, match="nowhere: there is no such file: correct the path"):
        list(numbered_lines(tmp_path / "nowhere"))
    with pytest.raises(DataError, match=r"cannot be read \(Is a directory\)"):
        list(numbered_lines(tmp_path))


def test_an_empty_file_has_no_lines(tmp_path):
    assert rows(written(tmp_path)) == rows(written(tmp_path, packed=True)) == []


def test_numbers_that_only_pythons_parser_takes_are_read(tmp_path):
    assert parsed(tmp_path, 1, b'{"id": 1, "x": NaN, "y": -Infinity}')["y"] == float("-inf")
