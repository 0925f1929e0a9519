import sys

from snakemake.utils import min_version

min_version("9.27")
sys.path.insert(0, f"{workflow.basedir}/workflow/lib")

if not workflow.configfiles:

    configfile: f"{workflow.basedir}/config/demo.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/assets.smk"
include: "workflow/rules/dataset_inputs.smk"
include: "workflow/rules/dataset.smk"
include: "workflow/rules/retrieval.smk"
include: "workflow/rules/generation.smk"
include: "workflow/rules/attribution.smk"
include: "workflow/rules/measures.smk"
include: "workflow/rules/report_inputs.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/audit.smk"


localrules:
    all,


rule all:
    default_target: True
    input:
        f"{RESULTS}/report/index.html",
        f"{RESULTS}/report/finding.txt",
        figures(),
        report_tables(),
        f"{RESULTS}/ro-crate-metadata.json",
