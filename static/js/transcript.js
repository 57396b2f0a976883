/* Keys of a transcript outside review. Every act is a link or a form and works without this file. */
(function () {
  function isTyping(target) {
    return /^(TEXTAREA|SELECT)$/.test(target.tagName) || (target.tagName === "INPUT" && !/^(radio|checkbox)$/.test(target.type));
  }
  function move(by) {
    var steps = Array.prototype.slice.call(document.querySelectorAll("#steps article.step"));
    if (!steps.length) return false;
    var here = steps.indexOf(document.activeElement && document.activeElement.closest("article.step"));
    var next = here < 0 ? (by > 0 ? 0 : -1) : here + by;
    if (next >= steps.length || next < 0) {
      var link = document.getElementById(next < 0 ? "steps-less" : "steps-more");
      if (link) link.focus();
      return Boolean(link);
    }
    steps[next].focus({ preventScroll: true });
    steps[next].scrollIntoView({ block: "nearest" });
    return true;
  }
  function press(id) {
    var link = document.getElementById(id);
    if (link) link.click();
    return Boolean(link);
  }
  document.addEventListener("keydown", function (event) {
    if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") || document.documentElement.getAttribute("data-keys") === "off") return;
    var field = document.getElementById("steps-q"), did = false;
    if (event.key === "j" || event.key === "k") did = move(event.key === "j" ? 1 : -1);
    else if (event.key === "n") did = press("match-next");
    else if (event.key === "p") did = press("match-previous");
    else if (event.key === "f" && field) { field.focus(); field.select(); did = true; }
    if (did) event.preventDefault();
  });
})();
