from whobenefits.audit.files import OUTPUTS, audited_files, known_fields


localrules:
    audit,


AUDITED = CONFIG.audit.folder or relpath(
    f"{workflow.basedir}/tests/reference/query_group_fairness"
)


# A target of its own: `snakemake audit`. It needs nothing of the run.
rule audit:
    input:
        files=audited_files(AUDITED),
        template=relpath(
            f"{workflow.basedir}/workflow/lib/whobenefits/audit/templates/audit.html"
        ),
        code=code("audit"),
    output:
        page=f"{RESULTS}/audit/index.html",
        tables=expand(f"{RESULTS}/audit/{{name}}.csv", name=OUTPUTS),
    log:
        f"{LOGS}/audit.log",
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(10),
    params:
        folder=lambda w: AUDITED,
        fields=known_fields(CONFIG.dataset.model_dump().get("categories")),
    script:
        "../scripts/audit.py"
