// The figures of the page, each with its table.
const inGroups = () => TABLES.groups.filter((row) => row.category !== "all");
const at = (text) => (text ? `\n${text}` : "");
const valueText = (name, value, low, high, digits = 1) =>
  `${name} ${number(value, digits)}` + (known(low) ? `, 95 % interval ${interval(low, high, digits)}` : "");
const significant = (row) => known(row.p_holm) && row.p_holm < 0.05;

const groupTip = (row) =>
  [
    `${whereText(row)} (n = ${row.n})`,
    valueText("LLM alone", row.llm_value, row.llm_low, row.llm_high),
    valueText("with RAG", row.rag, row.rag_low, row.rag_high),
    valueText("gain", row.delta, row.delta_low, row.delta_high),
  ].join("\n") + at(row.reason);

function evenView() {
  tableView({
    id: "view-groups",
    name: "Accuracy of each group",
    drawn: "ROUGE-L × 100: LLM alone → with RAG",
    caption:
      "Mean ROUGE-L × 100 of the queries of each group with 95 % intervals: ring, the LLM alone; dot, with the documents of a retriever. U, E, A: the group's share of utility, exposure and attribution in %.",
    rows: inGroups,
    tip: groupTip,
    extent: (rows) =>
      rows.flatMap((row) => [row.llm_value, row.rag, row.llm_low, row.llm_high, row.rag_low, row.rag_high]),
    draw: (row, on) =>
      strip(
        on,
        bar(on, row.llm_low, row.llm_high, 8, "alone"),
        bar(on, row.rag_low, row.rag_high, 14, hue(row.retriever)),
        join(on, row.llm_value, row.rag, 11, hue(row.retriever)),
        dot(on, row.llm_value, 8, "alone", true),
        dot(on, row.rag, 14, hue(row.retriever)),
      ),
    legend: () => [["alone ring", "LLM alone"], ...retrieverKeys()],
    columns: [
      { key: "where", label: "Group", text: true, get: whereText },
      { key: "n", label: "n", tip: "Queries of the group", show: (row) => String(row.n) },
      { key: "llm_value", label: "LLM alone", show: (row) => withInterval(row.llm_value, row.llm_low, row.llm_high) },
      { key: "rag", label: "RAG", show: (row) => withInterval(row.rag, row.rag_low, row.rag_high) },
      { key: "delta", label: "Gain Δ", show: (row) => withInterval(row.delta, row.delta_low, row.delta_high, 1, true) },
      ...Object.entries({ utility: "U %", exposure: "E %", attribution: "A %" }).map(([key, text]) => ({
        key,
        label: text,
        tip: `${FACTORS[key]}: the group's share of the sum`,
        show: (row) => number(row[key]),
      })),
    ],
  });
}

const rangeTip = (row) =>
  [
    whereText(row),
    valueText("range", row.value, row.low, row.high),
    `by chance ${number(row.expected)}; p ${chance(row.p)}, corrected ${chance(row.p_holm)}`,
    `smallest detectable ${number(row.detectable)}`,
    `${row.n} queries in ${row.n_groups} groups` + (row.n_empty ? `, ${row.n_empty} without a query` : ""),
  ].join("\n") + at(row.note);

function rangeView(id, measure, name, caption) {
  tableView({
    id,
    name,
    caption,
    drawn: "points",
    tip: rangeTip,
    rows: () => TABLES.ranges.filter((row) => row.measure === measure),
    extent: (rows) => rows.flatMap((row) => [row.value, row.low, row.high, row.expected, row.detectable]),
    draw: (row, on) =>
      strip(
        on,
        mark(on, row.detectable, "detectable"),
        bar(on, row.low, row.high, 11, hue(row.retriever)),
        mark(on, row.expected, "chance"),
        dot(on, row.value, 11, hue(row.retriever), !significant(row)),
      ),
    legend: () => [
      ...retrieverKeys(),
      ["chance line", "by chance alone"],
      ["detectable line", "smallest detectable"],
      ["alone ring", "ring: not more than chance"],
      ["alone", "dot: more than chance (5 %, corrected)"],
    ],
    columns: [
      { key: "where", label: "Category", text: true, get: whereText },
      {
        key: "value",
        label: "Range",
        tip: "Largest minus smallest of the groups' means, with its 95 % interval",
        show: (row) => withInterval(row.value, row.low, row.high),
      },
      {
        key: "expected",
        label: "By chance",
        tip: "Mean range when the groups' labels are shuffled over the queries",
        show: (row) => number(row.expected),
      },
      { key: "p", label: "p", tip: "Permutation test", show: (row) => chance(row.p) },
      {
        key: "p_holm",
        label: "p, corrected",
        tip: "By Holm's method, for all tests of the family",
        show: (row) => chance(row.p_holm),
      },
      {
        key: "detectable",
        label: "Detectable",
        tip: "The smallest true range that four of five such studies would find",
        show: (row) => number(row.detectable),
      },
      {
        key: "highest",
        label: "Highest",
        text: true,
        show: (row) => (row.highest ? groupLabel(row.highest) : UNDEFINED),
      },
      { key: "lowest", label: "Lowest", text: true, show: (row) => (row.lowest ? groupLabel(row.lowest) : UNDEFINED) },
      { key: "n", label: "n", tip: "Queries in the groups that are compared", show: (row) => String(row.n) },
    ],
  });
}

const PAIRED =
  "The answers of each query with and without documents are swapped, after the mean gain is taken off; it also finds answers that differ otherwise than in their ranges";
function gapView() {
  const paired = TABLES.gaps.some((row) => known(row.p_paired));
  tableView({
    id: "view-gaps",
    name: "Gap with and without documents",
    drawn: "points: LLM alone → with RAG",
    caption:
      "The range over the groups of a category with RAG (dot) beside that of the LLM alone (ring), with 95 % intervals; thin marks: what each comes to by chance.",
    rows: () => TABLES.gaps,
    tip: (row) =>
      [
        whereText(row),
        valueText("LLM alone", row.value_llm, row.low_llm, row.high_llm),
        valueText("with RAG", row.value_rag, row.low_rag, row.high_rag),
        valueText("change", row.change, row.change_low, row.change_high),
        paired ? `paired test: p ${chance(row.p_paired)}, corrected ${chance(row.p_paired_holm)}` : "",
      ].join("\n") + at(row.note),
    extent: (rows) =>
      rows.flatMap((row) => [row.value_llm, row.value_rag, row.low_llm, row.high_llm, row.low_rag, row.high_rag]),
    draw: (row, on) =>
      strip(
        on,
        mark(on, row.expected_llm, "chance thin"),
        mark(on, row.expected_rag, "chance thin"),
        bar(on, row.low_llm, row.high_llm, 8, "alone"),
        bar(on, row.low_rag, row.high_rag, 14, hue(row.retriever)),
        join(on, row.value_llm, row.value_rag, 11, hue(row.retriever)),
        dot(on, row.value_llm, 8, "alone", true),
        dot(on, row.value_rag, 14, hue(row.retriever)),
      ),
    legend: () => [["alone ring", "LLM alone"], ...retrieverKeys(), ["chance line", "by chance alone"]],
    columns: [
      { key: "where", label: "Category", text: true, get: whereText },
      { key: "value_llm", label: "LLM alone", show: (row) => withInterval(row.value_llm, row.low_llm, row.high_llm) },
      { key: "value_rag", label: "RAG", show: (row) => withInterval(row.value_rag, row.low_rag, row.high_rag) },
      {
        key: "change",
        label: "Change",
        tip: "More than 0: the gap is wider with documents",
        show: (row) => withInterval(row.change, row.change_low, row.change_high, 1, true),
      },
      ...(paired
        ? [
            { key: "p_paired", label: "p, paired", tip: PAIRED, show: (row) => chance(row.p_paired) },
            { key: "p_paired_holm", label: "corrected", show: (row) => chance(row.p_paired_holm) },
          ]
        : []),
      { key: "n", label: "n", show: (row) => String(row.n) },
    ],
  });
}
