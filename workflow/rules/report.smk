SUMMARIES = expand(f"{RESULTS}/{{topic}}/dataset.csv", topic=GRID.topics)


def figures():
    """Each figure in each format."""
    names = ["group_accuracy", "figure2", "figure3", "figure4", "figure5"]
    return expand(f"{RESULTS}/report/figures/{{name}}.{{suffix}}", name=names, suffix=["svg", "pdf", "png"])


def report_tables():
    """Each table in each format."""
    return expand(f"{RESULTS}/report/tables/table{{number}}.{{suffix}}", number=[2, 3, 4], suffix=["csv", "md"])


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
    params:
        labels=labels_of(CONFIG),
    resources:
        mem_mb=1000,
    conda:
        "../../envs/whobenefits.yaml"
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
    params:
        labels=labels_of(CONFIG),
    resources:
        mem_mb=1000,
    conda:
        "../../envs/whobenefits.yaml"
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
        template=relpath(f"{workflow.basedir}/workflow/lib/whobenefits/report/templates/page.html"),
        code=code("write_page"),
    output:
        page=f"{RESULTS}/report/index.html",
        finding=f"{RESULTS}/report/finding.txt",
    log:
        f"{LOGS}/write_page.log",
    params:
        labels=labels_of(CONFIG),
        about=about_of(CONFIG),
    resources:
        mem_mb=1000,
    conda:
        "../../envs/whobenefits.yaml"
    script:
        "../scripts/write_page.py"
