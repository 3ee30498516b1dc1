// Saved prototype accessors. A named form field shadows properties of its form, and a named image those of the document, even
// in an isolated world; so nothing here ever reads a property through an instance.

const bindCall = Function.prototype.bind.bind(Function.prototype.call);

/** A prototype's method as a function of (self, ...args). */
const method = (proto, name) => bindCall(proto[name]);

/** A prototype's getter as a function of (self). */
const getter = (proto, name) => bindCall(Object.getOwnPropertyDescriptor(proto, name).get);

/** A prototype's setter as a function of (self, value). */
const setter = (proto, name) => bindCall(Object.getOwnPropertyDescriptor(proto, name).set);

export const attr = method(Element.prototype, "getAttribute");
export const hasAttr = method(Element.prototype, "hasAttribute");
export const hasAttributes = method(Element.prototype, "hasAttributes");
export const matches = method(Element.prototype, "matches");
export const closest = method(Element.prototype, "closest");
export const rectOf = method(Element.prototype, "getBoundingClientRect");
export const rectsOf = method(Element.prototype, "getClientRects");
export const checkVisibility = method(Element.prototype, "checkVisibility");
export const scrollIntoView = method(Element.prototype, "scrollIntoView");
export const localName = getter(Element.prototype, "localName");
export const attributeNames = method(Element.prototype, "getAttributeNames");
export const openRootOf = getter(Element.prototype, "shadowRoot");
const openSlotOf = getter(Element.prototype, "assignedSlot");
export const nextElement = getter(Element.prototype, "nextElementSibling");
export const firstElementChild = getter(Element.prototype, "firstElementChild");
export const namespaceOf = getter(Element.prototype, "namespaceURI");
export const classNameOf = (el) => attr(el, "class") || "";
export const scrollTop = getter(Element.prototype, "scrollTop");
export const scrollLeft = getter(Element.prototype, "scrollLeft");
export const scrollHeight = getter(Element.prototype, "scrollHeight");
export const clientHeight = getter(Element.prototype, "clientHeight");
export const scrollWidth = getter(Element.prototype, "scrollWidth");
export const clientWidth = getter(Element.prototype, "clientWidth");
export const clientLeft = getter(Element.prototype, "clientLeft");
export const clientTop = getter(Element.prototype, "clientTop");
export const scrollElementBy = method(Element.prototype, "scrollBy");

export const nodeType = getter(Node.prototype, "nodeType");
export const parentNode = getter(Node.prototype, "parentNode");
export const firstChild = getter(Node.prototype, "firstChild");
export const nextSibling = getter(Node.prototype, "nextSibling");
export const isConnected = getter(Node.prototype, "isConnected");
export const ownerDocument = getter(Node.prototype, "ownerDocument");
export const textContent = getter(Node.prototype, "textContent");
export const containsNode = method(Node.prototype, "contains");
export const rootNode = method(Node.prototype, "getRootNode");
export const textData = getter(CharacterData.prototype, "data");

export const hostOf = getter(ShadowRoot.prototype, "host");
export const delegatesFocus = getter(ShadowRoot.prototype, "delegatesFocus");
export const assignedNodes = method(HTMLSlotElement.prototype, "assignedNodes");

export const queryDocument = method(Document.prototype, "querySelectorAll");
export const queryFragment = method(DocumentFragment.prototype, "querySelectorAll");
export const queryElement = method(Element.prototype, "querySelectorAll");
export const queryFirst = method(Element.prototype, "querySelector");
export const elementById = method(Document.prototype, "getElementById");
export const fragmentElementById = method(DocumentFragment.prototype, "getElementById");
export const documentElement = getter(Document.prototype, "documentElement");
export const bodyOf = getter(Document.prototype, "body");
export const titleOf = getter(Document.prototype, "title");
export const readyState = getter(Document.prototype, "readyState");
export const scrollingElement = getter(Document.prototype, "scrollingElement");
export const defaultView = getter(Document.prototype, "defaultView");
export const documentHit = method(Document.prototype, "elementFromPoint");
export const shadowHit = method(ShadowRoot.prototype, "elementFromPoint");
export const documentActive = getter(Document.prototype, "activeElement");
export const shadowActive = getter(ShadowRoot.prototype, "activeElement");
export const createRange = method(Document.prototype, "createRange");
export const selectContents = method(Range.prototype, "selectNodeContents");
export const rangeRect = method(Range.prototype, "getBoundingClientRect");
export const hasFocus = method(Document.prototype, "hasFocus");

export const focusHtml = method(HTMLElement.prototype, "focus");
export const isContentEditable = getter(HTMLElement.prototype, "isContentEditable");
export const innerText = getter(HTMLElement.prototype, "innerText");
const contextGetter = Object.hasOwn(HTMLElement.prototype, "editContext") ? getter(HTMLElement.prototype, "editContext") : () => null;
/** Whether the page takes what is typed into an element through an EditContext: it shows the text elsewhere, or draws it. */
export const hasEditContext = (el) => hasAttr(el, "tabindex") && editContextOf(el) !== null;
/** The EditContext of an HTML element, or null. */
export const editContextOf = (el) => (el instanceof HTMLElement ? contextGetter(el) : null);
export const offsetWidth = getter(HTMLElement.prototype, "offsetWidth");
export const offsetHeight = getter(HTMLElement.prototype, "offsetHeight");
export const tabIndexOf = getter(HTMLElement.prototype, "tabIndex");

export const inputType = getter(HTMLInputElement.prototype, "type");
export const inputValue = getter(HTMLInputElement.prototype, "value");
export const setInputValue = setter(HTMLInputElement.prototype, "value");
export const inputChecked = getter(HTMLInputElement.prototype, "checked");
export const inputIndeterminate = getter(HTMLInputElement.prototype, "indeterminate");
export const inputForm = getter(HTMLInputElement.prototype, "form");
export const inputFiles = getter(HTMLInputElement.prototype, "files");
export const selectInput = method(HTMLInputElement.prototype, "select");
export const textareaValue = getter(HTMLTextAreaElement.prototype, "value");
export const textareaForm = getter(HTMLTextAreaElement.prototype, "form");
export const selectTextarea = method(HTMLTextAreaElement.prototype, "select");
export const selectValue = getter(HTMLSelectElement.prototype, "value");
export const selectOptions = getter(HTMLSelectElement.prototype, "options");
export const selectMultiple = getter(HTMLSelectElement.prototype, "multiple");
export const selectSize = getter(HTMLSelectElement.prototype, "size");
export const selectForm = getter(HTMLSelectElement.prototype, "form");
export const selectedOptions = getter(HTMLSelectElement.prototype, "selectedOptions");
export const optionLabel = getter(HTMLOptionElement.prototype, "label");
export const optionValue = getter(HTMLOptionElement.prototype, "value");
export const optionSelected = getter(HTMLOptionElement.prototype, "selected");
export const setOptionSelected = setter(HTMLOptionElement.prototype, "selected");
export const optionText = getter(HTMLOptionElement.prototype, "text");
export const buttonType = getter(HTMLButtonElement.prototype, "type");
export const buttonForm = getter(HTMLButtonElement.prototype, "form");
export const progressPosition = getter(HTMLProgressElement.prototype, "position");
export const labelControl = getter(HTMLLabelElement.prototype, "control");
export const formElements = getter(HTMLFormElement.prototype, "elements");
export const formActionOf = getter(HTMLFormElement.prototype, "action");
export const formMethodOf = getter(HTMLFormElement.prototype, "method");
export const anchorHref = getter(HTMLAnchorElement.prototype, "href");
export const areaHref = getter(HTMLAreaElement.prototype, "href");
export const cellSpan = getter(HTMLTableCellElement.prototype, "colSpan");
export const dialogOpen = getter(HTMLDialogElement.prototype, "open");
export const frameDocument = getter(HTMLIFrameElement.prototype, "contentDocument");
export const legacyFrameDocument = getter(HTMLFrameElement.prototype, "contentDocument");
export const listItem = method(NodeList.prototype, "item");
export const listLength = getter(NodeList.prototype, "length");
export const collectionItem = method(HTMLCollection.prototype, "item");
export const collectionLength = getter(HTMLCollection.prototype, "length");

export const styleOf = window.getComputedStyle.bind(window);
export const styleValue = method(CSSStyleDeclaration.prototype, "getPropertyValue");
export const documentSheets = getter(Document.prototype, "styleSheets");
export const shadowSheets = getter(ShadowRoot.prototype, "styleSheets");
export const adoptedOf = getter(Document.prototype, "adoptedStyleSheets");
export const shadowAdopted = getter(ShadowRoot.prototype, "adoptedStyleSheets");
export const sheetCount = getter(StyleSheetList.prototype, "length");
export const sheetItem = method(StyleSheetList.prototype, "item");
export const sheetRules = getter(CSSStyleSheet.prototype, "cssRules");
export const ruleCount = getter(CSSRuleList.prototype, "length");
export const ruleItem = method(CSSRuleList.prototype, "item");
export const selectorOf = getter(CSSStyleRule.prototype, "selectorText");
export const ruleStyle = getter(CSSStyleRule.prototype, "style");
export const importedSheet = getter(CSSImportRule.prototype, "styleSheet");
const nestedRules = getter(CSSStyleRule.prototype, "cssRules");
const groupedRules = getter(CSSGroupingRule.prototype, "cssRules");
export const composedPath = method(Event.prototype, "composedPath");
export const stopImmediately = method(Event.prototype, "stopImmediatePropagation");
export const preventDefault = method(Event.prototype, "preventDefault");
export const dispatchEvent = method(EventTarget.prototype, "dispatchEvent");
export const listen = method(EventTarget.prototype, "addEventListener");
export const getSelection = window.getSelection.bind(window);

// Elements that script set as a reference; the attribute is then empty. Older engines have none of these.
const references = (name) => (Object.hasOwn(Element.prototype, name) ? getter(Element.prototype, name) : () => null);
export const REFERENCES = {
  "aria-labelledby": references("ariaLabelledByElements"),
  "aria-describedby": references("ariaDescribedByElements"),
  "aria-owns": references("ariaOwnsElements"),
};

export const ELEMENT = 1;
export const TEXT = 3;
export const FRAGMENT = 11;
export const HTML = "http://www.w3.org/1999/xhtml";

// Closed roots that the browser handed over. An observation walks into them when it was asked to; a pointer always meets what is there.
class ClosedRoots {
  #known = new WeakMap();
  #walked = new WeakSet();
  #any = false;
  piercing = false;

  add(host, root) {
    this.#known.set(host, root);
    this.#any = true;
  }

  of(host) {
    return this.#any ? this.#known.get(host) ?? null : null;
  }

  /** A new observation begins. */
  begin(piercing) {
    this.piercing = piercing;
    this.#walked = new WeakSet();
  }

  walk(root) {
    this.#walked.add(root);
  }

  wasWalked(root) {
    return this.#walked.has(root);
  }

  slotOf(node) {
    const parent = this.#any ? parentNode(node) : null;
    const root = parent === null ? undefined : this.#known.get(parent);
    if (root === undefined) return null;
    for (const slot of queryFragment(root, "slot")) if (assignedNodes(slot).includes(node)) return slot;
    return null;
  }
}

export const closedRoots = new ClosedRoots();

/** The shadow root of an element: open, or closed when this observation looks into those. */
export function shadowRootOf(el) {
  const open = openRootOf(el);
  return open === null && closedRoots.piercing ? closedRoots.of(el) : open;
}

/** The shadow root of an element, whatever it is, as far as it is known. */
export const anyRootOf = (el) => openRootOf(el) ?? closedRoots.of(el);

/** The slot that shows a node. */
export const assignedSlot = (node) => openSlotOf(node) ?? closedRoots.slotOf(node);

/** querySelectorAll of a document, a shadow root or an element. */
export function queryAll(root, selector) {
  const type = nodeType(root);
  if (type === ELEMENT) return queryElement(root, selector);
  return type === FRAGMENT ? queryFragment(root, selector) : queryDocument(root, selector);
}

/** The rules within a rule, or null. */
export function groupRules(rule) {
  if (rule instanceof CSSStyleRule) return nestedRules(rule);
  return rule instanceof CSSGroupingRule ? groupedRules(rule) : null;
}

/** Lower-case tag of an HTML element, the local name of any other. */
export const tagOf = (el) => localName(el);

export const isHtml = (el) => namespaceOf(el) === HTML;

/** The parent in the composed tree: slot, then shadow host, then parent. Null at the document. */
export function composedParent(node) {
  if (nodeType(node) === ELEMENT) {
    const slot = assignedSlot(node);
    if (slot !== null) return slot;
  }
  const parent = parentNode(node);
  if (parent === null) return null;
  if (nodeType(parent) === FRAGMENT) return parent instanceof ShadowRoot ? hostOf(parent) : null;
  return nodeType(parent) === ELEMENT ? parent : null;
}

/** Whether `inner` is `outer` or below it in the composed tree. */
export function composedContains(outer, inner) {
  for (let node = inner; node !== null; node = composedParent(node)) {
    if (node === outer) return true;
  }
  return false;
}

/** closest() through shadow hosts. */
export function closestComposed(el, selector) {
  for (let from = el; ; ) {
    const found = closest(from, selector);
    if (found !== null) return found;
    const root = rootNode(from);
    if (!(root instanceof ShadowRoot)) return null;
    from = hostOf(root);
  }
}

/** References of one attribute that are followed, and characters of it that are read, at most: far more than any text that is shown. */
const REFERENCES_READ = 1000;
const IDS_READ = 65536;

/** The elements that an attribute of ids refers to, in its order; ids that mean nothing are left out. */
export function referred(el, attribute) {
  const ids = attr(el, attribute);
  if (ids === null) return [];
  const words = ids.slice(0, IDS_READ).split(/[ \t\n\f\r]+/, REFERENCES_READ).filter(Boolean);
  if (words.length === 0) return REFERENCES[attribute]?.(el) ?? [];
  const found = [];
  for (const id of words) {
    const target = byId(el, id);
    if (target !== null) found.push(target);
  }
  return found;
}

/** An element by id in the same tree as `el`. */
export function byId(el, id) {
  const root = rootNode(el);
  if (nodeType(root) === FRAGMENT) return fragmentElementById(root, id);
  return nodeType(root) === 9 ? elementById(root, id) : null;
}

/** The element that has the focus, through open shadow roots. */
export function deepActive() {
  let active = documentActive(document);
  while (active !== null) {
    const root = anyRootOf(active);
    const inner = root === null ? null : shadowActive(root);
    if (inner === null) return active;
    active = inner;
  }
  return null;
}

/** Children in the composed tree: of the shadow root, of what a slot shows, or the light ones. */
export function composedChildren(el) {
  const out = [];
  if (localName(el) === "slot" && isHtml(el)) {
    const assigned = assignedNodes(el, { flatten: true });
    if (!Array.isArray(assigned)) throw new TypeError("slot");
    return assigned;
  }
  const root = shadowRootOf(el);
  for (let child = firstChild(root === null ? el : root); child !== null; child = nextSibling(child)) out.push(child);
  return out;
}
