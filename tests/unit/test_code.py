from pathlib import Path

import pytest

from whobenefits import code


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A little project: a script, modules that import one another in every form, and one that nobody imports."""
    files = {
        "scripts/work.py": "from whobenefits.a import f\nimport json\n",
        "lib/whobenefits/a.py": "import whobenefits.b\n\ndef f():\n    from whobenefits.pack import c\n",
        "lib/whobenefits/b.py": "from whobenefits import a\nfrom whobenefits.pack.d import x as y\n",
        "lib/whobenefits/pack/__init__.py": "",
        "lib/whobenefits/pack/c.py": "",
        "lib/whobenefits/pack/d.py": "",
        "lib/whobenefits/alone.py": "import whobenefits.pack.c\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(code, "LIB", tmp_path / "lib")
    monkeypatch.setattr(code, "SCRIPTS", tmp_path / "scripts")
    return tmp_path


def names(paths, project):
    return [str(Path(path).relative_to(project)) for path in paths]


def test_a_scripts_code_is_itself_and_all_that_it_imports_however_deep(project):
    assert names(code.code_of("work"), project) == [
        "lib/whobenefits/a.py",
        "lib/whobenefits/b.py",
        "lib/whobenefits/pack/c.py",
        "lib/whobenefits/pack/d.py",
        "scripts/work.py",
    ]


def test_a_module_taken_by_name_is_added_with_its_imports(project):
    assert "lib/whobenefits/alone.py" in names(code.code_of("work", "whobenefits.alone"), project)
    assert "lib/whobenefits/alone.py" not in names(code.code_of("work"), project)


def test_a_script_or_module_that_is_not_there_is_an_error(project):
    with pytest.raises(FileNotFoundError):
        code.code_of("play")
    with pytest.raises(FileNotFoundError, match="no such module"):
        code.code_of("work", "whobenefits.nothing")


def test_each_script_of_the_project_can_be_followed():
    for script in code.SCRIPTS.glob("*.py"):
        assert str(script) in code.code_of(script.stem)
