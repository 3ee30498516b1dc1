// Finding nodes by role and text among thousands: only what can have the text is named.

import {
  attr, firstElementChild, hasAttr, inputType, inputValue, isHtml, localName, queryElement, queryFirst,
  shadowRootOf, textareaValue, textContent,
} from "./dom.js";
import { contentName, isContent } from "./candidates.js";
import { mayHavePseudo } from "./css_text.js";
import { factsOf, identityOf } from "./facts.js";
import { labelsOf } from "./labels.js";
import { roleOf } from "./roles.js";
import { withheld } from "./secrets.js";
import { bounded, folded } from "./text.js";

const SAID = ["aria-label", "title", "placeholder", "aria-placeholder", "alt", "aria-description", "aria-valuetext", "aria-valuenow", "label"];
// What may say something else than the characters in it.
const TELLING =
  "[aria-label],[aria-labelledby],[aria-owns],[aria-valuetext],[aria-valuenow],[alt],[title],[label],input,textarea,select,slot,meter,progress";
const LABELLED = new Set(["input", "textarea", "select", "button"]);
const VALUE_READ = 1000; // More than is shown of any.
const NOWHERE = { page: "", frame: "", document: "", origin: "", offset: null };
const PARTS_ASKED = 40;
// eslint-disable-next-line no-control-regex
const SPACES = /[\s\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]+/g;

// Letters alone: neither space nor case can then hide a match, whatever the page's style makes of them.
const bare = (text) => text.replace(SPACES, "").toUpperCase();

/** A test of (element, rectangle) for what is sought. */
export function seeker(find, request) {
  const wanted = folded(find.text);
  const letters = bare(wanted);
  return (el, rect) => {
    if (find.role !== "" && roleOf(el) !== find.role) return false;
    return wanted === "" || (mayTell(el, letters) && tells(el, rect, wanted, request));
  };
}

function tells(el, rect, wanted, request) {
  const id = identityOf(el, rect);
  if (folded(id.name).includes(wanted)) return true;
  if (request.detail === "content" && id.name === "" && isContent(el, id.role, id.interactive)) {
    if (folded(contentName(el, id.role)).includes(wanted)) return true;
  }
  const facts = factsOf(el, NOWHERE, rect, { boxes: false, view: request.view });
  return folded(facts.value ?? "").includes(wanted) || folded(facts.description ?? "").includes(wanted);
}

// Whether the text may be in the name, the description or the value: cheap, and never wrongly no.
function mayTell(el, letters) {
  const tag = localName(el);
  if (shadowRootOf(el) !== null || tag === "slot") return true;
  if (hasAttr(el, "aria-labelledby") || hasAttr(el, "aria-describedby") || hasAttr(el, "aria-owns")) return true;
  for (const name of SAID) {
    const said = attr(el, name);
    if (said !== null && bare(bounded(said)).includes(letters)) return true;
  }
  if (bare(textContent(el)).includes(letters)) return true;
  if (LABELLED.has(tag) && isHtml(el) && labelsMayTell(labelsOf(el), letters)) return true;
  if (tag === "select" || tag === "textarea" || tag === "input") return fieldMayTell(el, tag, letters);
  return firstElementChild(el) === null ? mayHavePseudo(el) : partsMayTell(el);
}

function fieldMayTell(el, tag, letters) {
  if (!isHtml(el) || tag === "select") return true;
  const type = tag === "input" ? inputType(el) : "";
  if (type === "submit" || type === "reset" || type === "button" || type === "image") return true;
  return !withheld(el) && bare((tag === "input" ? inputValue(el) : textareaValue(el)).slice(0, VALUE_READ)).includes(letters);
}

function labelsMayTell(labels, letters) {
  for (const label of labels) {
    if (bare(textContent(label)).includes(letters) || mayHavePseudo(label) || partsMayTell(label)) return true;
  }
  return false;
}

function partsMayTell(el) {
  if (mayHavePseudo(el) || queryFirst(el, TELLING) !== null) return true;
  let asked = 0;
  for (const part of queryElement(el, "*")) {
    if ((asked += 1) > PARTS_ASKED || shadowRootOf(part) !== null || mayHavePseudo(part)) return true;
  }
  return false;
}
