// Text and data out of a node or the page, bounded, secrets left out.

import { anchorHref, attr, bodyOf, collectionItem, collectionLength, formElements, formMethodOf, formActionOf, isConnected, isHtml, matches, queryAll } from "./dom.js";
import { identityOf } from "./facts.js";
import { nodeOf } from "./keys.js";
import { isHead, lineOf, readingOf, rowsOf } from "./reading.js";
import { inSecret, isSecret, watchSecrets, withheld } from "./secrets.js";
import { cut, scrub, tidy } from "./text.js";

const TABLE = "table:not([role=none i],[role=presentation i]),[role=table i],[role=grid i],[role=treegrid i]";

/** {text, truncated, secret, items, total_items}, or {gone}. */
export function read(request) {
  watchSecrets(document);
  const el = request.n > 0 ? nodeOf(request.n) : bodyOf(document);
  if (el === null || !isConnected(el)) return request.n > 0 ? { gone: true } : {};
  if (isSecret(el) || inSecret(el)) return { secret: true };
  switch (request.kind) {
    case "links":
      return rows(queryAll(el, "a[href]"), request, (link) => ({ text: lineOf(link).slice(0, 300), href: scrub(anchorHref(link)) }));
    case "tables":
      return tables(el, request);
    case "forms":
      return rows(queryAll(el, "form"), request, form);
    default: {
      const { text: found, truncated } = readingOf(el, request.limit, request.kind === "markdown");
      return { text: cut(found, request.limit), truncated: truncated || found.length > request.limit };
    }
  }
}

function rows(found, request, row) {
  const items = [];
  for (let i = 0; i < Math.min(found.length, request.max_items); i += 1) items.push(row(found[i]));
  return { items, total_items: found.length, truncated: found.length > items.length };
}

function tables(el, request) {
  const found = matches(el, TABLE) ? [el] : [...queryAll(el, TABLE)];
  const items = [];
  let total = 0;
  for (const table of found) {
    const all = rowsOf(table);
    const heads = all.length > 0 && isHead(all[0]) ? all[0].map((cell) => lineOf(cell).slice(0, 200)) : [];
    for (const cells of heads.length > 0 ? all.slice(1) : all) {
      total += 1;
      if (items.length >= request.max_items) continue;
      const record = {};
      cells.forEach((cell, i) => {
        record[heads[i] || String(i + 1)] = lineOf(cell).slice(0, 500);
      });
      items.push(record);
    }
  }
  return { items, total_items: total, truncated: total > items.length };
}

function form(el) {
  const record = { action: scrub(formActionOf(el)), method: formMethodOf(el) };
  const controls = formElements(el);
  const names = [];
  for (let i = 0; i < Math.min(collectionLength(controls), 50); i += 1) {
    const control = collectionItem(controls, i);
    if (!isHtml(control)) continue;
    const id = identityOf(control);
    names.push(`${id.role} ${JSON.stringify(id.name)}${withheld(control) ? " (secret)" : ""}`);
  }
  record.name = tidy(attr(el, "aria-label") || attr(el, "name") || "").slice(0, 200);
  record.controls = names.join("; ").slice(0, 4000);
  return record;
}
