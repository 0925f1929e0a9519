"""Snakemake, but that its SLURM plugin asks for the jobs' states every second.

The plugin waits longer after each question, up to three minutes, which is right for a cluster and slow for tests.
"""

import snakemake_executor_plugin_slurm as plugin
from snakemake.cli import main

plugin.Executor.next_seconds_between_status_checks = property(lambda _: 1, lambda _, seconds: None)

if __name__ == "__main__":
    main()
