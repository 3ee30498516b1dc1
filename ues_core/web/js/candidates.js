// What may be observed at all: controls, and with `content` also what stands there to be read.

import {
  attr, closedRoots, composedChildren, composedParent, delegatesFocus, documentElement, firstChild, hasAttr, hasAttributes, hostOf, inputType, isHtml,
  labelControl, listItem, listLength, localName, matches, nextSibling, nodeType, queryAll, queryFirst, rootNode, shadowRootOf, textData, ELEMENT, TEXT,
} from "./dom.js";
import { nameOf, visibleText } from "./names.js";
import { isPointed, pointedIn } from "./pointed.js";
import { isFocusable, NAMED_BY_CONTENT, roleOf } from "./roles.js";
import { inAriaHidden, inSecret, watchSecrets } from "./secrets.js";
import { cut, tidy, NAME_LIMIT } from "./text.js";

// The engine tries one alternative after the other on every element: the commonest that are none of them are told apart first.
const CONTROLS =
  ":not(td,tr,div,span,p,li,b,i,ul,section,label):is(button,a[href],input,textarea,select,summary,h1,h2,h3,h4,h5,h6,iframe,frame," +
  "area[href],dialog,audio[controls],video[controls]),[role],[contenteditable],[tabindex],[onclick]:not(html,body)";
const STRUCTURE =
  CONTROLS + ",p,li,dt,dd,td,th,caption,figcaption,blockquote,pre,legend,output,img[alt],progress,meter,nav,main,aside,header,footer," +
  "article,section,form,fieldset,ul,ol,dl,table,tr,address,time";
// Boxes and phrases that pages put plain text in.
const PLAIN = "div,span,label,b,strong,i,em,small,code,kbd,samp,u,s,mark,q,cite,abbr,dfn,del,ins,var,sub,sup,center,font,a,details,body";
// Any other name is one that a page made up, or of a drawing; both may hold text. What never shows any is left out.
const NO_TEXT =
  "html,head,title,base,link,meta,style,script,noscript,template,slot,br,hr,wbr,img,picture,source,track,map,area,video,audio,iframe,frame," +
  "frameset,object,embed,param,canvas,input,button,select,option,optgroup,textarea,datalist,col,colgroup,rp,desc,metadata,defs,svg,g,path," +
  "use,rect,circle,ellipse,line,polyline,polygon,stop,filter,mask,pattern,clipPath,image,thead,tbody,tfoot,summary,hgroup,search,ruby,rt," +
  "bdi,bdo,data,menu,dialog,h1,h2,h3,h4,h5,h6,mark,sub,sup";
const CONTENT = `${STRUCTURE},${PLAIN},:not(${NO_TEXT})`;
const BLOCKS =
  "div,p,li,dt,dd,td,th,table,ul,ol,dl,h1,h2,h3,h4,h5,h6,blockquote,pre,section,article,form,fieldset,details,nav,main,aside,header,footer";
// The commonest elements that can have no shadow root: the standard lets only a few, and those with a dash in their name.
const MAY_HAVE_SHADOW = "*:not(td,tr,li,a,button,input,b,i,ul,label,option)";
const STATIC_ROLES = new Set(
  ("paragraph listitem term definition cell gridcell columnheader rowheader caption blockquote code img status alert note log " +
    "time heading").split(" "),
);
const HALVES = new Set(["button", "checkbox", "radio", "switch"]);

/** The elements to look at, in the order of the flattened tree: {elements, reasons, flat, pierced, pointed}. */
export function candidatesOf(root, detail) {
  const selector = detail === "content" ? CONTENT : CONTROLS;
  const found = { elements: [], reasons: new Set(), flat: true, pierced: 0, pointed: null };
  if (hasShadow(root)) {
    found.flat = false;
    descend(root, selector, found);
    return found;
  }
  found.pointed = pointedIn(rootNode(root));
  const wanted = found.pointed === "" ? selector : `${selector},${found.pointed}`;
  if (nodeType(root) === ELEMENT && matches(root, wanted)) found.elements.push(root);
  const list = queryAll(root, wanted);
  const count = listLength(list);
  for (let i = 0; i < count; i += 1) found.elements.push(listItem(list, i));
  return found;
}

function hasShadow(root) {
  if (nodeType(root) === ELEMENT && (shadowRootOf(root) !== null || localName(root) === "slot")) return true;
  const list = queryAll(root, MAY_HAVE_SHADOW);
  const count = listLength(list);
  for (let i = 0; i < count; i += 1) if (shadowRootOf(listItem(list, i)) !== null) return true;
  return false;
}

// The flattened tree, without recursion: a page may be ten thousand levels deep.
function descend(root, selector, found) {
  const stack = [nodeType(root) === ELEMENT ? root : documentElement(root)];
  while (stack.length > 0) {
    const el = stack.pop();
    if (el === null || nodeType(el) !== ELEMENT) continue;
    if (localName(el) !== "slot" && (matches(el, selector) || isPointed(el))) found.elements.push(el);
    const shadow = shadowRootOf(el);
    if (shadow !== null) watchSecrets(shadow);
    if (shadow !== null && closedRoots.piercing && closedRoots.of(el) === shadow) {
      closedRoots.walk(shadow);
      found.pierced += 1;
    }
    let children;
    try {
      children = composedChildren(el);
    } catch {
      found.reasons.add("slot-unresolved");
      continue;
    }
    for (let i = children.length - 1; i >= 0; i -= 1) stack.push(children[i]);
  }
}

/** Whether an element that the query found counts; asked in the order of the tree, once for each. */
export function gate(found, detail) {
  const texts = detail === "content" ? new Texts() : null;
  const simple = found.flat && found.pointed === "" && texts === null;
  return (el, tag) => {
    if (simple && !hasAttributes(el)) return true;
    if (tag === "input" && isHtml(el) && inputType(el) === "hidden") return false;
    if (!found.flat && (isInnerHalf(el) || isMereHost(el))) return false;
    if (isForNobody(el, tag)) return false;
    if (texts === null && (found.pointed ?? pointedIn(rootNode(el))) !== "" && !matches(el, CONTROLS) && !isPointed(el)) return false;
    if (texts !== null) return texts.counts(el, tag);
    return !hasAttr(el, "role") || roleOf(el) !== "none";
  };
}

// A picture without a name, or a field that the keyboard does not reach either, which the page hides from all who do not see it:
// the ornaments and the helpers of components.
function isForNobody(el, tag) {
  const isPicture = hasAttr(el, "role") && roleOf(el) === "img";
  if (!isPicture && !((tag === "textarea" || tag === "input") && attr(el, "tabindex")?.trim() === "-1")) return false;
  if (!inAriaHidden(el) || isFocusableByKey(el)) return false;
  return nameOf(el, isPicture ? "img" : "textbox").name === "";
}

const isFocusableByKey = (el) => isFocusable(el) && !/^\s*-/.test(attr(el, "tabindex") ?? "");

// A component that says itself that it is a checkbox has another one inside: to a person the two are one.
function isInnerHalf(el) {
  const root = rootNode(el);
  if (!(root instanceof ShadowRoot)) return false;
  const role = roleOf(el);
  return HALVES.has(role) && roleOf(hostOf(root)) === role && isFocusable(hostOf(root));
}

// A host that only hands the focus on, and says of itself nothing, is no node beside what it hands it to.
function isMereHost(el) {
  const root = shadowRootOf(el);
  if (root === null || !delegatesFocus(root) || hasAttr(el, "onclick")) return false;
  return roleOf(el) === "" && !matches(el, "[aria-label],[aria-labelledby],[contenteditable]");
}

// -- text that is no control -----------------------------------------------------------------------------------------

// Text counts once: phrases within a node whose own text tells them already are no nodes of their own.
class Texts {
  tellers = new Set();
  silent = new Set();

  counts(el, tag) {
    const role = roleOf(el);
    if (role === "none") return false;
    if (tag === "label" && isHtml(el) && labelControl(el) !== null) {
      this.tellers.add(el);
      return false;
    }
    if (matches(el, STRUCTURE) && (role !== "generic" || matches(el, CONTROLS))) {
      if (NAMED_BY_CONTENT.has(role) || (STATIC_ROLES.has(role) && isPhrase(el))) this.tellers.add(el);
      return true;
    }
    if (!isPointed(el) && (!hasOwnText(el) || this.isTold(el))) return false;
    if (isPhrase(el)) this.tellers.add(el);
    return true;
  }

  isTold(el) {
    const passed = [];
    for (let up = composedParent(el); up !== null && !this.silent.has(up); up = composedParent(up)) {
      if (this.tellers.has(up)) return true;
      passed.push(up);
    }
    for (const up of passed) this.silent.add(up);
    return false;
  }
}

const isPhrase = (el) => queryFirst(el, BLOCKS) === null;

function hasOwnText(el) {
  for (let child = firstChild(el); child !== null; child = nextSibling(child)) {
    if (nodeType(child) === TEXT && textData(child).trim() !== "") return true;
  }
  return false;
}

/** Whether a node stands there to be read. */
export const isContent = (el, role, interactive) =>
  !interactive && (STATIC_ROLES.has(role) || !matches(el, STRUCTURE) || (role === "generic" && hasOwnText(el)));

/** The text that a node without a name is known by. */
export function contentName(el, role) {
  if (STATIC_ROLES.has(role) || isPhrase(el)) return cut(visibleText(el, 300), NAME_LIMIT);
  if (inSecret(el)) return "";
  const parts = [];
  for (let child = firstChild(el); child !== null && parts.length < 50; child = nextSibling(child)) {
    if (nodeType(child) === TEXT) parts.push(textData(child).slice(0, 1000));
  }
  return cut(tidy(parts.join(" ")), NAME_LIMIT);
}
