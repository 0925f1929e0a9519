"""Which project files decide what a script writes. Imports nothing heavy: the Snakefile calls it for every rule."""

import ast
from functools import cache
from pathlib import Path

LIB = Path(__file__).resolve().parent.parent
SCRIPTS = LIB.parent / "scripts"


def code_of(script: str, *modules: str) -> list[str]:
    """Paths of the script `workflow/scripts/{script}.py` and of every project module it imports, however deep.

    `modules` (dotted, such as "whobenefits.retrieval.bm25") are added with what they import: modules that the script
    takes by a name from the settings, which no import statement shows. Sorted, so that a rule's inputs do not depend
    on the order of imports. Raises FileNotFoundError for a script or module that is not there.
    """
    found: set[Path] = set()
    waiting = [SCRIPTS / f"{script}.py", *(_file(module, strict=True) for module in modules)]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imports(path)
    return [str(path) for path in sorted(found)]


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    names = [name for node in nodes for name in _names(node)]
    return tuple(file for name in names if (file := _file(name)))


def _names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return []


def _file(module: str, strict: bool = False) -> Path | None:
    path = LIB / (module.replace(".", "/") + ".py")
    if module.startswith("whobenefits") and path.is_file():
        return path
    if strict:
        raise FileNotFoundError(f"{path}: no such module of the project")
    return None
