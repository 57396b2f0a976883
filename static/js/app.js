/* What htmx does not do by itself: say what failed, and keep lists announced. Every page works without. */
(function () {
  function problem(text) {
    var box = document.getElementById("problem");
    if (!box) return;
    box.textContent = text;
    box.hidden = false;
    window.setTimeout(function () { box.hidden = true; }, 12000);
  }
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
