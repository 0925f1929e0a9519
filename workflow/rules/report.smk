localrules:
    write_report_tables,
    draw_figures,
    write_provenance,
    write_queries,
    write_page,
    write_crate,


rule write_report_tables:
    input:
        **SUMMED_UP,
        summaries=SUMMARIES,
        code=code("write_report_tables"),
    output:
        tables=table_outputs(),
    log:
        f"{LOGS}/write_report_tables.log",
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(10),
    params:
        labels=LABELS,
    script:
        "../scripts/write_report_tables.py"


rule draw_figures:
    input:
        **SUMMED_UP,
        code=code("draw_figures"),
    output:
        figures=figure_outputs(),
    log:
        f"{LOGS}/draw_figures.log",
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(10),
    params:
        labels=LABELS,
    script:
        "../scripts/draw_figures.py"


rule write_queries:
    input:
        paths=leaves(query_paths()),
        code=code("write_queries"),
    output:
        queries=directory(f"{REPORT}/queries"),
    log:
        f"{LOGS}/write_queries.log",
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(4000),
        runtime=grows(30),
    params:
        topics=query_paths(),
    script:
        "../scripts/write_queries.py"


rule write_provenance:
    input:
        requests=expand(
            f"{RESULTS}/{{topic}}/{{task}}/requests.parquet",
            topic=GRID.topics,
            task=GRID.tasks,
        ),
        answers=cells("{topic}/{task}/{llm}/answers.parquet"),
        summaries=SUMMARIES,
        manifests=[manifest(name) for name in used_assets(CONFIG)],
        citation=relpath(f"{workflow.basedir}/CITATION.cff"),
        # Not read: whatever the logs tell is told when the measures are there.
        measures=SUMMED_UP["measures"],
        code=code("write_provenance"),
    output:
        record=f"{REPORT}/provenance.json",
        methods=f"{REPORT}/methods.tex",
        citation=f"{REPORT}/citation.bib",
    log:
        f"{LOGS}/write_provenance.log",
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(10),
    params:
        labels=LABELS,
        about=ABOUT,
        logs=LOGS,
        cells=[
            {
                "topic": topic,
                "task": task,
                "llm": llm,
                "requests": f"{RESULTS}/{topic}/{task}/requests.parquet",
                "answers": f"{RESULTS}/{topic}/{task}/{llm}/answers.parquet",
            }
            for topic in GRID.topics
            for task in GRID.tasks
            for llm in GRID.llms
        ],
    script:
        "../scripts/write_provenance.py"


rule write_page:
    input:
        **SUMMED_UP,
        summaries=SUMMARIES,
        figures=[path for path in figures() if path.endswith(".svg")],
        tables=report_tables(),
        queries=f"{REPORT}/queries",
        record=f"{REPORT}/provenance.json",
        bibtex=f"{REPORT}/citation.bib",
        published=audited_files(PUBLISHED) if PUBLISHED else [],
        templates=sorted(relpath(path) for path in Path(TEMPLATE_FILES).iterdir()),
        code=code("write_page"),
    output:
        page=described(f"{REPORT}/index.html", "Page", page="The report"),
        finding=described(f"{REPORT}/finding.txt", "Page", page="The finding"),
    log:
        f"{LOGS}/write_page.log",
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(2000),
        runtime=grows(10),
    params:
        labels=LABELS,
        about=ABOUT,
        published=PUBLISHED,
    script:
        "../scripts/write_page.py"


rule write_crate:
    input:
        record=f"{REPORT}/provenance.json",
        files=[
            *SUMMED_UP.values(),
            *figures(),
            *report_tables(),
            f"{REPORT}/index.html",
            f"{REPORT}/finding.txt",
            f"{REPORT}/methods.tex",
            f"{REPORT}/citation.bib",
            f"{REPORT}/provenance.json",
        ],
        code=code("write_crate"),
    output:
        crate=f"{RESULTS}/ro-crate-metadata.json",
    log:
        f"{LOGS}/write_crate.log",
    conda:
        "../../envs/whobenefits.yaml"
    resources:
        mem_mb=grows(1000),
        runtime=grows(10),
    script:
        "../scripts/write_crate.py"
