// One query in full.
const HALF = { article: ["title", "text"], title: ["text", "title"] };
const showScore = (answer) => (answer ? number(known(answer[1]) ? answer[1] * 100 : null) : UNDEFINED);
const quoted = (text) => el("bdi", { class: "quoted" }, text);

function localPick(kind, picked) {
  const pick = el(
    "select",
    {
      id: `query-${kind}`,
      disabled: chosen[kind] !== "",
      onchange: (event) => {
        query[kind] = event.target.value;
        drawLookup();
      },
    },
    ...places(kind).map((name) => el("option", { value: name, selected: name === picked }, label(kind, name))),
  );
  return el("label", { class: "local" }, el("span", {}, HEADS[kind]), pick);
}
function promptText(record, parts) {
  return parts.map((part) => (typeof part === "string" ? part : record.documents[part[0]][part[1]])).join("");
}
function promptDetails(record, task, place, name, answer) {
  const parts = task.prompts[place];
  if (!parts) return "";
  const cut = answer && answer[3] ? ` ${answer[3]} tokens of it were cut so that it fits; it is shown whole.` : "";
  const tokens = answer ? ` ${answer[2]} tokens.` : "";
  return el(
    "details",
    {},
    el("summary", {}, `Prompt: ${name}`),
    el("p", {}, tokens + cut),
    el("pre", { dir: "auto" }, promptText(record, parts)),
  );
}
function answerLine(name, answer) {
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, name),
    el("td", { class: "words" }, answer ? quoted(answer[0]) : UNDEFINED),
    el("td", {}, showScore(answer)),
    el("td", {}, answer ? String(answer[4]) : UNDEFINED),
    el("td", { class: "words" }, answer ? answer[5] : UNDEFINED),
  );
}
function answersTable(task, llm) {
  const answers = task.answers[llm] || {};
  const lines = places("retriever").map((name) => answerLine(label("retriever", name), answers[`rag ${name}`]));
  return el(
    "div",
    { class: "scroll" },
    el(
      "table",
      {},
      el("caption", {}, `Answers of ${label("llm", llm)}`),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          ...["With documents of", "Answer", "ROUGE-L × 100", "Tokens", "Ended by"].map((text) =>
            el("th", { scope: "col", class: "name" }, text),
          ),
        ),
      ),
      el("tbody", {}, answerLine("none (LLM alone)", answers.llm), ...lines),
    ),
  );
}
const groupsText = (groups) =>
  places("category")
    .filter((name) => groups[name] && (!chosen.category || chosen.category === name))
    .map((name) => `${STUDY.labels.categories[name].short}: ${groupLabel(groups[name])}`)
    .join("; ") || UNDEFINED;

function documentLine(record, task, llm, doc, [rank, utility, attribution]) {
  const entry = record.documents[doc],
    answer = (task.answers[llm] || {})[`doc ${doc}`];
  const supports = known(attribution) ? (attribution ? "yes" : "no") : UNDEFINED;
  return el(
    "tr",
    {},
    el("td", {}, String(rank)),
    el(
      "th",
      { scope: "row" },
      el(
        "details",
        {},
        el("summary", {}, quoted(entry.title)),
        el("p", { class: "text", dir: "auto" }, entry.text),
        el("small", {}, `doc_id ${doc}`),
      ),
    ),
    el("td", { class: "words" }, groupsText(entry.groups)),
    el("td", {}, number(known(utility) ? utility * 100 : null)),
    el("td", {}, supports),
    el("td", { class: "words" }, answer ? quoted(answer[0]) : UNDEFINED),
    el("td", {}, showScore(answer)),
  );
}
function foundBy(task, llm, retriever) {
  return (task.factors[llm] || {})[retriever] || {};
}
function documentsTable(record, task, llm, retriever) {
  const found = Object.entries(foundBy(task, llm, retriever)).sort(([, a], [, b]) => a[0] - b[0]);
  if (!found.length)
    return el("p", { class: "none" }, `${label("retriever", retriever)} found no document: the LLM answered alone.`);
  const heads = [
    "Rank",
    "Document",
    "Groups",
    "Utility × 100",
    "Supports the answer",
    "Answer with it alone",
    "ROUGE-L × 100",
  ];
  return el(
    "div",
    { class: "scroll" },
    el(
      "table",
      { class: "documents" },
      el("caption", {}, `Documents of ${label("retriever", retriever)}, as given to the LLM`),
      el("thead", {}, el("tr", {}, ...heads.map((text) => el("th", { scope: "col", class: "name" }, text)))),
      el("tbody", {}, ...found.map(([doc, values]) => documentLine(record, task, llm, doc, values))),
    ),
  );
}
function showRecord(row, record) {
  const name = pickedTask(),
    llm = pickedLlm(),
    retriever = pickedRetriever(),
    task = record.tasks[name];
  const own = record.documents[record.query],
    [asked, wanted] = HALF[name];
  const host = byId("query-detail");
  if (!task) return host.replaceChildren(el("p", { class: "none" }, "This query has no such task."));
  const answers = task.answers[llm] || {},
    found = foundBy(task, llm, retriever),
    together = `with the documents of ${label("retriever", retriever)}`;
  host.replaceChildren(
    el("h3", {}, el("bdi", {}, row.title)),
    el("p", { class: "tools" }, localPick("task", name), localPick("llm", llm), localPick("retriever", retriever)),
    el("p", {}, el("small", {}, `query_id ${record.query}; ${groupsText(own.groups)}`)),
    el(
      "dl",
      {},
      el("dt", {}, "Query"),
      el("dd", {}, quoted(own[asked])),
      el("dt", {}, "Reference"),
      el("dd", {}, quoted(own[wanted])),
    ),
    answersTable(task, llm),
    documentsTable(record, task, llm, retriever),
    promptDetails(record, task, "llm", "the LLM alone", answers.llm),
    ...(Object.keys(found).length
      ? [promptDetails(record, task, `rag ${retriever}`, together, answers[`rag ${retriever}`])]
      : []),
    ...Object.keys(task.prompts)
      .filter((place) => place.startsWith("doc ") && place.slice(4) in found)
      .map((place) =>
        promptDetails(record, task, place, `with "${record.documents[place.slice(4)].title}" alone`, answers[place]),
      ),
  );
}
