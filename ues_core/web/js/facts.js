// The facts of one node, as the contract's NodeFacts: fields that have their default are left out.

import {
  anchorHref, areaHref, attr, buttonForm, buttonType, closest, collectionItem, collectionLength, formActionOf, formMethodOf, hasAttr,
  inputForm, inputType, inputValue, isHtml, localName, matches, optionLabel, optionSelected, optionValue, selectForm, selectOptions,
  selectValue, selectedOptions, selectMultiple, textareaForm, textareaValue, innerText,
} from "./dom.js";
import { boxOnPage } from "./frames.js";
import { isInView, viewSize, visibleRect } from "./geometry.js";
import { keyOf } from "./keys.js";
import { contextOf } from "./groups.js";
import { descriptionOf, nameOf } from "./names.js";
import { isDisabled, isEditable, isEditingHost, isInteractive, roleOf } from "./roles.js";
import { withheld } from "./secrets.js";
import { popupOf, statesOf } from "./states.js";
import { brief, cut, NAME_LIMIT, scrub, tidy } from "./text.js";

const RAW_VALUE_LIMIT = 720;
const OPTIONS_LIMIT = 50;
/** What a group around it tells more about, in a form or not. */
const GROUPED = new Set(["radio", "checkbox", "switch", "option", "combobox", "listbox", "slider", "spinbutton"]);
const VALUELESS = new Set(["checkbox", "radio", "button", "submit", "reset", "image", "file", "hidden"]);

/** The ten identity facts; `rect` may be given when it was read already. */
export function identityOf(el, rect = visibleRect(el)) {
  const role = cut(roleOf(el), 60);
  const named = nameOf(el, role);
  const tag = cut(localName(el).toLowerCase(), 60);
  const editable = isEditable(el);
  return {
    role,
    name: named.name,
    tag,
    input_type: tag === "input" && isHtml(el) ? inputType(el) : tag === "button" && isHtml(el) ? buttonType(el) : "",
    interactive: isInteractive(el, role, editable),
    editable,
    disabled: isDisabled(el),
    visible: rect !== null,
    download: (tag === "a" || tag === "area") && hasAttr(el, "download"),
    href: hrefOf(el, tag),
    source: named.source,
  };
}

/** The identity as the compact JSON array that Identity.canonical() builds. */
export const canonical = (id) =>
  JSON.stringify([id.role, id.name, id.tag, id.input_type, id.interactive, id.editable, id.disabled, id.visible, id.download, id.href]);

function hrefOf(el, tag) {
  if (!isHtml(el) || !hasAttr(el, "href")) return "";
  if (tag === "a") return scrub(anchorHref(el));
  return tag === "area" ? scrub(areaHref(el)) : "";
}

/** All facts of a node. `where` says {page, frame, document, origin, offset}; `rect` its rectangle or null. */
export function factsOf(el, where, rect, options) {
  const id = identityOf(el, rect);
  const facts = { key: { page: where.page, frame: where.frame, document: where.document, n: keyOf(el) } };
  if (where.origin !== "") facts.frame_origin = where.origin;
  put(facts, "role", id.role);
  put(facts, "name", id.name);
  if (id.source !== "content") facts.name_source = id.source;
  put(facts, "tag", id.tag);
  put(facts, "input_type", id.input_type);
  put(facts, "interactive", id.interactive);
  put(facts, "editable", id.editable);
  put(facts, "disabled", id.disabled);
  if (!id.visible) facts.visible = false;
  put(facts, "in_viewport", rect !== null && isInView(el, rect, options.view ?? viewSize()));
  put(facts, "download", id.download);
  put(facts, "href", id.href);
  if (hasAttr(el, "aria-describedby") || hasAttr(el, "aria-description") || hasAttr(el, "title")) {
    put(facts, "description", descriptionOf(el, id.name));
  }
  putValue(facts, el, id);
  putAttributes(facts, el);
  const states = statesOf(el, id);
  if (states !== null) facts.states = states;
  if (id.tag === "select" && isHtml(el)) putOptions(facts, el);
  if (id.interactive) putForm(facts, el, id);
  if (options.boxes && rect !== null) {
    facts.box = boxOnPage(rect, where.offset);
  }
  return facts;
}

function put(facts, field, value) {
  if (value !== "" && value !== false && value !== null) facts[field] = value;
}

function putValue(facts, el, id) {
  const raw = rawValue(el, id);
  if (raw === undefined) return;
  if (raw === null) {
    facts.secret = true;
    return;
  }
  const tidied = tidy(raw.slice(0, RAW_VALUE_LIMIT));
  facts.value = cut(tidied, NAME_LIMIT);
  if (tidied.length > NAME_LIMIT || raw.length > RAW_VALUE_LIMIT) facts.value_truncated = true;
}

// Null for a secret (nothing was read), undefined for what has no value.
function rawValue(el, id) {
  const tag = id.tag;
  if (isHtml(el)) {
    if (tag === "input") {
      if (VALUELESS.has(id.input_type)) return undefined;
      return withheld(el) ? null : inputValue(el);
    }
    if (tag === "textarea") return withheld(el) ? null : textareaValue(el);
    if (tag === "select") return withheld(el) ? null : selectedText(el);
    if (isEditingHost(el)) return withheld(el) ? null : innerText(el);
  }
  const said = attr(el, "aria-valuetext") ?? attr(el, "aria-valuenow");
  if (said === null) return undefined;
  return withheld(el) ? null : said;
}

function selectedText(el) {
  if (!selectMultiple(el)) return selectValue(el);
  const chosen = selectedOptions(el);
  const parts = [];
  for (let i = 0; i < Math.min(collectionLength(chosen), OPTIONS_LIMIT); i += 1) parts.push(optionValue(collectionItem(chosen, i)));
  return parts.join(", ");
}

function putAttributes(facts, el) {
  const hint = attr(el, "placeholder") ?? attr(el, "aria-placeholder");
  if (hint !== null) put(facts, "placeholder", brief(hint, NAME_LIMIT));
  const complete = attr(el, "autocomplete");
  if (complete !== null) put(facts, "autocomplete", brief(complete, 120));
  put(facts, "popup", popupOf(el));
  const keys = attr(el, "aria-keyshortcuts") ?? attr(el, "accesskey");
  if (keys !== null) put(facts, "keyshortcuts", brief(keys, 100));
  const test = attr(el, "data-testid") ?? attr(el, "data-test-id") ?? attr(el, "data-test");
  if (test !== null) put(facts, "test_id", brief(test, NAME_LIMIT));
  const id = attr(el, "id");
  if (id !== null) put(facts, "dom_id", brief(id, NAME_LIMIT));
}

function putOptions(facts, el) {
  const all = selectOptions(el);
  const count = collectionLength(all);
  facts.options_total = count;
  if (withheld(el)) return;
  const out = [];
  for (let i = 0; i < Math.min(count, OPTIONS_LIMIT); i += 1) {
    const option = collectionItem(all, i);
    const row = {};
    put(row, "label", brief(optionLabel(option), NAME_LIMIT));
    put(row, "value", cut(optionValue(option).toWellFormed(), 400));
    put(row, "selected", optionSelected(option));
    put(row, "disabled", matches(option, ":disabled"));
    out.push(row);
  }
  facts.options = out;
}

/** The form that owns a control, or null. */
export function formOf(el) {
  if (!isHtml(el)) return null;
  switch (localName(el)) {
    case "input":
      return inputForm(el);
    case "button":
      return buttonForm(el);
    case "select":
      return selectForm(el);
    case "textarea":
      return textareaForm(el);
    default:
      return closest(el, "form");
  }
}

function putForm(facts, el, id) {
  const form = formOf(el);
  if (form !== null) {
    put(facts, "form_action", scrub(formActionOf(form)));
    put(facts, "form_method", formMethodOf(form));
    const sends = id.tag === "button" ? buttonType(el) === "submit" : id.input_type === "submit" || id.input_type === "image";
    put(facts, "submits", sends && !id.editable);
  }
  put(facts, "group", contextOf(el, form !== null || id.editable || GROUPED.has(id.role)));
}
