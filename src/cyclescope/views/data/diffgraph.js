(function () {
  "use strict";
  var svg = document.currentScript.closest("svg"), width = 0;
  var panels = Array.from(svg.querySelectorAll("g.panel"), function (group) {
    var boxes = flameBoxes.read(group), ids = new Map();
    boxes.forEach(function (box, index) { ids.set(box.g.dataset.id, index); });
    return { boxes: boxes, ids: ids, zoomed: -1 };
  });

  function redraw() {
    // One scale for both pictures, zoomed or not.
    var span = 0;
    panels.forEach(function (panel) {
      if (panel.zoomed >= 0) { span = Math.max(span, panel.boxes[panel.zoomed].w); }
    });
    panels.forEach(function (panel) {
      flameBoxes.draw(panel.boxes, panel.zoomed, span || 1, width);
    });
  }
  function reset() {
    panels.forEach(function (panel) { panel.zoomed = -1; });
    redraw();
  }

  panels.forEach(function (panel) {
    var other = panels[panel === panels[0] ? 1 : 0];
    panel.boxes.forEach(function (box, index) {
      var to = box.g.dataset.to;
      var pair = to !== undefined && other.ids.has(to) ? other.ids.get(to) : -1;
      box.g.addEventListener("click", function () {
        panel.zoomed = index;
        other.zoomed = pair;
        redraw();
      });
      flameBoxes.details(svg, box, function (on) {
        if (pair >= 0) { other.boxes[pair].g.classList.toggle("twin", on); }
      });
    });
  });
  flameBoxes.live(svg, panels.map(function (panel) { return panel.boxes; }), function (now) {
    width = now;
    redraw();
  }, reset, function () {});
}());
