localrules:
    write_report_tables,
    draw_figures,
    write_page,


SUMMARIES = expand(f"{RESULTS}/{{topic}}/dataset.csv", topic=GRID.topics)


rule write_report_tables:
    input:
        measures=f"{RESULTS}/measures.parquet",
        ranges=f"{RESULTS}/ranges.parquet",
        summaries=SUMMARIES,
        code=code("write_report_tables"),
    output:
        tables=report_tables(),
    log:
        f"{LOGS}/write_report_tables.log",
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(10),
    params:
        labels=labels_of(CONFIG),
    script:
        "../scripts/write_report_tables.py"


rule draw_figures:
    input:
        measures=f"{RESULTS}/measures.parquet",
        ranges=f"{RESULTS}/ranges.parquet",
        correlations=f"{RESULTS}/correlations.parquet",
        code=code("draw_figures"),
    output:
        figures=figures(),
    log:
        f"{LOGS}/draw_figures.log",
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(10),
    params:
        labels=labels_of(CONFIG),
    script:
        "../scripts/draw_figures.py"


rule write_page:
    input:
        measures=f"{RESULTS}/measures.parquet",
        ranges=f"{RESULTS}/ranges.parquet",
        correlations=f"{RESULTS}/correlations.parquet",
        summaries=SUMMARIES,
        figures=[path for path in figures() if path.endswith(".svg")],
        tables=report_tables(),
        template=relpath(
            f"{workflow.basedir}/workflow/lib/whobenefits/report/templates/page.html"
        ),
        code=code("write_page"),
    output:
        page=f"{RESULTS}/report/index.html",
        finding=f"{RESULTS}/report/finding.txt",
    log:
        f"{LOGS}/write_page.log",
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(10),
    params:
        labels=labels_of(CONFIG),
        about=about_of(CONFIG),
    script:
        "../scripts/write_page.py"
