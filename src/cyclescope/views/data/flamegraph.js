(function () {
  "use strict";
  var svg = document.currentScript.closest("svg");
  var boxes = flameBoxes.read(svg);
  if (!boxes.length) { return; }
  var zoomed = 0, width = 0;
  var part = function (name) { return svg.querySelector("[data-part='" + name + "']"); };
  var reset = part("reset"), found = part("found");

  function draw() {
    flameBoxes.draw(boxes, zoomed, boxes[zoomed].w, width);
    reset.classList.toggle("off", zoomed === 0);
  }
  function zoom(index) { zoomed = index; draw(); }
  function told(what) {
    var hits = 0, share = 0, until = -1;
    boxes.forEach(function (box, index) {
      if (!box.g.classList.contains("hit")) { return; }
      hits += 1;
      if (index > until) { share += box.w; until = box.last; }
    });
    found.textContent = what === "none" ? "" : what === "wrong" ? "not a regular expression" :
      hits + (hits === 1 ? " box, " : " boxes, ") + (100 * share / boxes[0].w).toFixed(1) + " % of the width";
  }

  boxes.forEach(function (box, index) {
    box.shown = box.g.dataset.name;
    box.g.addEventListener("click", function () { zoom(index); });
    flameBoxes.details(svg, box);
  });
  reset.addEventListener("click", function () { zoom(0); });
  reset.setAttribute("role", "button");
  reset.setAttribute("tabindex", "0");
  reset.addEventListener("keydown", function (event) {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); zoom(0); }
  });
  flameBoxes.live(svg, [boxes], function (now) {
    width = now;
    [reset, found].forEach(function (e) { e.setAttribute("x", width - flameBoxes.margin); });
    draw();
  }, function () { zoom(0); }, told);
}());
