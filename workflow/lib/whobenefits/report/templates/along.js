// What goes along with what: correlations over groups, and regressions and correlations over queries.
const rhoTip = (row) =>
  [
    `${whereText(row)}: ${FACTORS[row.factor]} with ${OUTCOMES[row.outcome]}`,
    valueText("ρ", row.value, row.low, row.high, 2),
    `${row.n} groups, p ${chance(row.p)}, corrected ${chance(row.p_holm)}` +
      (known(row.smallest_p) ? `, cannot be below ${chance(row.smallest_p)}` : ""),
  ].join("\n") + at(row.note);

function correlationView() {
  tableView({
    id: "view-correlations",
    name: "Correlations over groups",
    drawn: "ρ",
    tip: rhoTip,
    rows: () => TABLES.correlations,
    caption:
      "Spearman's ρ over the groups of a category, between the groups' share of a factor and their accuracy or gain.",
    order: (a, b) => gridOrder(a, b),
    extent: () => [-1, 1],
    local: [
      {
        key: "factor",
        id: "pick-factor",
        label: "Factor",
        start: "",
        options: [["", "all"], ...Object.entries(FACTORS)],
      },
      {
        key: "outcome",
        id: "pick-outcome",
        label: "With",
        start: "delta",
        options: [["", "both"], ...Object.entries(OUTCOMES)],
      },
    ],
    draw: (row, on) =>
      strip(
        on,
        bar(on, row.low, row.high, 11, hue(row.retriever)),
        dot(on, row.value, 11, hue(row.retriever), !significant(row)),
      ),
    legend: () => [["alone", "mean of retrievers"], ...retrieverKeys(), ["alone ring", "ring: p ≥ 0.05, corrected"]],
    columns: [
      { key: "where", label: "Category", text: true, get: whereText },
      { key: "factor", label: "Factor", text: true, show: (row) => FACTORS[row.factor] },
      { key: "outcome", label: "With", text: true, show: (row) => OUTCOMES[row.outcome] },
      { key: "value", label: "ρ", show: (row) => withInterval(row.value, row.low, row.high, 2) },
      { key: "p", label: "p", show: (row) => chance(row.p) },
      { key: "p_holm", label: "p, corrected", show: (row) => chance(row.p_holm) },
      { key: "n", label: "Groups", show: (row) => String(row.n) },
      {
        key: "n_retrievers",
        label: "Retrievers",
        tip: "Retrievers at which ρ is defined",
        show: (row) => String(row.n_retrievers),
      },
    ],
  });
}

const MODELS = {
  linear: "all queries",
  "within-groups": "within groups",
  "given-llm": "within groups, accuracy without documents held fixed",
  rank: "ranks",
};
function queryLevelView() {
  tableView({
    id: "view-query-level",
    name: "At the level of queries",
    drawn: "slope",
    rows: () => TABLES.queries,
    caption:
      "By how many standard deviations a query's outcome rises with one of what the documents of its own group got, with 95 % intervals clustered by query.",
    empty: TABLES.queries.length ? "" : "This run has no regressions over queries.",
    local: [
      { key: "model", id: "pick-model", label: "Model", start: "within-groups", options: Object.entries(MODELS) },
      {
        key: "factor",
        id: "pick-query-factor",
        label: "Factor",
        start: "",
        options: [["", "all"], ...Object.entries(FACTORS)],
      },
      {
        key: "outcome",
        id: "pick-query-outcome",
        label: "Outcome",
        start: "delta",
        options: [["", "both"], ...Object.entries(OUTCOMES)],
      },
    ],
    tip: (row) =>
      [
        `${whereText(row)}: ${OUTCOMES[row.outcome]} on ${FACTORS[row.factor]}`,
        valueText("slope", row.value, row.low, row.high, 2),
        `${row.n_queries} queries, p ${chance(row.p)}`,
      ].join("\n") + at(row.note),
    extent: (rows) => rows.flatMap((row) => [row.value, row.low, row.high]),
    draw: (row, on) =>
      strip(on, bar(on, row.low, row.high, 11, "alone"), dot(on, row.value, 11, "alone", !significant(row))),
    legend: () => [
      ["alone", "p < 0.05, corrected"],
      ["alone ring", "p ≥ 0.05, corrected"],
    ],
    columns: [
      { key: "where", label: "Category", text: true, get: whereText },
      { key: "factor", label: "Factor", text: true, show: (row) => FACTORS[row.factor] },
      { key: "outcome", label: "Outcome", text: true, show: (row) => OUTCOMES[row.outcome] },
      { key: "value", label: "Slope", show: (row) => withInterval(row.value, row.low, row.high, 2) },
      { key: "p", label: "p", show: (row) => chance(row.p) },
      { key: "p_holm", label: "p, corrected", show: (row) => chance(row.p_holm) },
      { key: "n_queries", label: "Queries", show: (row) => String(row.n_queries) },
    ],
  });
}

function queryCorrelationView() {
  tableView({
    id: "view-query-correlations",
    name: "Correlations over queries",
    drawn: "ρ",
    rows: () => TABLES.query_correlations,
    caption:
      "Spearman's ρ over queries between a query's outcome and what the documents of its own group got, for all queries of a category or those of one group.",
    empty: TABLES.query_correlations.length ? "" : "This run has no correlations over queries.",
    local: [
      {
        key: "group",
        id: "pick-group",
        label: "Queries",
        start: "all",
        options: [
          ["all", "of all groups"],
          ["", "of each group too"],
        ],
      },
      {
        key: "factor",
        id: "pick-rho-factor",
        label: "Factor",
        start: "",
        options: [["", "all"], ...Object.entries(FACTORS)],
      },
      {
        key: "outcome",
        id: "pick-rho-outcome",
        label: "With",
        start: "delta",
        options: [["", "both"], ...Object.entries(OUTCOMES)],
      },
    ],
    tip: (row) =>
      [
        `${whereText(row)}: ${FACTORS[row.factor]} with ${OUTCOMES[row.outcome]}`,
        valueText("ρ", row.value, row.low, row.high, 2),
        `${row.n} queries, p ${chance(row.p)}, corrected ${chance(row.p_holm)}`,
      ].join("\n") + at(row.note),
    extent: () => [-1, 1],
    draw: (row, on) =>
      strip(
        on,
        bar(on, row.low, row.high, 11, hue(row.retriever)),
        dot(on, row.value, 11, hue(row.retriever), !significant(row)),
      ),
    legend: () => [...retrieverKeys(), ["alone ring", "ring: p ≥ 0.05, corrected"]],
    columns: [
      { key: "where", label: "Category", text: true, get: whereText },
      { key: "factor", label: "Factor", text: true, show: (row) => FACTORS[row.factor] },
      { key: "outcome", label: "With", text: true, show: (row) => OUTCOMES[row.outcome] },
      { key: "value", label: "ρ", show: (row) => withInterval(row.value, row.low, row.high, 2) },
      { key: "p", label: "p", show: (row) => chance(row.p) },
      { key: "p_holm", label: "p, corrected", show: (row) => chance(row.p_holm) },
      { key: "n", label: "Queries", show: (row) => String(row.n) },
    ],
  });
}
