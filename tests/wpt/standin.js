// A stand-in for the harness that the pages refer to: it asserts nothing, it records what a page wants to have tested.
// Each record marks its element and stands in a JSON text of the document, where the scorer reads it.
(() => {
  const records = [];
  const mark = (el, kind, expected, name) => {
    const id = String(records.length);
    const marks = (el.getAttribute("data-scored") || "").split(" ").filter(Boolean);
    el.setAttribute("data-scored", [...marks, id].join(" "));
    records.push({ id, kind, expected, name: name || el.getAttribute("data-testname") || el.id || el.localName });
  };
  const each = (selector, use) => {
    const found = document.querySelectorAll(selector);
    if (found.length === 0) records.push({ id: "none", kind: "error", expected: "", name: `no element matches ${selector}` });
    for (const el of found) use(el);
  };
  const labels = (selector) => each(selector, (el) => mark(el, "name", el.getAttribute("data-expectedlabel")));
  const roles = (selector, variants) =>
    each(selector, (el) => mark(el, "role", [el.getAttribute("data-expectedrole"), ...(variants || [])].join("|")));
  window.AriaUtils = {
    verifyLabelsBySelector: labels,
    verifyRolesBySelector: (selector) => roles(selector),
    verifyRoleOrVariantRolesBySelector: (selector) =>
      each(selector, (el) => mark(el, "role", [el.getAttribute("data-expectedrole"), ...(el.getAttribute("data-expectedrole-variants") || "").split(/\s+/)].filter(Boolean).join("|"))),
    verifyGenericRolesBySelector: (selector) => each(selector, (el) => mark(el, "role", "generic|none|")),
    verifyRolesAndLabelsBySelector: (selector) => {
      roles(selector);
      labels(selector);
    },
    assignAndVerifyRolesByRoleNames: (names) => {
      for (const name of names) {
        const el = document.createElement("div");
        el.setAttribute("role", name);
        el.textContent = "x";
        document.body.append(el);
        mark(el, "role", name.toLowerCase(), `role=${name}`);
      }
    },
  };
  // Pages that use the plain harness compare what a driver call returns with a literal.
  window.promise_test = (body) => {
    window.assert_equals = (got, expected) => mark(got.el, got.kind, expected);
    Promise.resolve(body({})).catch((error) => records.push({ id: "none", kind: "error", expected: "", name: String(error) }));
  };
  window.test = window.async_test = window.setup = () => {};
  window.test_driver = {
    get_computed_label: async (el) => ({ el, kind: "name" }),
    get_computed_role: async (el) => ({ el, kind: "role" }),
  };
  const tell = () => fetch("/records", { method: "POST", body: JSON.stringify(records) });
  window.addEventListener("load", () => setTimeout(tell, 50));
})();
