"""Write the report's page and its finding."""

import json
from pathlib import Path

from whobenefits.logs import log_to
from whobenefits.report.page import Parts, write_page
from whobenefits.report.published import shown
from whobenefits.report.run_tables import run_results


def main(
    tables: dict[str, str], parts: dict, labels: dict, about: dict, published: str | None, page: str, finding: str
) -> None:
    """Write both; `tables` are the result tables' paths by name, `parts` those of what else the page is made from.

    `published` is the folder of published numbers, if the run is to stand beside them.
    """
    results = run_results(tables)
    made = Parts(
        summaries=parts["summaries"],
        figures={Path(path).stem: path for path in parts["figures"]},
        queries=parts["queries"],
        record=json.loads(Path(parts["record"]).read_text(encoding="utf-8")),
        bibtex=Path(parts["bibtex"]).read_text(encoding="utf-8"),
        published=shown(results, labels, published) if published else None,
    )
    write_page(results, made, labels, about, page, finding)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(
            tables=dict(snakemake.input.items()),
            parts=dict(snakemake.input.items()),
            labels=snakemake.params.labels,
            about=snakemake.params.about,
            published=snakemake.params.published,
            page=snakemake.output.page,
            finding=snakemake.output.finding,
        )
