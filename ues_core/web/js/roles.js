// Roles: the first valid token of the role attribute, else what HTML gives the element.

import {
  attr, closest, hasAttr, inputType, isContentEditable, isHtml, localName, matches, composedParent, selectMultiple, selectSize,
} from "./dom.js";

const ARIA_ROLES = new Set(
  ("alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox complementary " +
    "contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell group heading image img " +
    "insertion link list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter " +
    "navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup rowheader scrollbar search " +
    "searchbox separator slider spinbutton status strong subscript suggestion superscript switch tab table tablist tabpanel term textbox " +
    "time timer toolbar tooltip tree treegrid treeitem").split(" "),
);

/** Roles whose nodes are operated rather than read. */
export const WIDGETS = new Set(
  ("button checkbox combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio option radio scrollbar searchbox slider " +
    "spinbutton switch tab textbox treeitem").split(" "),
);

/** Roles that take their name from their content. */
export const NAMED_BY_CONTENT = new Set(
  ("button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row rowheader switch " +
    "tab tooltip treeitem").split(" "),
);

const NATIVE = {
  article: "article", aside: "complementary", blockquote: "blockquote", button: "button", caption: "caption", code: "code",
  datalist: "listbox", dd: "definition", del: "deletion", details: "group", dfn: "term", dialog: "dialog", dt: "term",
  em: "emphasis", fieldset: "group", figure: "figure", h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading",
  h6: "heading", hr: "separator", ins: "insertion", li: "listitem", main: "main", mark: "mark", math: "math", menu: "list",
  meter: "meter", nav: "navigation", ol: "list", optgroup: "group", option: "option", output: "status", p: "paragraph",
  progress: "progressbar", search: "search", strong: "strong", sub: "subscript", summary: "button", sup: "superscript",
  table: "table", tbody: "rowgroup", textarea: "textbox", tfoot: "rowgroup", thead: "rowgroup", time: "time", tr: "row", ul: "list",
  address: "group", hgroup: "group", svg: "img",
};

const INPUTS = {
  button: "button", submit: "button", reset: "button", image: "button", file: "button", checkbox: "checkbox", radio: "radio",
  range: "slider", number: "spinbutton", search: "searchbox",
};

const SECTIONING = "article, aside, main, nav, section, [role=article], [role=complementary], [role=main], [role=navigation], [role=region]";
const GLOBAL_ARIA =
  "[aria-atomic],[aria-busy],[aria-controls],[aria-current],[aria-describedby],[aria-details],[aria-dropeffect],[aria-flowto]," +
  "[aria-grabbed],[aria-label],[aria-labelledby],[aria-live],[aria-owns],[aria-relevant],[aria-roledescription]";

/** Whether an element is an editing host: typing into it changes it. */
export function isEditingHost(el) {
  const mode = attr(el, "contenteditable");
  if (mode === null) return false;
  const word = mode.trim().toLowerCase();
  return word === "" || word === "true" || word === "plaintext-only";
}

/** Whether the keyboard can reach it, or script may focus it. */
export function isFocusable(el) {
  if (hasAttr(el, "tabindex") && /^\s*-?\d+/.test(attr(el, "tabindex"))) return true;
  switch (localName(el)) {
    case "a":
    case "area":
      return hasAttr(el, "href");
    case "button":
    case "select":
    case "textarea":
      return !matches(el, ":disabled");
    case "input":
      return inputType(el) !== "hidden" && !matches(el, ":disabled");
    case "summary":
    case "iframe":
      return true;
    default:
      return isEditingHost(el);
  }
}

/** The role by the element's kind alone; empty when it has none. `named` says whether the author named it. */
export function nativeRole(el, named) {
  const tag = localName(el);
  if (!isHtml(el)) return tag === "svg" ? "img" : "";
  switch (tag) {
    case "a":
    case "area":
      return hasAttr(el, "href") ? "link" : "generic";
    case "input":
      return inputRole(el);
    case "select":
      return selectMultiple(el) || selectSize(el) > 1 ? "listbox" : "combobox";
    case "img":
      return attr(el, "alt") === "" && !named && !isFocusable(el) ? "none" : "img";
    case "header":
      return closest(el, SECTIONING) === null ? "banner" : "generic";
    case "footer":
      return closest(el, SECTIONING) === null ? "contentinfo" : "generic";
    case "section":
      return named ? "region" : "generic";
    case "form":
      return named ? "form" : "generic";
    case "td":
      return inGrid(el) ? "gridcell" : "cell";
    case "th":
      return headerRole(el);
    case "summary":
      return parentTag(el) === "details" ? "button" : "generic";
    default:
      if (isEditingHost(el) && !(tag in NATIVE && tag !== "p")) return "textbox";
      return NATIVE[tag] ?? (tag === "div" || tag === "span" ? "generic" : "");
  }
}

function inputRole(el) {
  const type = inputType(el);
  if (type === "hidden") return "";
  if (type === "checkbox" && hasAttr(el, "aria-pressed")) return "button";
  const listed = hasAttr(el, "list");
  if (listed && ["text", "search", "tel", "url", "email"].includes(type)) return "combobox";
  return INPUTS[type] ?? "textbox";
}

function parentTag(el) {
  const parent = composedParent(el);
  return parent === null ? "" : localName(parent);
}

function inGrid(el) {
  const table = closest(el, "table, [role=grid], [role=treegrid]");
  return table !== null && /^(?:grid|treegrid)$/i.test((attr(table, "role") || "").trim());
}

function headerRole(el) {
  const scope = (attr(el, "scope") || "").trim().toLowerCase();
  if (scope === "row" || scope === "rowgroup") return "rowheader";
  if (scope === "col" || scope === "colgroup") return "columnheader";
  return closest(el, "thead") !== null || matches(el, "tr:has(> td) > th") === false ? "columnheader" : "rowheader";
}

/** The role of an element, `none` for one that says it is only presentation; empty when it has no role at all. */
export function roleOf(el) {
  const given = attr(el, "role");
  const named = hasAttr(el, "aria-label") || hasAttr(el, "aria-labelledby") || hasAttr(el, "title");
  if (given !== null && given !== "") {
    for (const token of given.toLowerCase().split(/\s+/)) {
      if (!ARIA_ROLES.has(token)) continue;
      if (token === "none" || token === "presentation") {
        // A node that can be focused, or carries a global property, is not presentation whatever it says.
        if (isFocusable(el) || matches(el, GLOBAL_ARIA)) break;
        return "none";
      }
      return token === "image" ? "img" : token;
    }
  }
  return nativeRole(el, named);
}

/** Whether typing into the node changes it: a text field that is neither read-only nor disabled, or an editing host. */
export function isEditable(el) {
  const tag = localName(el);
  if (!isHtml(el)) return false;
  if (tag === "textarea") return matches(el, ":enabled:read-write");
  if (tag === "input") {
    if (matches(el, ":disabled") || hasAttr(el, "readonly")) return false;
    return !["button", "submit", "reset", "image", "checkbox", "radio", "file", "hidden"].includes(inputType(el));
  }
  return el instanceof HTMLElement && isContentEditable(el) && isEditingHost(el);
}

/** Whether it says, or HTML says, that it cannot be used. */
export function isDisabled(el) {
  if (matches(el, ":disabled")) return true;
  return closest(el, "[aria-disabled=true i], [inert]") !== null;
}

/** Whether it is there to be operated. */
export function isInteractive(el, role, editable) {
  if (editable || WIDGETS.has(role)) return true;
  switch (localName(el)) {
    case "button":
    case "select":
    case "summary":
    case "input":
    case "textarea":
      return isHtml(el);
    case "a":
    case "area":
      return hasAttr(el, "href");
    default:
      return hasAttr(el, "tabindex") && !/^\s*-/.test(attr(el, "tabindex"));
  }
}
