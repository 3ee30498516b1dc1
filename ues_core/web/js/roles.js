// Roles by WAI-ARIA and HTML-AAM: the first token of the role attribute that may be used here, else what the element has by itself.

import {
  HTML, attr, closest, closestComposed, composedParent, firstElementChild, hasAttr, hasEditContext, inputType, isContentEditable, isHtml, localName, matches,
  namespaceOf, nextElement, queryAll, queryElement, referred, rootNode, selectMultiple, selectSize, textContent,
} from "./dom.js";
import { internalsOf } from "./internals.js";
import { isPointed } from "./pointed.js";
import { perRun } from "./run.js";

const words = (text) => new Set(text.split(" "));

const ARIA_ROLES = words(
  "alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox comment complementary " +
    "contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell group heading image img " +
    "insertion link list listbox listitem log main mark marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter " +
    "navigation none note option paragraph presentation progressbar radio radiogroup region row rowgroup rowheader scrollbar search " +
    "searchbox sectionfooter sectionheader separator slider spinbutton status strong subscript suggestion superscript switch tab table " +
    "tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem " +
    "doc-abstract doc-acknowledgments doc-afterword doc-appendix doc-backlink doc-biblioentry doc-bibliography doc-biblioref doc-chapter " +
    "doc-colophon doc-conclusion doc-cover doc-credit doc-credits doc-dedication doc-endnote doc-endnotes doc-epigraph doc-epilogue " +
    "doc-errata doc-example doc-footnote doc-foreword doc-glossary doc-glossref doc-index doc-introduction doc-noteref doc-notice " +
    "doc-pagebreak doc-pagefooter doc-pageheader doc-pagelist doc-part doc-preface doc-prologue doc-pullquote doc-qna doc-subtitle " +
    "doc-tip doc-toc graphics-document graphics-object graphics-symbol",
);
const SYNONYMS = { image: "img", directory: "list", presentation: "none" };

/** Roles whose nodes are operated rather than read. */
export const WIDGETS = words(
  "button checkbox combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio option radio scrollbar searchbox slider " +
    "spinbutton switch tab textbox treeitem doc-backlink doc-biblioref doc-glossref doc-noteref",
);

/** Roles that take their name from their content. A row does when it is one of a grid: see names.js. */
export const NAMED_BY_CONTENT = words(
  "button cell checkbox columnheader comment gridcell heading link menuitem menuitemcheckbox menuitemradio option radio rowheader " +
    "sectionfooter sectionheader switch tab tooltip treeitem doc-backlink doc-biblioref doc-glossref doc-noteref doc-subtitle",
);

/** Roles that must not be named: what a tooltip says about them describes them. */
export const UNNAMED = words(
  "caption code definition deletion emphasis generic insertion mark none paragraph strong subscript suggestion superscript term time",
);

// Roles that mean nothing outside of another one; then the next token counts.
const CONTEXTS = { listitem: words("list"), option: words("listbox group"), treeitem: words("tree group") };
const LANDMARKS_BY_NAME = words("region form");

const NATIVE = {
  address: "group", article: "article", blockquote: "blockquote", body: "generic", button: "button", caption: "caption", code: "code",
  datalist: "listbox", dd: "definition", del: "deletion", details: "group", dfn: "term", dialog: "dialog", dt: "term", em: "emphasis",
  fieldset: "group", figure: "figure", h1: "heading", h2: "heading", h3: "heading", h4: "heading", h5: "heading", h6: "heading",
  hgroup: "group", hr: "separator", html: "document", ins: "insertion", main: "main", mark: "mark", menu: "list", meter: "meter",
  nav: "navigation", ol: "list", optgroup: "group", option: "option", output: "status", p: "paragraph", progress: "progressbar",
  s: "deletion", search: "search", strong: "strong", sub: "subscript", sup: "superscript", table: "table", textarea: "textbox",
  time: "time", ul: "list",
};
const GENERIC = words("b bdi bdo cite data div i kbd pre q samp small span u var");

const INPUTS = {
  button: "button", submit: "button", reset: "button", image: "button", file: "button", checkbox: "checkbox", radio: "radio",
  range: "slider", number: "spinbutton", search: "searchbox",
};
const LISTED = words("text search tel url email");

const SECTIONS =
  "article, aside, main, nav, section, [role=article i], [role=complementary i], [role=main i], [role=navigation i], [role=region i]";
const SECTIONS_AROUND_ASIDE =
  "article, aside, nav, section, [role=article i], [role=complementary i], [role=navigation i], [role=region i]";
const GLOBAL_ARIA =
  "[aria-atomic],[aria-busy],[aria-controls],[aria-current],[aria-describedby],[aria-description],[aria-details],[aria-dropeffect]," +
  "[aria-flowto],[aria-grabbed],[aria-keyshortcuts],[aria-label],[aria-labelledby],[aria-live],[aria-owns],[aria-relevant]," +
  "[aria-roledescription],[aria-braillelabel],[aria-brailleroledescription]";
const MATHML = "http://www.w3.org/1998/Math/MathML";

/** Whether an element is an editing host: typing into it changes it. */
export function isEditingHost(el) {
  const mode = attr(el, "contenteditable");
  if (mode === null) return hasEditContext(el);
  const word = mode.trim().toLowerCase();
  return word === "" || word === "true" || word === "plaintext-only";
}

/** Whether the keyboard can reach it, or script may focus it. */
export function isFocusable(el) {
  const index = attr(el, "tabindex");
  if (index !== null && /^\s*[+-]?\d/.test(index)) return true;
  if (!isHtml(el)) return localName(el) === "a" && (hasAttr(el, "href") || hasAttr(el, "xlink:href"));
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
      return isSummaryOfDetails(el);
    case "audio":
    case "video":
      return hasAttr(el, "controls");
    case "iframe":
      return true;
    default:
      return isEditingHost(el);
  }
}

const said = (text) => text !== null && text.trim() !== "";

/** Whether the author gave it a name of its own. */
function isNamed(el) {
  return said(attr(el, "aria-label")) || isLabelled(el) || said(attr(el, "title"));
}

// Empty references name nothing. What a reference holds is looked at from afar: the names themselves need the roles.
function isLabelled(el) {
  if (!hasAttr(el, "aria-labelledby")) return false;
  for (const target of referred(el, "aria-labelledby")) {
    if (said(textContent(target)) || isAuthored(target)) return true;
  }
  return false;
}

const AUTHORED = "[aria-label],[alt],[title],input,select,textarea,img";

const isAuthored = (el) => matches(el, AUTHORED) || queryElement(el, AUTHORED).length > 0;

// -- by the element --------------------------------------------------------------------------------------------------

/** The role by the element's kind alone; empty when it has none. */
export function nativeRole(el) {
  const tag = localName(el);
  const space = namespaceOf(el);
  if (space !== HTML) return space === MATHML ? (tag === "math" ? "math" : "") : svgRole(el, tag);
  switch (tag) {
    case "div":
    case "span":
      return isEditingHost(el) ? "textbox" : "generic";
    case "a":
    case "area":
      return hasAttr(el, "href") ? "link" : "generic";
    case "input":
      return inputRole(el);
    case "select":
      return selectMultiple(el) || selectSize(el) > 1 ? "listbox" : "combobox";
    case "img":
      return imageRole(el);
    case "header":
      return closestComposed(el, SECTIONS) === null ? "banner" : "generic";
    case "footer":
      return closestComposed(el, SECTIONS) === null ? "contentinfo" : "generic";
    case "aside":
      return isWithin(el, SECTIONS_AROUND_ASIDE) && !isNamed(el) ? "generic" : "complementary";
    case "section":
      return isNamed(el) ? "region" : "generic";
    case "form":
      return isNamed(el) ? "form" : "generic";
    case "li":
      return itemRole(el);
    case "td":
    case "th":
    case "tr":
    case "tbody":
    case "thead":
    case "tfoot":
      return tablePartRole(el, tag);
    case "summary":
      return isSummaryOfDetails(el) ? "button" : "generic";
    default: {
      const role = NATIVE[tag];
      if ((role === undefined || tag === "p") && isEditingHost(el)) return "textbox";
      return role ?? (GENERIC.has(tag) ? "generic" : internalRole(el, tag));
    }
  }
}

// Only words of ARIA: the browser has names of its own for what has no role.
function internalRole(el, tag) {
  const role = tag.includes("-") ? internalsOf(el)?.role ?? "" : "";
  return ARIA_ROLES.has(role) && role !== "generic" && role !== "none" ? role : "";
}

function svgRole(el, tag) {
  switch (tag) {
    case "svg":
      return isDrawingNamed(el) || isFocusable(el) ? "img" : "";
    case "a":
      return hasAttr(el, "href") || hasAttr(el, "xlink:href") ? "link" : "group";
    case "image":
      return "img";
    case "g":
    case "use":
    case "symbol":
    case "foreignObject":
      return isDrawingNamed(el) ? "group" : "";
    case "circle":
    case "ellipse":
    case "line":
    case "path":
    case "polygon":
    case "polyline":
    case "rect":
      return isDrawingNamed(el) ? "graphics-symbol" : "";
    default:
      return "";
  }
}

function isDrawingNamed(el) {
  if (said(attr(el, "aria-label")) || isLabelled(el)) return true;
  for (let child = firstElementChild(el); child !== null; child = nextElement(child)) {
    if (localName(child) === "title" && said(textContent(child))) return true;
  }
  return false;
}

function inputRole(el) {
  const type = inputType(el);
  if (type === "hidden") return "";
  if (type === "checkbox" && hasAttr(el, "aria-pressed")) return "button";
  if (LISTED.has(type) && hasAttr(el, "list")) return "combobox";
  return INPUTS[type] ?? "textbox";
}

// An empty alternative text says that the image is decoration, unless a name or the keyboard says otherwise.
function imageRole(el) {
  if (attr(el, "alt") !== "") return "img";
  return said(attr(el, "aria-label")) || isLabelled(el) || isFocusable(el) ? "img" : "none";
}

function isWithin(el, selector) {
  const parent = composedParent(el);
  return parent !== null && closestComposed(parent, selector) !== null;
}

function isSummaryOfDetails(el) {
  const parent = composedParent(el);
  if (parent === null) return false;
  if (localName(parent) !== "details") return localName(parent) === "slot" && closestComposed(parent, "details") !== null;
  for (let child = firstElementChild(parent); child !== null; child = nextElement(child)) {
    if (localName(child) === "summary") return child === el;
  }
  return false;
}

// An item of a list that says it is none, or is another thing, is no item of a list.
function itemRole(el) {
  const parent = composedParent(el);
  if (parent === null || !hasAttr(parent, "role")) return "listitem";
  const role = roleOf(parent);
  return role === "none" || role === "menu" || role === "menubar" || role === "listbox" || role === "tree" || role === "tablist" ||
    role === "radiogroup" || role === "toolbar"
    ? "generic"
    : "listitem";
}

function tablePartRole(el, tag) {
  const table = closest(el, "table");
  const kind = table !== null && hasAttr(table, "role") ? roleOf(table) : "table";
  const grid = kind === "grid" || kind === "treegrid";
  if (!grid && kind !== "table") return "generic";
  switch (tag) {
    case "tr":
      return "row";
    case "td":
      return grid ? "gridcell" : "cell";
    case "th":
      return headerRole(el);
    default:
      return "rowgroup";
  }
}

function headerRole(el) {
  const scope = attr(el, "scope");
  if (scope !== null) {
    const word = scope.trim().toLowerCase();
    if (word === "row" || word === "rowgroup") return "rowheader";
    if (word === "col" || word === "colgroup") return "columnheader";
  }
  return matches(el, "thead th") || !matches(el, "tr:has(> td) > th") ? "columnheader" : "rowheader";
}

// -- by the author ---------------------------------------------------------------------------------------------------

/** The role of an element, `none` for one that says it is only presentation; empty when it has no role at all. */
export function roleOf(el) {
  const given = attr(el, "role");
  return given === null || given === "" ? nativeRole(el) : authoredRole(el, given) ?? nativeRole(el);
}

function authoredRole(el, given) {
  for (const token of tokensOf(given)) {
    if (!ARIA_ROLES.has(token)) continue;
    const role = SYNONYMS[token] ?? token;
    if (role === "none") {
      // A node that can be focused, or carries a global property, is not presentation whatever it says.
      return isFocusable(el) || matches(el, GLOBAL_ARIA) ? null : "none";
    }
    if (LANDMARKS_BY_NAME.has(role) && !isNamed(el)) continue;
    const contexts = CONTEXTS[role];
    if (contexts !== undefined && !isOwnedBy(el, contexts)) continue;
    return role;
  }
  return null;
}

const tokensOf = (given) => given.toLowerCase().split(/[ \t\n\f\r]+/);

// The nearest ancestor that is more than a container, or an owner by aria-owns, has one of the roles.
function isOwnedBy(el, contexts) {
  const found = nearestRole(el);
  if (found !== "" && contexts.has(found)) return true;
  const owner = ownerOf(el);
  if (owner === null || asking.has(el) || asking.size >= OWNERS_ASKED) return false;
  asking.add(el);
  try {
    const role = roleOf(owner);
    return contexts.has(role) || (role === "generic" && contexts.has(nearestRole(owner)));
  } finally {
    asking.delete(el);
  }
}

// Owners may own each other in a ring, or in a chain without an end that matters.
const asking = new Set();
const OWNERS_ASKED = 20;

const nearest = perRun(() => new Map());

// Outermost first, and once for each: what an ancestor is may itself hang on what is around it.
function nearestRole(el) {
  const known = nearest();
  const chain = [];
  for (let at = el; at !== null && !known.has(at); at = composedParent(at)) chain.push(at);
  for (let i = chain.length - 1; i >= 0; i -= 1) {
    const parent = i + 1 < chain.length ? chain[i + 1] : composedParent(chain[i]);
    known.set(chain[i], parent === null ? "" : ownRole(parent) || known.get(parent));
  }
  return known.get(el);
}

function ownRole(el) {
  if (localName(el) === "slot") return "";
  const role = roleOf(el);
  return role === "generic" || role === "none" ? "" : role;
}

const owners = perRun(() => new Map());

/** The element that owns another one by aria-owns, or null. */
export function ownerOf(el) {
  const root = rootNode(el);
  const cache = owners();
  let owned = cache.get(root);
  if (owned === undefined) {
    owned = new Map();
    for (const owner of queryAll(root, "[aria-owns]")) {
      for (const target of referred(owner, "aria-owns")) if (!owned.has(target)) owned.set(target, owner);
    }
    cache.set(root, owned);
  }
  return owned.get(el) ?? null;
}

// -- what can be done with it ----------------------------------------------------------------------------------------

/** Whether typing into the node changes it: a text field that is neither read-only nor disabled, or an editing host. */
export function isEditable(el) {
  const tag = localName(el);
  if (!isHtml(el)) return false;
  if (tag === "textarea") return matches(el, ":enabled:read-write");
  if (tag === "input") {
    if (matches(el, ":disabled") || hasAttr(el, "readonly")) return false;
    return !["button", "submit", "reset", "image", "checkbox", "radio", "file", "hidden"].includes(inputType(el));
  }
  if (hasEditContext(el)) return true;
  return hasAttr(el, "contenteditable") && el instanceof HTMLElement && isContentEditable(el) && isEditingHost(el);
}

/** Whether it says, or HTML says, that it cannot be used. */
export function isDisabled(el) {
  return matches(el, ":disabled") || closestComposed(el, "[aria-disabled=true i], [inert]") !== null || isOptionOfDisabled(el);
}

const isOptionOfDisabled = (el) => localName(el) === "option" && closest(el, "select:disabled") !== null;

/** Whether it is there to be operated. */
export function isInteractive(el, role, editable) {
  if (editable || WIDGETS.has(role)) return true;
  switch (localName(el)) {
    case "button":
    case "select":
    case "input":
    case "textarea":
      return isHtml(el);
    case "summary":
      return isHtml(el) && role === "button";
    case "a":
    case "area":
      return hasAttr(el, "href") || hasAttr(el, "onclick");
    case "audio":
    case "video":
      return isHtml(el) && hasAttr(el, "controls");
    default: {
      const index = attr(el, "tabindex");
      return (index !== null && /^\s*\+?\d/.test(index)) || hasAttr(el, "onclick") || isMeantAsWidget(el) || isPointed(el);
    }
  }
}

// The page says what it is, only not where the standard wants it: an option outside of a list is still there to be chosen.
function isMeantAsWidget(el) {
  const given = attr(el, "role");
  return given !== null && given !== "" && tokensOf(given).some((token) => WIDGETS.has(token));
}
