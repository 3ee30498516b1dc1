// The facts of one node, as the contract's NodeFacts: fields that have their default are left out.

import {
  anchorHref, areaHref, attr, buttonForm, buttonType, closest, collectionItem, collectionLength, deepActive, dialogOpen,
  formActionOf, formMethodOf, hasAttr, inputChecked, inputForm, inputIndeterminate, inputType, inputValue, isHtml, localName, matches,
  optionLabel, optionSelected, optionValue, progressPosition, selectForm, selectOptions, selectValue, selectedOptions, selectMultiple,
  textareaForm, textareaValue, innerText,
} from "./dom.js";
import { meetsViewport, visibleRect } from "./geometry.js";
import { keyOf } from "./keys.js";
import { descriptionOf, groupOf, nameOf } from "./names.js";
import { isDisabled, isEditable, isEditingHost, isInteractive, roleOf } from "./roles.js";
import { inAriaHidden, isSecret } from "./secrets.js";
import { brief, cut, NAME_LIMIT, scrub, tidy } from "./text.js";

const RAW_VALUE_LIMIT = 720;
const OPTIONS_LIMIT = 50;
const VALUELESS = new Set(["checkbox", "radio", "button", "submit", "reset", "image", "file", "hidden"]);
const CHECKABLE = new Set(["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio", "option", "treeitem"]);

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
  put(facts, "in_viewport", rect !== null && meetsViewport(rect, options.view));
  put(facts, "download", id.download);
  put(facts, "href", id.href);
  if (hasAttr(el, "aria-describedby") || hasAttr(el, "aria-description") || hasAttr(el, "title")) {
    put(facts, "description", descriptionOf(el, id.name));
  }
  putValue(facts, el, id);
  putAttributes(facts, el);
  const states = statesOf(el, id);
  if (states !== null) facts.states = states;
  if (id.tag === "select") putOptions(facts, el);
  if (id.interactive) putForm(facts, el, id);
  if (options.boxes && rect !== null) {
    facts.box = {
      x: rect.left + where.offset.x, y: rect.top + where.offset.y, width: rect.width, height: rect.height,
    };
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

/** Whether a node's value is withheld: a secret, or meant for nobody. */
export const withheld = (el) => isSecret(el) || inAriaHidden(el);

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
  const popup = attr(el, "aria-haspopup");
  if (popup !== null && popup.toLowerCase() !== "false") put(facts, "popup", brief(popup.toLowerCase(), 40));
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
  if (id.role === "radio" || id.role === "checkbox" || form !== null) put(facts, "group", groupOf(el));
}

function statesOf(el, id) {
  const states = {};
  const { role, tag } = id;
  if (CHECKABLE.has(role)) set(states, "checked", checkedOf(el, tag));
  if (role === "button") set(states, "pressed", tristate(attr(el, "aria-pressed")));
  const selected = attr(el, "aria-selected");
  if (selected !== null) set(states, "selected", flag(selected));
  if (tag === "option" && isHtml(el)) states.selected = optionSelected(el);
  set(states, "expanded", expandedOf(el, tag));
  if (tag === "input" || tag === "textarea") {
    if (hasAttr(el, "readonly")) states.readonly = true;
    if (hasAttr(el, "required")) states.required = true;
  }
  if (tag === "select" && hasAttr(el, "required")) states.required = true;
  if (tag === "select" && selectMultiple(el)) states.multiselectable = true;
  set(states, "readonly", flag(attr(el, "aria-readonly")));
  set(states, "required", flag(attr(el, "aria-required")));
  set(states, "busy", flag(attr(el, "aria-busy")));
  set(states, "modal", tag === "dialog" && isHtml(el) && dialogOpen(el) && matches(el, ":modal") ? true : flag(attr(el, "aria-modal")));
  set(states, "multiselectable", flag(attr(el, "aria-multiselectable")));
  const invalid = attr(el, "aria-invalid");
  if (invalid !== null && invalid !== "" && invalid !== "false") states.invalid = true;
  const current = attr(el, "aria-current");
  if (current !== null && current !== "" && current !== "false") states.current = brief(current, 40);
  if (role === "heading") set(states, "level", levelOf(el, tag));
  else set(states, "level", whole(attr(el, "aria-level")));
  set(states, "position_in_set", whole(attr(el, "aria-posinset")));
  set(states, "set_size", whole(attr(el, "aria-setsize")));
  putRange(states, el, id);
  if (deepActive() === el) states.focused = true;
  for (const _ in states) return states;
  return null;
}

function set(states, field, value) {
  if (value !== null && value !== undefined) states[field] = value;
}

function flag(text) {
  if (text === null) return null;
  const word = text.trim().toLowerCase();
  return word === "true" ? true : word === "false" ? false : null;
}

function tristate(text) {
  if (text === null) return null;
  const word = text.trim().toLowerCase();
  return word === "true" || word === "false" || word === "mixed" ? word : null;
}

function whole(text) {
  if (text === null || !/^\s*-?\d{1,9}\s*$/.test(text)) return null;
  return Number.parseInt(text, 10);
}

function real(text) {
  if (text === null || text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

function checkedOf(el, tag) {
  if (tag === "input" && isHtml(el)) {
    const type = inputType(el);
    if (type === "checkbox" || type === "radio") return inputIndeterminate(el) ? "mixed" : String(inputChecked(el));
  }
  return tristate(attr(el, "aria-checked"));
}

function expandedOf(el, tag) {
  const said = flag(attr(el, "aria-expanded"));
  if (said !== null) return said;
  if (tag === "summary" && isHtml(el)) {
    const details = closest(el, "details");
    return details === null ? null : hasAttr(details, "open");
  }
  return null;
}

function levelOf(el, tag) {
  const said = whole(attr(el, "aria-level"));
  if (said !== null && said > 0) return said;
  return /^h[1-6]$/.test(tag) ? Number(tag[1]) : 2;
}

function putRange(states, el, id) {
  if (id.tag === "input" && (id.input_type === "range" || id.input_type === "number")) {
    set(states, "value_min", real(attr(el, "min")) ?? (id.input_type === "range" ? 0 : null));
    set(states, "value_max", real(attr(el, "max")) ?? (id.input_type === "range" ? 100 : null));
    if (!withheld(el)) set(states, "value_now", real(inputValue(el)));
    return;
  }
  if (id.tag === "progress" && isHtml(el) && progressPosition(el) >= 0) {
    set(states, "value_now", real(attr(el, "value")));
    set(states, "value_max", real(attr(el, "max")) ?? 1);
    return;
  }
  const now = attr(el, "aria-valuenow");
  const text = attr(el, "aria-valuetext");
  if (now === null && text === null) return;
  if (withheld(el)) return;
  set(states, "value_now", real(now));
  set(states, "value_min", real(attr(el, "aria-valuemin")));
  set(states, "value_max", real(attr(el, "aria-valuemax")));
  if (text !== null) states.value_text = brief(text, NAME_LIMIT);
}
