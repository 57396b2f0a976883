/* Keys, clocks and the safety net of the review bench. Every act is a form and works without this file. */
(function () {
  var SAVE_MS = 800, RETRY_MS = 4000, LONGEST_QUOTE = 600;
  function byId(id) { return document.getElementById(id); }
  function all(selector, root) { return Array.prototype.slice.call((root || document).querySelectorAll(selector)); }
  function form() { return byId("verdict"); }
  function crits() { return form() ? all("[data-crit]", form()) : []; }
  function isThird() { return Boolean(form() && form().hasAttribute("data-third")); }
  function isPractice() { return Boolean(form() && form().hasAttribute("data-practice")); }
  function current() { return crits().findIndex(function (c) { return c.classList.contains("on"); }); }
  function reasonOf(crit) { return crit.querySelector('textarea[name^="r-"]'); }
  function numberOf(crit) { return crit.querySelector('input[name^="n-"]'); }
  function isAnswered(crit) { var box = numberOf(crit); return Boolean(chosenOf(crit) || (box && box.value.trim())); }
  function chosenOf(crit) { return crit.querySelector('input[name^="v-"]:checked'); }
  function say(text) { var box = byId("say"); if (box) box.textContent = text; }
  function store(act, key, value) {
    try { return act === "get" ? localStorage.getItem(key) : act === "set" ? localStorage.setItem(key, value) : localStorage.removeItem(key); } catch (e) { return null; }
  }

  /* ---------- where the keyboard is ---------- */
  function focusOn(index, move) {
    var list = crits();
    if (!list.length) return;
    index = Math.max(0, Math.min(list.length - 1, index));
    list.forEach(function (c, i) { c.classList.toggle("on", i === index); });
    if (move) {
      placeOf(list[index]).focus({ preventScroll: true });
      list[index].scrollIntoView({ block: "nearest" });
    }
  }
  /* Single keys do not work in the box of a number, so that the keyboard stays at its question until a digit comes. */
  function placeOf(crit) {
    if (numberOf(crit)) { crit.tabIndex = -1; return crit; }
    return chosenOf(crit) || crit.querySelector("input:not([disabled])");
  }
  /* In the third view only what is to be decided is walked; what is agreed is folded away. */
  function isWalked(crit) { var fold = crit.closest("details"); return !fold || fold.open; }
  function step(by) {
    var list = crits(), at = current() + by;
    while (list[at] && !isWalked(list[at])) at += by;
    if (list.length) focusOn(list[at] ? at : current(), true);
    return list.length > 0;
  }
  function choose(key) {
    var at = current(), crit = crits()[at], radio = crit && crit.querySelector('input[data-choice="' + key + '"]');
    if (crit && !radio && numberOf(crit)) { numberOf(crit).focus(); numberOf(crit).select(); return false; }
    if (!radio || radio.disabled) return false;
    radio.checked = true;
    radio.dispatchEvent(new Event("change", { bubbles: true }));
    follow(at, crit, radio);
    return true;
  }
  /* After an answer: to its reason where one is needed, else on to the next question. */
  function follow(at, crit, radio) {
    var advances = byId("advance") && byId("advance").checked, last = at === crits().length - 1;
    var asks = isThird() || radio.hasAttribute("data-why");
    if (asks) reasonOf(crit).focus();
    else focusOn(advances ? at + 1 : at, true);
    say("Question " + (at + 1) + ": " + labelOf(radio) + (!asks && advances && !last ? ". Now question " + (at + 2) + "." : "."));
  }
  function labelOf(radio) {
    var copy = radio.parentNode.cloneNode(true);
    all("kbd", copy).forEach(function (k) { k.remove(); });
    return copy.textContent.trim();
  }
  /* Take what a reviewer said; nothing is decided before it is submitted. */
  function take(letter) {
    var crit = crits()[current()], code = crit && crit.getAttribute("data-take-" + letter);
    if (!code) return false;
    var radio = all('input[name^="v-"]', crit).filter(function (r) { return r.value === code; })[0], box = numberOf(crit);
    if (radio) radio.checked = true;
    else if (box) { box.value = code; all('input[name^="v-"]', crit).forEach(function (r) { r.checked = false; }); }
    else return false;
    (radio || box).dispatchEvent(new Event("change", { bubbles: true }));
    reasonOf(crit).focus();
    say("Took the verdict of reviewer " + letter.toUpperCase() + ". Give a reason.");
    return true;
  }
  /* One button answers a whole section; what was answered stays. */
  document.addEventListener("click", function (event) {
    var button = event.target.closest && event.target.closest("[data-mark]");
    if (!button) return;
    event.preventDefault();
    var code = button.value.split(":")[1], part = button.closest("section"), last = null, marked = 0;
    all("[data-crit]", part).forEach(function (crit) {
      if (chosenOf(crit)) return;
      last = all('input[name^="v-"]', crit).filter(function (r) { return r.value === code; })[0] || last;
      if (last) { last.checked = true; marked += 1; }
    });
    if (last) last.dispatchEvent(new Event("change", { bubbles: true }));
    say(marked + " marked; answers that were given stay.");
    /* By key, on to what is still open; a mouse stays where it is. */
    var open = crits().findIndex(function (c) { return !isAnswered(c); });
    if (open >= 0 && !event.detail) focusOn(open, true);
  });
  function isNumber(target) { return /^n-/.test(target.name || ""); }
  function isTyping(target) {
    return /^(TEXTAREA|SELECT)$/.test(target.tagName) || (target.tagName === "INPUT" && !/^(radio|checkbox)$/.test(target.type));
  }
  function press(key) {
    var target = document.querySelector('[data-key="' + key + '"]');
    if (!target) return false;
    if (target.tagName !== "DETAILS") { target.click(); return true; }
    target.open = !target.open;
    if (target.classList.contains("pop")) showPop(target);
    return true;
  }
  function openPop() { return document.querySelector("details.pop[open]"); }
  function showPop(pop) {
    var first = pop.open && pop.querySelector("input, textarea, select, div button");
    if (first) first.focus();
  }
  function closePop() {
    var pop = openPop();
    if (!pop) return false;
    pop.open = false;
    pop.querySelector("summary").focus();
    return true;
  }
  /* One question at a time. */
  document.addEventListener("toggle", function (event) {
    var pop = event.target;
    if (pop.matches && pop.matches("details.pop") && pop.open) all("details.pop[open]").forEach(function (other) { if (other !== pop) other.open = false; });
  }, true);

  /* ---------- quotes ---------- */
  function quote() {
    var crit = crits()[current()], picked = window.getSelection(), node = picked && picked.anchorNode;
    var text = picked ? picked.toString().replace(/\s+/g, " ").trim() : "";
    var from = node && (node.nodeType === 1 ? node : node.parentNode);
    if (!crit || !text || !from || !from.closest(".evid")) return false;
    var step = from.closest(".step[id]"), card = from.closest(".card[id]");
    var place = step ? "step " + step.id.slice(1) : card ? card.id : "task", box = reasonOf(crit);
    if (text.length > LONGEST_QUOTE) text = text.slice(0, LONGEST_QUOTE) + "…";
    box.value += (box.value && !/\n$/.test(box.value) ? "\n" : "") + "> " + place + ": “" + text + "”\n";
    box.dispatchEvent(new Event("input", { bubbles: true }));
    say("Quoted from " + place + ".");
    return true;
  }
  function cite() {
    var cited = {};
    if (isThird()) return;
    crits().forEach(function (crit, i) {
      (reasonOf(crit).value.match(/^> step \d+/gm) || []).forEach(function (line) {
        var seq = line.slice(7);
        (cited[seq] = cited[seq] || {})[i + 1] = true;
      });
    });
    all(".step[id]").forEach(function (step) {
      var by = Object.keys(cited[step.id.slice(1)] || {}), tag = step.querySelector("[data-cited]");
      step.classList.toggle("hit", by.length > 0);
      if (tag) tag.remove();
      if (!by.length) return;
      tag = document.createElement("span");
      tag.className = "tag acc";
      tag.setAttribute("data-cited", "");
      tag.textContent = "cited by criterion " + by.join(", ");
      step.querySelector(".what").appendChild(tag);
    });
  }
  function nextCited() {
    var hits = all(".step.hit");
    if (!hits.length) return false;
    var step = hits[(hits.indexOf(document.activeElement) + 1) % hits.length];
    step.tabIndex = -1;
    step.focus({ preventScroll: true });
    step.scrollIntoView({ block: "center" });
    return true;
  }

  /* ---------- keys ---------- */
  function act(key) {
    if (key === "j" || key === "k") return step(key === "j" ? 1 : -1);
    if (/^[-0-9x]$/.test(key)) return choose(key);
    if (isThird() && (key === "a" || key === "b")) return take(key);
    if (key === "w" && crits()[current()]) { reasonOf(crits()[current()]).focus(); return true; }
    if (key === "q") return quote();
    if (key === "n") return nextCited();
    return /^[gmursdev]$/.test(key) && press(key);
  }
  /* Up and down walk the questions, but scroll the evidence; left and right stay with the answers. */
  function arrow(event) {
    var by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0, at = event.target;
    if (!by || !form() || !(at === document.body || form().contains(at)) || at.closest("details.pop")) return false;
    return step(by);
  }
  document.addEventListener("keydown", function (event) {
    var send = form() && form().querySelector("[data-submit]");
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && send) { event.preventDefault(); send.click(); return; }
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "Escape" && closePop()) { event.preventDefault(); return; }
    if (event.key === "Escape" && isTyping(event.target) && form() && form().contains(event.target)) { focusOn(current(), true); return; }
    /* Enter in a field would press the first button of the form. */
    if (event.key === "Enter" && event.target.tagName === "INPUT" && event.target.form === form()) { event.preventDefault(); if (isNumber(event.target)) reasonOf(crits()[current()]).focus(); return; }
    if (isNumber(event.target) && arrow(event)) { event.preventDefault(); return; }
    if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (openPop() && openPop().contains(event.target) && !/^[sdev]$/.test(event.key)) return;
    var hasKeys = document.documentElement.getAttribute("data-keys") !== "off";
    if (arrow(event) || (hasKeys && act(event.key))) event.preventDefault();
  });
  /* A press of the mouse moves the place only when it ends, or the target would slip from under it. */
  var pressing = false;
  document.addEventListener("pointerdown", function () { pressing = true; });
  ["pointerup", "pointercancel"].forEach(function (name) {
    document.addEventListener(name, function () { window.setTimeout(function () { pressing = false; }, 0); });
  });
  function moveTo(event) {
    var crit = event.target.closest && event.target.closest("[data-crit]");
    if (crit && (event.type === "click" || !pressing)) focusOn(crits().indexOf(crit), false);
  }
  document.addEventListener("focusin", moveTo);
  document.addEventListener("click", moveTo);

  /* ---------- words are kept: on the server, and in this browser until they are there ---------- */
  var saved = "", sent = "", timer = null, isLeaving = false, isStale = false, lastSaid = 0;
  function words() {
    var kept = new URLSearchParams();
    new FormData(form()).forEach(function (value, name) { if (/^[vrcfnm]-/.test(name)) kept.append(name, value); });
    return kept.toString();
  }
  function shelf() { return "academy-draft:" + form().getAttribute("data-shelf"); }
  function keep() { store("set", shelf(), JSON.stringify({ revision: form().elements.revision.value, words: words() })); }
  function later(ms) { if (!timer && !isStale && !isPractice()) timer = window.setTimeout(save, ms); }
  function save() {
    timer = null;
    if (form() && words() !== saved) byId("autosave").dispatchEvent(new Event("save"));
  }
  function typed(event) {
    if (!form() || !form().contains(event.target) || !/^[vrcfnm]-/.test(event.target.name || "")) return;
    if (!isPractice()) keep();
    later(event.type === "change" ? 300 : SAVE_MS);
    if (isNumber(event.target)) settleNumber(event.target);
    refresh();
  }
  /* A number stands instead of "cannot tell". */
  function settleNumber(box) {
    if (box.value.trim()) all('input[name^="v-"]', box.closest("[data-crit]")).forEach(function (r) { r.checked = false; });
  }
  document.addEventListener("input", typed);
  document.addEventListener("change", typed);
  function refresh() {
    var counted = crits().filter(function (c) { return !isThird() || !c.closest("details"); }), done = counted.filter(isAnswered).length;
    if (!isThird()) crits().forEach(function (c) {
      c.classList.toggle("filled", Boolean(reasonOf(c).value.trim() || c.querySelector('input[name^="c-"]:checked')));
    });
    byId("answered").textContent = done;
    if (byId("left")) byId("left").textContent = counted.length - done;
    cite();
  }
  function put(text) {
    var kept = new URLSearchParams(text);
    all('input[type=radio], textarea, input[name^="n-"]', form()).forEach(function (field) {
      if (!/^[vrcfnm]-/.test(field.name)) return;
      if (field.type === "radio") field.checked = kept.get(field.name) === field.value;
      else field.value = kept.get(field.name) || "";
    });
    refresh();
    later(0);
  }
  function offer(text) {
    var note = document.createElement("p"), button = document.createElement("button"), label = document.createElement("span");
    note.className = "note warn";
    note.setAttribute("role", "status");
    label.textContent = "This browser has words of yours for this item that were not saved. ";
    button.type = "button";
    button.className = "btn";
    button.textContent = "Use them";
    button.addEventListener("click", function () { note.remove(); put(text); focusOn(current(), true); });
    note.append(label, button);
    form().insertBefore(note, byId("autosave").nextSibling);
  }
  function restore() {
    var kept = null;
    if (isPractice()) return;
    try { kept = JSON.parse(store("get", shelf())); } catch (e) { /* not ours */ }
    if (!kept || kept.words === words()) { store("remove", shelf()); return; }
    if (kept.revision === form().elements.revision.value) put(kept.words); else offer(kept.words);
  }
  /* An element that was swapped away is still named by the request. */
  function isAutosave(event) { return event.detail.requestConfig.elt.id === "autosave"; }
  function leaves(event) { return event.detail.requestConfig.elt.closest("#verdict, [form]") && !isAutosave(event); }
  document.addEventListener("htmx:beforeRequest", function (event) {
    if (isLeaving) event.preventDefault();
    else if (isAutosave(event)) sent = words();
    else if (leaves(event)) isLeaving = true;
  });
  document.addEventListener("htmx:oobAfterSwap", tick);
  document.addEventListener("htmx:afterRequest", function (event) {
    var status = event.detail.xhr.status;
    if (leaves(event)) {
      /* What an overtaken window says may be nowhere else. */
      if (status !== 204) isLeaving = false;
      else if (!isStale) store("remove", shelf());
      return;
    }
    if (!isAutosave(event) || !form()) return;
    isStale = status === 409;
    if (isStale) { say("A newer draft was saved in another window. Nothing was overwritten."); return; }
    if (!event.detail.successful) { if (status === 0 || status >= 500) later(RETRY_MS); return; }
    saved = sent;
    if (Date.now() - lastSaid > 10000) { lastSaid = Date.now(); say(byId("saved").textContent.trim()); }
    if (words() === saved) store("remove", shelf()); else { keep(); later(SAVE_MS); }
  });
  document.addEventListener("htmx:afterSettle", function (event) {
    if (event.detail.target.id === "steps" || byId("steps") === event.detail.elt) cite();
    if (event.detail.elt !== form()) return;
    saved = words();
    isStale = Boolean(form().querySelector(".note.warn[role=alert]"));
    arrange();
    showWrong();
  });

  function showWrong() {
    var wrong = crits().findIndex(function (c) { return c.classList.contains("wrong"); });
    if (wrong < 0) { showNote(); return; }
    focusOn(wrong, true);
    if (isAnswered(crits()[wrong])) reasonOf(crits()[wrong]).focus();
  }

  function showNote() {
    var note = form().querySelector(".note[role=alert]");
    if (note) { note.tabIndex = -1; note.focus(); }
  }

  /* ---------- clocks, by the server's time ---------- */
  var skew = null, told = {};
  function secondsLeft(box) {
    if (box.hasAttribute("data-now")) {
      skew = new Date(box.getAttribute("data-now")) - Date.now();
      box.removeAttribute("data-now");
    }
    return Math.round((new Date(box.getAttribute("data-until")) - Date.now() - skew) / 1000);
  }
  function showLease(box) {
    var left = secondsLeft(box), out = box.querySelector("[data-left]");
    out.textContent = left > 0 ? "held " + Math.floor(left / 60) + ":" + ("0" + (left % 60)).slice(-2) : "hold ended; saved words are kept";
    [300, 60, 0].forEach(function (mark) {
      if (left > mark) told[mark] = false;
      else if (left > mark - 30 && !told[mark]) { told[mark] = true; say(mark ? "Your hold on this item ends in " + mark / 60 + (mark > 60 ? " minutes." : " minute.") : "Your hold on this item ended. Saved words are kept."); }
    });
  }
  function showUndo(box) {
    var left = secondsLeft(box);
    if (left <= 0) { if (!box.contains(document.activeElement) && !box.matches(":hover")) { box.remove(); return; } }
    box.querySelector("[data-left]").textContent = left > 0 ? left + " s" : "time is over";
  }
  function tick() {
    var lease = byId("lease"), undo = byId("undo");
    if (lease && lease.hasAttribute("data-until")) showLease(lease);
    if (undo) showUndo(undo);
  }

  function arrange() {
    var box = byId("advance");
    if (box) {
      box.checked = store("get", "academy-advance") !== "off";
      box.addEventListener("change", function () { store("set", "academy-advance", box.checked ? "on" : "off"); });
    }
    refresh();
  }
  document.addEventListener("DOMContentLoaded", function () {
    tick();
    window.setInterval(tick, 1000);
    if (byId("undo")) say(byId("undo").querySelector("span").textContent + ". Press u to undo.");
    if (form()) {
      saved = words();
      arrange();
      restore();
    }
    if (form() && location.hash === "#undone") focusOn(0, true);
    else if (byId("item")) byId("item").focus({ preventScroll: true });
  });
})();
