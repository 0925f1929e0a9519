import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]


def locked(python):
    """Versions in the lock, by package, for one version of Python on Linux."""
    versions = {}
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        if match := re.match(r"(\S+==[^\\]*)\\?", line):
            pin = Requirement(match[1])
            here = {"python_full_version": f"{python}.0", "python_version": python, "sys_platform": "linux"}
            if pin.marker is None or pin.marker.evaluate(here):
                versions[pin.name] = str(pin.specifier)
    return versions


def wanted():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [Requirement(line) for line in project["dependencies"]]


def test_the_conda_environment_has_what_the_project_asks_for_in_the_versions_of_the_lock():
    environment = yaml.safe_load((ROOT / "envs/whobenefits.yaml").read_text())
    (pip,) = [part["pip"] for part in environment["dependencies"] if isinstance(part, dict)]
    pins = {Requirement(line).name: str(Requirement(line).specifier) for line in pip}
    versions = locked("3.12")
    assert pins == {r.name: versions[canonicalize_name(r.name)] for r in wanted() if r.name != "pip"}


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_lock_satisfies_the_project_for_each_python(python):
    versions = locked(python)
    for requirement in wanted():
        assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)].removeprefix("=="))


def test_the_lock_names_no_index_and_pins_everything_with_a_hash():
    text = (ROOT / "requirements.lock").read_text()
    assert "://" not in text and "--index" not in text and "--find-links" not in text
    blocks = re.split(r"\n(?=\S+==)", text)
    assert len(blocks) > 100 and all("--hash=sha256:" in block for block in blocks)
