"""Write the records of single queries that the report's page shows."""

from whobenefits.logs import log_to
from whobenefits.report.lookup_files import write_query_files

if __name__ == "__main__":
    with log_to(snakemake.log[0]):
        write_query_files(snakemake.params.topics, snakemake.output.queries)
