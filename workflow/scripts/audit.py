"""Write the audit of per-group results: a page and its tables."""

from whobenefits.audit.audit import audit
from whobenefits.audit.page import write_audit
from whobenefits.logs import log_to


def main(folder: str, fields: dict, page: str) -> None:
    """Audit the results in the folder; the tables come beside the page."""
    write_audit(audit(folder, fields), page)


if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        main(folder=snakemake.params.folder, fields=snakemake.params.fields, page=snakemake.output.page)
