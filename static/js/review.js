/* Keys, counts and clocks of the review bench. Every act is a form and works without this file. */
(function () {
  var form = function () { return document.getElementById("verdict"); };
  function crits() { return form() ? Array.prototype.slice.call(form().querySelectorAll(".crit")) : []; }
  function current() { return crits().findIndex(function (c) { return c.classList.contains("on"); }); }
  function focusOn(index, move) {
    var all = crits();
    if (!all.length) return;
    index = Math.max(0, Math.min(all.length - 1, index));
    all.forEach(function (c, i) { c.classList.toggle("on", i === index); });
    if (move) {
      var radio = all[index].querySelector("input:checked") || all[index].querySelector("input");
      if (radio) radio.focus({ preventScroll: true });
      all[index].scrollIntoView({ block: "nearest" });
    }
  }
  function choose(key) {
    var crit = crits()[current()];
    if (!crit) return false;
    var radio = crit.querySelector('input[data-choice="' + key + '"]');
    if (!radio || radio.disabled) return false;
    radio.checked = true;
    radio.dispatchEvent(new Event("change", { bubbles: true }));
    var isPlain = radio.value === "yes" || /^[0-9]+$/.test(radio.value);
    if (isPlain) focusOn(current() + 1, true);
    else crit.querySelector("textarea").focus();
    return true;
  }
  function count() {
    var out = document.getElementById("answered");
    if (out) out.textContent = crits().filter(function (c) { return c.querySelector('input[name^="v-"]:checked'); }).length;
  }
  function isTyping(target) {
    return /^(TEXTAREA|SELECT)$/.test(target.tagName) || (target.tagName === "INPUT" && !/^(radio|checkbox)$/.test(target.type));
  }
  function press(key) {
    var target = document.querySelector('[data-key="' + key + '"]');
    if (!target) return false;
    if (target.tagName === "DETAILS") target.open = !target.open; else target.click();
    return true;
  }
  document.addEventListener("keydown", function (event) {
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && form()) {
      event.preventDefault();
      form().querySelector("[data-submit]").click();
      return;
    }
    if (event.key === "Escape" && isTyping(event.target)) { event.target.blur(); focusOn(current(), true); return; }
    if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    var done = false;
    if (event.key === "j" || event.key === "k") { focusOn(current() + (event.key === "j" ? 1 : -1), true); done = true; }
    else if (/^[0-9x]$/.test(event.key)) done = choose(event.key);
    else if (event.key === "e" && crits()[current()]) { crits()[current()].querySelector("textarea").focus(); done = true; }
    else if (event.key === "g" || event.key === "u" || event.key === "r") done = press(event.key);
    if (done) event.preventDefault();
  });
  document.addEventListener("focusin", function (event) {
    var crit = event.target.closest ? event.target.closest(".crit") : null;
    if (crit) focusOn(crits().indexOf(crit), false);
  });
  document.addEventListener("change", count);
  var said = {};
  function clocks() {
    var lease = document.getElementById("lease"), undo = document.getElementById("undo"), say = document.getElementById("say");
    [lease, undo].forEach(function (box) {
      if (!box || !box.getAttribute("data-until")) return;
      var left = Math.round((new Date(box.getAttribute("data-until")) - Date.now()) / 1000), out = box.querySelector("[data-left]");
      if (box === undo) {
        if (left <= 0 && !box.contains(document.activeElement) && !box.matches(":hover")) { box.remove(); return; }
        if (out) out.textContent = Math.max(0, left) + " s";
        return;
      }
      if (out) out.textContent = left > 0 ? "held " + Math.floor(left / 60) + ":" + ("0" + (left % 60)).slice(-2) : "hold ended; saved words are kept";
      [300, 60].forEach(function (mark) {
        if (left === mark && say && !said[mark]) { said[mark] = true; say.textContent = "Your hold on this item ends in " + mark / 60 + " minutes."; }
      });
    });
  }
  /* Words typed while the server is away stay in this browser until a save succeeds. */
  function shelf() { var f = form(); return f ? "academy-draft:" + f.getAttribute("action") : null; }
  function keep() {
    try { localStorage.setItem(shelf(), new URLSearchParams(new FormData(form())).toString()); } catch (e) { /* private mode */ }
  }
  document.addEventListener("input", function (event) { if (form() && form().contains(event.target)) keep(); });
  document.addEventListener("htmx:afterRequest", function (event) {
    if (event.detail.successful && event.detail.elt.id === "autosave") { try { localStorage.removeItem(shelf()); } catch (e) { /* private mode */ } }
  });
  document.addEventListener("DOMContentLoaded", function () {
    var f = form();
    if (f) {
      document.querySelectorAll("[data-nojs]").forEach(function (b) { b.hidden = true; });
      try {
        var kept = localStorage.getItem(shelf());
        if (kept) {
          new URLSearchParams(kept).forEach(function (value, name) {
            if (/^r-/.test(name)) { var t = f.elements[name]; if (t && value) t.value = value; }
            if (/^[vc]-/.test(name)) { var r = f.querySelector('input[name="' + name + '"][value="' + value + '"]'); if (r) r.checked = true; }
          });
          f.dispatchEvent(new Event("change", { bubbles: true }));
        }
      } catch (e) { /* private mode */ }
      var h1 = document.getElementById("item");
      if (h1) h1.focus({ preventScroll: true });
      count();
    }
    clocks();
    window.setInterval(clocks, 1000);
  });
})();
