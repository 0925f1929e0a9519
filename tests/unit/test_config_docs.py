from whobenefits.config_docs import MARKS, README, settings_tables


def test_the_readme_lists_every_key_as_the_models_have_it():
    text = README.read_text(encoding="utf-8")
    assert text.split(MARKS[0])[1].split(MARKS[1])[0].strip() == settings_tables().strip(), "run `make docs`"


def test_every_key_says_what_it_does_and_names_its_type():
    rows = [line for line in settings_tables().splitlines() if line.startswith("| `")]
    assert len(rows) > 50
    assert not [row for row in rows if "None" in row or "typing" in row or "|  |" in row]


def test_limits_and_defaults_are_shown():
    tables = settings_tables()
    assert "| `k1` | number ≥ 0 | `0.9` |" in tables
    assert "| `depth` | whole number ≥ 1 | `10` |" in tables
    assert "| `max_queries` | whole number or null | `null` |" in tables
