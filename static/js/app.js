/* What htmx does not do by itself: say what failed, keep lists announced, copy an address. Every page works without. */
(function () {
  function problem(text) {
    var box = document.getElementById("problem");
    if (!box) return;
    box.textContent = text;
    box.hidden = false;
    window.setTimeout(function () { box.hidden = true; }, 12000);
  }
  function copied(button) {
    var say = document.getElementById("say"), label = button.textContent;
    if (say) say.textContent = button.getAttribute("data-copied");
    button.textContent = "Copied";
    window.setTimeout(function () { button.textContent = label; }, 2000);
  }
  document.addEventListener("click", function (event) {
    var button = event.target.closest("[data-copy]");
    if (!button || button.textContent === "Copied") return;
    // Only a secure page may write to the clipboard; elsewhere the address is there to be marked.
    if (!navigator.clipboard) { problem("The browser does not let this page copy. The address stands beside the button."); return; }
    navigator.clipboard.writeText(button.getAttribute("data-copy")).then(function () { copied(button); }, function () {
      problem("The browser did not copy. The address stands beside the button.");
    });
  });
  document.addEventListener("htmx:sendError", function () {
    problem("The server did not answer. Nothing you typed is lost; try again in a moment.");
  });
  document.addEventListener("htmx:responseError", function (event) {
    var status = event.detail.xhr.status;
    if (status === 404) problem("This is gone, or not yours to see. Reload the page.");
    else if (status === 403) problem("You are signed out. Sign in again in another tab; this page keeps your words.");
    else problem("The server could not do that (" + status + "). Nothing you typed is lost; try again.");
  });
  document.addEventListener("htmx:afterSwap", function (event) {
    var said = event.detail.target.querySelector("[data-say]"), say = document.getElementById("say");
    if (said && say) say.textContent = said.getAttribute("data-say");
  });
})();
