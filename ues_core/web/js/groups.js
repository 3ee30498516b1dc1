// The context in which a name is meant: the legend or the named group around a control, the headers of the cell it stands in.

import { attr, cellSpan, closest, composedParent, firstElementChild, hasAttr, isHtml, localName, nextElement, nodeType, queryElement, referred, ELEMENT } from "./dom.js";
import { nameOf, groupOf } from "./names.js";
import { perRun } from "./run.js";
import { cut, NAME_LIMIT } from "./text.js";

const CELLS = "td, th, [role=cell i], [role=gridcell i], [role=rowheader i]";
const ROWS = "tr, [role=row i]";
const TABLES = "table, [role=table i], [role=grid i], [role=treegrid i]";
const COLUMNS_READ = 200;

const headers = perRun(() => ({ headed: new Map(), rows: new Map(), tables: new Map() }));

/** What a control's name is to be understood with, outermost first; empty when nothing is around it. `grouped`: groups count. */
export function contextOf(el, grouped) {
  const group = grouped ? groupOf(el) : "";
  const cell = closest(el, CELLS);
  if (cell === null || cell === el) return group;
  const parts = [group, ...headersOf(cell)].filter((part) => part !== "");
  return cut(parts.join(", "), NAME_LIMIT);
}

function headersOf(cell) {
  if (hasAttr(cell, "headers")) {
    const named = referred(cell, "headers").map(textOf).filter((text) => text !== "");
    if (named.length > 0) return named;
  }
  const table = closest(cell, TABLES);
  if (table === null || !hasHeaders(table)) return [];
  const row = closest(cell, ROWS);
  return row === null ? [] : [rowHeader(row, cell), columnHeader(table, row, cell)];
}

function hasHeaders(table) {
  const { headed } = headers();
  let has = headed.get(table);
  if (has === undefined) {
    has = queryElement(table, "th, [role=rowheader i], [role=columnheader i]").length > 0;
    headed.set(table, has);
  }
  return has;
}

const textOf = (header) => nameOf(header, "columnheader").name;

function rowHeader(row, cell) {
  const { rows } = headers();
  let header = rows.get(row);
  if (header === undefined) {
    header = { el: null, text: "" };
    for (const one of cellsOf(row)) {
      if (!isHeader(one, "row")) continue;
      header = { el: one, text: textOf(one) };
      break;
    }
    rows.set(row, header);
  }
  return header.el === cell ? "" : header.text;
}

// Of a row that has no other cell than headers, or that says so: the last one before the cells that are no headers.
function columnHeader(table, row, cell) {
  const { tables } = headers();
  let columns = tables.get(table);
  if (columns === undefined) {
    const found = headerRow(table);
    columns = { row: found, texts: found === null ? [] : textsOf(found) };
    tables.set(table, columns);
  }
  return columns.row === row ? "" : columns.texts[columnOf(row, cell)] ?? "";
}

function headerRow(table) {
  let found = null;
  for (const row of rowsOf(table)) {
    const cells = cellsOf(row);
    if (!cells.some((one) => isHeader(one, "column")) || cells.some((one) => isHeader(one, "row"))) break;
    found = row;
  }
  return found;
}

function* rowsOf(table) {
  for (let part = firstElementChild(table); part !== null; part = nextElement(part)) {
    if (isRow(part)) yield part;
    else for (let row = firstElementChild(part); row !== null; row = nextElement(row)) if (isRow(row)) yield row;
  }
}

const roleWord = (el) => (attr(el, "role") || "").trim().toLowerCase();

const isRow = (el) => (localName(el) === "tr" && isHtml(el)) || roleWord(el) === "row";

function cellsOf(row) {
  const cells = [];
  for (let cell = firstElementChild(row); cell !== null && cells.length < COLUMNS_READ; cell = nextElement(cell)) {
    if (localName(cell) === "td" || localName(cell) === "th" || /^(?:cell|gridcell|columnheader|rowheader)$/.test(roleWord(cell))) cells.push(cell);
  }
  return cells;
}

function isHeader(cell, of) {
  const word = roleWord(cell);
  if (word !== "") return word === `${of}header`;
  if (localName(cell) !== "th") return false;
  const scope = (attr(cell, "scope") || "").trim().toLowerCase();
  if (scope === "row" || scope === "rowgroup") return of === "row";
  if (scope === "col" || scope === "colgroup") return of === "column";
  const across = closest(cell, "thead") !== null || !hasPlainCell(composedParent(cell));
  return of === (across ? "column" : "row");
}

function hasPlainCell(row) {
  if (row === null || nodeType(row) !== ELEMENT) return false;
  for (let cell = firstElementChild(row); cell !== null; cell = nextElement(cell)) if (localName(cell) === "td") return true;
  return false;
}

function textsOf(row) {
  const texts = [];
  for (const cell of cellsOf(row)) {
    const text = textOf(cell);
    for (let i = 0; i < spanOf(cell) && texts.length < COLUMNS_READ; i += 1) texts.push(text);
  }
  return texts;
}

function columnOf(row, cell) {
  let column = 0;
  for (const one of cellsOf(row)) {
    if (one === cell) return column;
    column += spanOf(one);
  }
  return -1;
}

const spanOf = (cell) => ((localName(cell) === "td" || localName(cell) === "th") && isHtml(cell) ? cellSpan(cell) : 1);
