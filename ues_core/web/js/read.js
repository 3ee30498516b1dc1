// Text and data out of a node or the page, bounded, secrets left out.

import { anchorHref, attr, bodyOf, collectionItem, collectionLength, composedChildren, formElements, formMethodOf, formActionOf, isConnected, isHtml, localName, nodeType, parentNode, queryAll, rectsOf, textData, ELEMENT, TEXT } from "./dom.js";
import { identityOf } from "./facts.js";
import { nodeOf } from "./keys.js";
import { contentOf } from "./names.js";
import { inSecret, isSecret, watchSecrets, withheld } from "./secrets.js";
import { cut, scrub, tidy } from "./text.js";

const LINES = "p,li,h1,h2,h3,h4,h5,h6,tr,pre,blockquote,dt,dd,figcaption,caption,summary,legend";

/** {text, truncated, secret, items, total_items}, or {gone}. */
export function read(request) {
  watchSecrets(document);
  const el = request.n > 0 ? nodeOf(request.n) : bodyOf(document);
  if (el === null || !isConnected(el)) return request.n > 0 ? { gone: true } : {};
  if (isSecret(el) || inSecret(el)) return { secret: true };
  switch (request.kind) {
    case "links":
      return rows(queryAll(el, "a[href]"), request, (link) => ({ text: tidy(text(link)).slice(0, 300), href: scrub(anchorHref(link)) }));
    case "tables":
      return tables(el, request);
    case "forms":
      return rows(queryAll(el, "form"), request, form);
    default:
      return whole(el, request.limit);
  }
}

const text = (el) => contentOf(el, { seen: new Set([el]), left: 20000 });

function whole(el, limit) {
  const out = [];
  let size = 0;
  const add = (line) => {
    const tidied = tidy(line);
    if (tidied === "") return;
    out.push(tidied);
    size += tidied.length + 1;
  };
  lines(el, add, () => size <= limit);
  const all = out.join("\n");
  return { text: cut(all, limit), truncated: all.length > limit };
}

// Blocks become lines; inside a block the text is as its name would have it.
function lines(root, add, more) {
  const blocks = nodeType(root) === ELEMENT ? [...queryAll(root, LINES)] : [];
  if (blocks.length === 0) {
    add(contentOf(root, { seen: new Set([root]), left: 400000 }));
    return;
  }
  const stack = [root];
  const isBlock = new Set(blocks);
  const holds = new Set();
  for (const block of blocks) for (let up = parentNode(block); up !== null && !holds.has(up); up = parentNode(up)) holds.add(up);
  while (stack.length > 0 && more()) {
    const node = stack.pop();
    if (nodeType(node) !== ELEMENT) {
      add(textData(node));
      continue;
    }
    if (["script", "style", "noscript", "template"].includes(localName(node)) || isSecret(node)) continue;
    if (isBlock.has(node) || !holds.has(node)) {
      if (rectsOf(node).length > 0 || localName(node) === "tr") add(contentOf(node, { seen: new Set([node]), left: 400000 }));
      continue;
    }
    const children = composedChildren(node).filter((child) => nodeType(child) === ELEMENT || nodeType(child) === TEXT);
    for (let i = children.length - 1; i >= 0; i -= 1) stack.push(children[i]);
  }
}

function rows(found, request, row) {
  const items = [];
  for (let i = 0; i < Math.min(found.length, request.max_items); i += 1) items.push(row(found[i]));
  return { items, total_items: found.length, truncated: found.length > items.length };
}

function tables(el, request) {
  const found = localName(el) === "table" ? [el] : [...queryAll(el, "table")];
  const items = [];
  let total = 0;
  for (const table of found) {
    const all = [...queryAll(table, "tr")];
    const heads = all.length === 0 ? [] : [...queryAll(all[0], "th")].map((cell) => tidy(text(cell)).slice(0, 200));
    for (const row of heads.length > 0 ? all.slice(1) : all) {
      total += 1;
      if (items.length >= request.max_items) continue;
      const record = {};
      [...queryAll(row, "td,th")].forEach((cell, i) => {
        record[heads[i] || String(i + 1)] = tidy(text(cell)).slice(0, 500);
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
