"""What the report is made from and what it consists of: only names and functions; its rules are in report.smk."""

from whobenefits.audit.files import audited_files
from whobenefits.describe import used_assets
from whobenefits.report.published_cells import has_published_cells

REPORT = f"{RESULTS}/report"
ABOUT, LABELS = about_of(CONFIG), labels_of(CONFIG)
SUMMARIES = expand(f"{RESULTS}/{{topic}}/dataset.csv", topic=GRID.topics)
# The tables of the whole grid: what the report is made from.
SUMMED_UP = {
    name: path
    for name, path in rules.aggregate.output.items()
    if path.endswith(".parquet")
}
TEMPLATE_FILES = f"{workflow.basedir}/workflow/lib/whobenefits/report/templates"
# The published numbers, where this run has cells of that study.
REFERENCE = relpath(f"{workflow.basedir}/tests/reference/query_group_fairness")
PUBLISHED = None
if has_published_cells(ABOUT, LABELS) and audited_files(REFERENCE):
    PUBLISHED = REFERENCE
FIGURES = {
    "group_accuracy": "Group means",
    "figure2": "Figure 2",
    "figure3": "Figure 3",
    "ranges": "Ranges against chance",
    "figure4": "Figure 4",
    "figure5": "Figure 5",
    "correlation_map": "Map of correlations",
}


def figures():
    """Each figure in each format, and its data."""
    return expand(
        f"{REPORT}/figures/{{name}}.{{suffix}}",
        name=FIGURES,
        suffix=["svg", "pdf", "png", "csv"],
    )


def described(path, category, **labels):
    """An output that `snakemake --report` shows, with the caption of its name."""
    caption = f"../report/{Path(path).stem}.rst"
    return report(path, caption=caption, category=category, labels=labels)


def figure_outputs():
    """The figures; of each the SVG is shown by `snakemake --report`."""
    names = {f"{REPORT}/figures/{name}.svg": title for name, title in FIGURES.items()}
    return [
        described(path, "Figures", figure=names[path]) if path in names else path
        for path in figures()
    ]


def report_tables():
    """Each table in each format."""
    shown = expand(f"{REPORT}/tables/table{{number}}.csv", number=[2, 3, 4])
    more = expand(f"{REPORT}/tables/table{{number}}.md", number=[2, 3, 4])
    latex = expand(f"{REPORT}/tables/table{{number}}.tex", number=[2, 3, 4, 5, 6])
    return shown + more + latex


def table_outputs():
    """The tables; of Tables 2 to 4 the CSV is shown by `snakemake --report`."""
    return [
        (
            described(path, "Tables", table=Path(path).stem)
            if path.endswith(".csv")
            else path
        )
        for path in report_tables()
    ]


def query_paths():
    """For each topic the paths that the view of single queries is made from (lookup_files.write_query_files)."""
    return {topic: topic_paths(topic) for topic in GRID.topics}


def topic_paths(topic):
    """The paths of one topic."""
    pool = POOL.format(topic=topic)
    return {
        "queries": f"{RESULTS}/{topic}/queries.parquet",
        "corpus": f"{RESULTS}/{pool}/corpus.parquet",
        "groups": f"{RESULTS}/{pool}/groups.parquet",
        "tasks": {task: task_paths(topic, task) for task in GRID.tasks},
    }


def task_paths(topic, task):
    """The paths of one topic and task."""
    place = f"{RESULTS}/{topic}/{task}"
    names = ("answers", "scores", "outcomes", "factors")
    return {
        "requests": f"{place}/requests.parquet",
        "templates": expand(f"{PROMPTS}/{task}.{{setting}}.txt", setting=SETTINGS),
        "llms": {
            llm: {name: f"{place}/{llm}/{name}.parquet" for name in names}
            for llm in GRID.llms
        },
    }


def leaves(paths):
    """All paths of nested ones."""
    if isinstance(paths, str):
        return [paths]
    parts = paths.values() if isinstance(paths, dict) else paths
    return [path for part in parts for path in leaves(part)]
