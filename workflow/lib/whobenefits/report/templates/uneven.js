// Unevenness in other terms than the range.
const MEASURES = { ac_rag: "accuracy with RAG", ac_llm: "accuracy, LLM alone", delta: "gain" };
// Statistics that are tested, with the digits in which they are shown.
const TESTED = {
  difference_between_groups: ["range", 1],
  difference_to_overall: ["to overall", 1],
  sd_between_groups: ["SD", 1],
  ratio_between_groups: ["worst / best", 2],
  ratio_to_overall: ["ratio to overall", 2],
};
const unevenTip = (row) =>
  [
    `${whereText(row)}: ${MEASURES[row.measure]}`,
    `groups from ${number(row.group_min)} to ${number(row.group_max)}, overall ${number(row.overall)}`,
    ...Object.entries(TESTED).map(
      ([key, [name, digits]]) =>
        `${name} ${number(row[key], digits)}, by chance ${number(row[`${key}_expected`], digits)}, p ${chance(row[`${key}_p`])}, corrected ${chance(row[`${key}_p_holm`])}`,
    ),
  ].join("\n") + at(row.note);

function unevennessView() {
  const plain = (key, text, hint) => ({ key, label: text, tip: hint, show: (row) => number(row[key]) });
  const tested = (key, text, hint) => ({
    key,
    label: text,
    tip: `${hint}; p of the permutation test`,
    show: (row) => number(row[key], TESTED[key][1]) + (known(row[`${key}_p`]) ? ` (p ${chance(row[`${key}_p`])})` : ""),
  });
  tableView({
    id: "view-unevenness",
    name: "Unevenness in other terms",
    drawn: "points: worst to best group, overall",
    tip: unevenTip,
    caption: "How uneven a measure is between the groups, in ROUGE-L points; ratios have no unit, and 1 is even.",
    rows: () => TABLES.unevenness,
    empty: TABLES.unevenness.length ? "" : "This run has no such table.",
    local: [
      { key: "measure", id: "pick-measure", label: "Measure", start: "ac_rag", options: Object.entries(MEASURES) },
    ],
    extent: (rows) => rows.flatMap((row) => [row.group_min, row.group_max, row.overall]),
    draw: (row, on) =>
      strip(on, bar(on, row.group_min, row.group_max, 11, hue(row.retriever)), mark(on, row.overall, "centre thin")),
    legend: () => [...retrieverKeys(), ["centre line", "over all queries"]],
    columns: [
      { key: "where", label: "Category", text: true, get: whereText },
      tested("difference_between_groups", "Range", "Best minus worst group"),
      tested("difference_to_overall", "To overall", "The largest distance of a group from the mean over all queries"),
      tested("sd_between_groups", "SD", "Standard deviation of the groups' means, each group counting once"),
      plain("sd_between_groups_net", "SD, net", "The same less what chance adds"),
      tested("ratio_between_groups", "Worst / best", "Ratio of the worst to the best group"),
      tested("ratio_to_overall", "Ratio to overall", "The smallest ratio of a group and the mean over all queries"),
    ],
  });
}
