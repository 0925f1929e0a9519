from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopback import Site, serving

from whobenefits.errors import UserError
from whobenefits.web import TRIES, check_url, download

BODY = bytes(range(256)) * 4  # 1024 bytes


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def test_a_file_comes_whole_and_leaves_nothing_beside_it(tmp_path):
    with serving(Site({"/a": BODY})) as site:
        download(f"{site.url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_cut_connection_is_taken_up_where_it_ended(tmp_path):
    # Cut after 100 bytes, then after 300 more: the tries ask from byte 0, 100 and 400 on.
    with serving(Site({"/a": BODY}, cuts=[100, 300])) as site:
        download(f"{site.url}/a", tmp_path / "a", pause=0)
    assert (tmp_path / "a").read_bytes() == BODY
    assert [asked for _, asked in site.asked] == [None, "bytes=100-", "bytes=400-"]


def test_an_interrupted_run_is_taken_up_by_the_next(tmp_path):
    (tmp_path / "a.partial").write_bytes(BODY[:1000])
    with serving(Site({"/a": BODY})) as site:
        download(f"{site.url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY
    assert site.asked == [("/a", "bytes=1000-")]


def test_a_server_without_ranges_sends_all_anew(tmp_path):
    with serving(Site({"/a": BODY}, cuts=[100], ranges=False)) as site:
        download(f"{site.url}/a", tmp_path / "a", pause=0)
    assert (tmp_path / "a").read_bytes() == BODY


def test_a_part_longer_than_the_file_is_thrown_away(tmp_path):
    (tmp_path / "a.partial").write_bytes(BODY + b"more")
    with serving(Site({"/a": BODY})) as site:
        download(f"{site.url}/a", tmp_path / "a", pause=0)
    assert (tmp_path / "a").read_bytes() == BODY


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(1, 300), max_size=6))
def test_wherever_the_connection_is_cut_the_file_comes_whole(tmp_path, cuts):
    with serving(Site({"/a": BODY}, cuts=cuts)) as site:
        download(f"{site.url}/a", tmp_path / "a", pause=0)
    assert (tmp_path / "a").read_bytes() == BODY


def test_a_missing_file_is_asked_for_once(tmp_path):
    with serving(Site()) as site, pytest.raises(UserError, match="/a: could not be downloaded .404 Not Found.: check"):
        download(f"{site.url}/a", tmp_path / "a", pause=0)
    assert len(site.asked) == 1


def test_a_busy_server_is_asked_a_few_times(tmp_path):
    with serving(Site(answers={"/a": (503, {})})) as site, pytest.raises(UserError, match="503"):
        download(f"{site.url}/a", tmp_path / "a", pause=0)
    assert len(site.asked) == TRIES


def test_a_host_that_does_not_answer_is_an_error_with_its_address(tmp_path):
    with serving(Site()) as site:
        pass
    with pytest.raises(UserError, match=f"{site.url}/a: could not be downloaded"):
        download(f"{site.url}/a", tmp_path / "a", pause=0)


def test_a_redirection_within_the_rules_is_followed(tmp_path):
    with serving(Site({"/b": BODY})) as site:
        site.answers["/a"] = (302, {"Location": "/b"})
        download(f"{site.url}/a", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == BODY


@pytest.mark.parametrize("place", ["file:///etc/hostname", "ftp://127.0.0.1/x", "http://example.org/x"])
def test_a_redirection_to_another_scheme_is_not_followed(tmp_path, place):
    with (
        serving(Site(answers={"/a": (302, {"Location": place})})) as site,
        pytest.raises(UserError, match="only https is|is not allowed"),
    ):
        download(f"{site.url}/a", tmp_path / "a", pause=0)
    assert not list(Path(tmp_path).iterdir())


@pytest.mark.parametrize(
    "url", ["http://example.org/a", "http://127.0.0.1.example.org/a", "http://localhost@example.org/a"]
)
def test_plain_http_is_for_this_machine_only(url):
    with pytest.raises(UserError, match="only https is"):
        check_url(url)
