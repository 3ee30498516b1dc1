// ARIA states and properties of a node, from its attributes and from what HTML knows by itself. Null is a state that it does not have.

import {
  attr, byId, closest, closestComposed, composedParent, deepActive, dialogOpen, hasAttr, inputChecked, inputForm, inputIndeterminate, inputType, inputValue,
  isHtml, matches, checkVisibility, optionSelected, progressPosition, queryAll, rootNode, selectMultiple,
} from "./dom.js";
import { internalsOf } from "./internals.js";
import { perRun } from "./run.js";
import { withheld } from "./secrets.js";
import { brief, NAME_LIMIT } from "./text.js";

const CHECKABLE = new Set(["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio", "option", "treeitem"]);
const ALWAYS_CHECKABLE = new Set(["checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio"]);
const NEVER_MIXED = new Set(["radio", "switch", "menuitemradio"]);
const POPUPS = new Set(["menu", "listbox", "tree", "grid", "dialog"]);
const LEVELLED = new Set(["treeitem", "listitem", "row", "comment"]);
const RANGES = new Set(["slider", "spinbutton", "progressbar", "meter", "scrollbar", "separator"]);
const FROM_ZERO_TO_HUNDRED = new Set(["slider", "scrollbar"]);

/** The states of a node as the contract's NodeStates, or null when it has none. `id` is its identity. */
export function statesOf(el, id) {
  const states = {};
  const { role } = id;
  const tag = isHtml(el) ? id.tag : "";
  if (CHECKABLE.has(role)) set(states, "checked", checkedOf(el, tag, role));
  if (role === "button") set(states, "pressed", tristate(attr(el, "aria-pressed")));
  set(states, "selected", tag === "option" ? optionSelected(el) : flag(attr(el, "aria-selected")));
  set(states, "expanded", expandedOf(el, tag));
  putEditing(states, el, tag);
  set(states, "busy", flag(attr(el, "aria-busy")));
  set(states, "modal", tag === "dialog" && dialogOpen(el) && matches(el, ":modal") ? true : flag(attr(el, "aria-modal")));
  set(states, "multiselectable", tag === "select" && selectMultiple(el) ? true : flag(attr(el, "aria-multiselectable")));
  const current = attr(el, "aria-current");
  if (isSaid(current)) states.current = brief(current.trim().toLowerCase(), 40);
  set(states, "level", levelOf(el, tag, role));
  putPlace(states, el, role, tag);
  putRange(states, el, id, tag);
  if (tag.includes("-")) putInternals(states, el);
  if (deepActive() === el) states.focused = true;
  for (const _ in states) return states;
  return null;
}

// What attributes say comes first; internals say the rest.
function putInternals(states, el) {
  const facts = internalsOf(el);
  if (facts === null) return;
  for (const name of ["checked", "pressed"]) if (facts[name] !== undefined && !hasAttr(el, `aria-${name}`)) states[name] = tristate(facts[name]);
  for (const name of ["selected", "expanded"]) if (facts[name] !== undefined && !hasAttr(el, `aria-${name}`)) states[name] = facts[name];
}

/** The kind of thing that opens when it is used: aria-haspopup, by its valid words. */
export function popupOf(el) {
  const said = attr(el, "aria-haspopup");
  if (said === null) return "";
  const word = said.trim().toLowerCase();
  return word === "true" ? "menu" : POPUPS.has(word) ? word : "";
}

function set(states, field, value) {
  if (value !== null && value !== undefined) states[field] = value;
}

const isSaid = (text) => text !== null && text.trim() !== "" && text.trim().toLowerCase() !== "false";

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

// What HTML knows wins over what an attribute says.
function checkedOf(el, tag, role) {
  if (tag === "input") {
    const type = inputType(el);
    if (type === "checkbox" || type === "radio") return inputIndeterminate(el) ? "mixed" : String(inputChecked(el));
  }
  const given = tristate(attr(el, "aria-checked"));
  if (given === "mixed" && NEVER_MIXED.has(role)) return "false";
  return given ?? (ALWAYS_CHECKABLE.has(role) ? "false" : null);
}

function expandedOf(el, tag) {
  const given = flag(attr(el, "aria-expanded"));
  if (given !== null) return given;
  if (tag === "details") return hasAttr(el, "open");
  if (tag === "summary") {
    const details = closest(el, "details");
    return details === null ? null : hasAttr(details, "open");
  }
  if ((tag === "button" || tag === "input") && hasAttr(el, "popovertarget")) {
    const target = byId(el, attr(el, "popovertarget"));
    return target === null || !hasAttr(target, "popover") ? null : matches(target, ":popover-open");
  }
  return null;
}

const UNEDITED = new Set(["button", "submit", "reset", "image", "hidden", "checkbox", "radio", "file", "range", "color"]);

function putEditing(states, el, tag) {
  const isField = tag === "input" || tag === "textarea";
  if (isField && hasAttr(el, "readonly") && !(tag === "input" && UNEDITED.has(inputType(el)))) states.readonly = true;
  else set(states, "readonly", flag(attr(el, "aria-readonly")));
  if ((isField || tag === "select") && matches(el, ":required")) states.required = true;
  else set(states, "required", flag(attr(el, "aria-required")));
  if (isSaid(attr(el, "aria-invalid")) || ((isField || tag === "select") && matches(el, ":user-invalid"))) states.invalid = true;
}

function levelOf(el, tag, role) {
  const given = whole(attr(el, "aria-level"));
  if (given !== null && given > 0 && (role === "heading" || LEVELLED.has(role))) return given;
  if (role === "heading") return /^h[1-6]$/.test(tag) ? Number(tag[1]) : 2;
  return role === "treeitem" ? depthOf(el) : null;
}

// Groups between an item and its tree are its level.
function depthOf(el) {
  let level = 1;
  for (let up = closestComposed(el, TREE_PARTS); up !== null && !matches(up, "[role=tree i], [role=treegrid i]"); ) {
    level += 1;
    const parent = composedParent(up);
    up = parent === null ? null : closestComposed(parent, TREE_PARTS);
  }
  return level;
}

const TREE_PARTS = "[role=group i], [role=tree i], [role=treegrid i]";

// -- place in a set --------------------------------------------------------------------------------------------------

const SETS = {
  tab: ["[role=tab i]", "[role=tablist i]"],
  option: ["[role=option i]", "[role=listbox i]"],
  menuitem: ["[role=menuitem i],[role=menuitemcheckbox i],[role=menuitemradio i]", "[role=menu i],[role=menubar i]"],
  treeitem: ["[role=treeitem i]", TREE_PARTS],
  radio: ["[role=radio i],input[type=radio i]", "[role=radiogroup i]"],
};
SETS.menuitemcheckbox = SETS.menuitem;
SETS.menuitemradio = SETS.menuitem;
const SET_LIMIT = 2000;

const places = perRun(() => ({ containers: new Map(), names: new Map() }));

function putPlace(states, el, role, tag) {
  const position = whole(attr(el, "aria-posinset"));
  const size = whole(attr(el, "aria-setsize"));
  const place = position !== null && size !== null ? null : placeOf(el, role, tag);
  set(states, "position_in_set", position ?? place?.position);
  set(states, "set_size", size ?? place?.size);
}

function placeOf(el, role, tag) {
  const kind = SETS[role];
  if (kind === undefined) return null;
  const members = tag === "input" ? radiosWith(el) : membersWith(el, kind);
  return members === null ? null : { position: members.get(el), size: members.size };
}

function radiosWith(el) {
  const name = attr(el, "name");
  if (name === null || name === "") return null;
  const owner = inputForm(el) ?? rootNode(el);
  const { names } = places();
  const ofOwner = names.get(owner) ?? new Map();
  names.set(owner, ofOwner);
  let members = ofOwner.get(name);
  if (members === undefined) {
    const form = inputForm(el);
    const same = (other) => attr(other, "name") === name && inputForm(other) === form;
    members = numbered([...queryAll(rootNode(el), "input[type=radio i]")].filter(same));
    ofOwner.set(name, members);
  }
  return members;
}

function membersWith(el, [selector, around]) {
  const container = closestComposed(el, around);
  if (container === null || container === el) return null;
  const { containers } = places();
  let members = containers.get(container);
  if (members === undefined) {
    const found = queryAll(container, selector);
    members = found.length > SET_LIMIT ? null : numbered([...found].filter((one) => closest(one, around) === container && checkVisibility(one)));
    containers.set(container, members);
  }
  return members === null || !members.has(el) ? null : members;
}

const numbered = (elements) => new Map(elements.map((one, i) => [one, i + 1]));

// -- values within a range -------------------------------------------------------------------------------------------

function putRange(states, el, id, tag) {
  if (!(RANGES.has(id.role) || tag === "progress" || tag === "meter") || withheld(el)) return;
  const text = attr(el, "aria-valuetext");
  if (text !== null && RANGES.has(id.role)) states.value_text = brief(text, NAME_LIMIT);
  if (tag === "input" && (id.input_type === "range" || id.input_type === "number")) {
    const slides = id.input_type === "range";
    set(states, "value_min", real(attr(el, "min")) ?? (slides ? 0 : null));
    set(states, "value_max", real(attr(el, "max")) ?? (slides ? 100 : null));
    set(states, "value_now", real(inputValue(el)));
  } else if (tag === "progress") {
    if (progressPosition(el) < 0) return;
    set(states, "value_now", real(attr(el, "value")));
    set(states, "value_max", real(attr(el, "max")) ?? 1);
  } else if (tag === "meter") {
    set(states, "value_min", real(attr(el, "min")) ?? 0);
    set(states, "value_max", real(attr(el, "max")) ?? 1);
    set(states, "value_now", real(attr(el, "value")) ?? 0);
  } else if (RANGES.has(id.role)) {
    const now = real(attr(el, "aria-valuenow"));
    if (now === null && text === null) return;
    const scaled = FROM_ZERO_TO_HUNDRED.has(id.role);
    set(states, "value_now", now);
    set(states, "value_min", real(attr(el, "aria-valuemin")) ?? (scaled ? 0 : null));
    set(states, "value_max", real(attr(el, "aria-valuemax")) ?? (scaled ? 100 : null));
  }
}
