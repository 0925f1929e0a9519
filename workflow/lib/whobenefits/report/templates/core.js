// Elements, numbers and rows. Text enters the page only as text: nothing here sets HTML.
"use strict";
const SVG = "http://www.w3.org/2000/svg";
const UNDEFINED = "–";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== "") node.append(child);
  }
  return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
const byId = (id) => document.getElementById(id);
const known = (value) => value !== null && value !== undefined;

function number(value, digits = 1, sign = false) {
  if (!known(value)) return UNDEFINED;
  let text = Math.abs(value).toFixed(digits);
  const zero = Number(text) === 0;
  if (value < 0 && !zero) text = "\u2212" + text;
  return sign && value > 0 && !zero ? "+" + text : text;
}
const interval = (low, high, digits = 1) =>
  known(low) && known(high) ? `${number(low, digits)} to ${number(high, digits)}` : UNDEFINED;
const withInterval = (value, low, high, digits = 1, sign = false) =>
  number(value, digits, sign) + (known(low) && known(high) ? ` [${number(low, digits)}, ${number(high, digits)}]` : "");
function chance(p) {
  if (!known(p)) return UNDEFINED;
  return p < 0.001 ? "<0.001" : p.toFixed(3);
}

const data = (id) => JSON.parse(byId(id).textContent);
const STUDY = data("study");
// A packed table: columns of values, of which some are numbers of names.
function unpacked(table) {
  const names = Object.keys(table.columns);
  const rows = [];
  for (let i = 0; i < table.length; i++) {
    const row = {};
    for (const name of names) {
      const value = table.columns[name][i];
      row[name] = table.names[name] && value !== null ? table.names[name][value] : value;
    }
    rows.push(row);
  }
  return rows;
}
const TABLES = Object.fromEntries(Object.entries(data("tables")).map(([name, table]) => [name, unpacked(table)]));

const KINDS = ["topic", "task", "llm", "retriever", "category"];
const PLURAL = { topic: "topics", task: "tasks", llm: "llms", retriever: "retrievers", category: "categories" };
const HEADS = { topic: "Topic", task: "Task", llm: "LLM", retriever: "Retriever", category: "Category" };
const FACTORS = { utility: "Utility", exposure: "Exposure", attribution: "Attribution" };
const OUTCOMES = { ac_rag: "accuracy with RAG", delta: "gain" };
function label(kind, name) {
  if (kind === "retriever" && name === "none") return "LLM alone";
  if (kind === "retriever" && name === "mean") return "mean of retrievers";
  if (kind === "category" && name === "all") return "All queries";
  const found = STUDY.labels[PLURAL[kind]][name];
  return found === undefined ? name : kind === "category" ? found.label : found;
}
// A name where room is short: "Article" for "Article generation".
const short = (kind, name) => (kind === "task" ? label(kind, name).replace(/ generation$/, "") : label(kind, name));
const groupLabel = (group) => STUDY.groups[group] || group;
const places = (kind) => Object.keys(STUDY.labels[PLURAL[kind]]);
const groupPlace = (row) => {
  const category = STUDY.labels.categories[row.category];
  return category ? category.groups.indexOf(row.group) : -1;
};
const gridOrder = (a, b) => {
  for (const kind of ["category"]) {
    const change = places(kind).indexOf(a[kind]) - places(kind).indexOf(b[kind]);
    if (change) return change;
  }
  const groups = groupPlace(a) - groupPlace(b);
  if (groups) return groups;
  for (const kind of ["topic", "task", "llm", "retriever"]) {
    const change = places(kind).indexOf(a[kind]) - places(kind).indexOf(b[kind]);
    if (change) return change;
  }
  return 0;
};
