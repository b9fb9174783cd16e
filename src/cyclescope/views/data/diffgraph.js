(function () {
  "use strict";
  var svg = document.currentScript.closest("svg");
  var alone = svg === document.documentElement;
  var margin = 10, letter = 7.23, width = 0;
  var part = function (name) { return svg.querySelector("[data-part='" + name + "']"); };
  var details = part("details"), holder = part("search"), hint = part("hint"), page = part("page");
  var panels = Array.from(svg.querySelectorAll("g.panel"), function (group) {
    var ids = new Map();
    var boxes = Array.from(group.querySelectorAll("g.b"), function (g, index) {
      ids.set(g.dataset.id, index);
      var about = g.querySelector("title").textContent;
      return {
        g: g, rect: g.querySelector("rect"), text: g.querySelector("text"), about: about,
        name: about.split("\n")[0], x: Number(g.dataset.x), w: Number(g.dataset.w),
        depth: Number(g.dataset.d), to: g.dataset.to, last: index, parent: -1
      };
    });
    // Boxes stand depth first: what follows a box and is deeper lies above it.
    boxes.forEach(function (box, index) {
      var up = index - 1;
      while (up >= 0 && boxes[up].depth >= box.depth) { up = boxes[up].parent; }
      box.parent = up;
      for (var a = up; a >= 0; a = boxes[a].parent) { boxes[a].last = index; }
    });
    return { boxes: boxes, ids: ids, zoomed: -1 };
  });

  function clip(text, room) {
    var all = Array.from(text);
    return all.length <= room ? text : all.slice(0, Math.max(room - 1, 0)).join("") + "\u2026";
  }
  function draw(panel, span) {
    var top = panel.zoomed < 0 ? null : panel.boxes[panel.zoomed], above = new Set();
    for (var a = top ? top.parent : -1; a >= 0; a = panel.boxes[a].parent) { above.add(a); }
    var scale = (width - 2 * margin) / span;
    panel.boxes.forEach(function (box, index) {
      var over = above.has(index);
      var inside = !top || (index >= panel.zoomed && index <= top.last);
      box.g.classList.toggle("off", !inside && !over);
      box.g.classList.toggle("above", over);
      if (!inside && !over) { return; }
      var x = over ? margin : margin + (box.x - (top ? top.x : 0)) * scale;
      var w = over ? width - 2 * margin : box.w * scale;
      box.rect.setAttribute("x", x.toFixed(2));
      box.rect.setAttribute("width", Math.max(w, 0.1).toFixed(2));
      if (!box.text) {
        box.text = document.createElementNS("http://www.w3.org/2000/svg", "text");
        box.text.setAttribute("y", Number(box.rect.getAttribute("y")) + 13);
        box.g.appendChild(box.text);
      }
      var room = Math.floor((w - 6) / letter);
      box.text.textContent = room < 3 ? "" : clip(box.name, room);
      box.text.setAttribute("x", (x + 3).toFixed(2));
    });
  }
  function redraw() {
    // One scale for both pictures, zoomed or not.
    var span = 0;
    panels.forEach(function (panel) {
      if (panel.zoomed >= 0) { span = Math.max(span, panel.boxes[panel.zoomed].w); }
    });
    panels.forEach(function (panel) { draw(panel, span || 1); });
  }
  function twin(panel, box) {
    var other = panels[panel === panels[0] ? 1 : 0];
    return box.to !== undefined && other.ids.has(box.to) ? other.ids.get(box.to) : -1;
  }
  function reset() {
    panels.forEach(function (panel) { panel.zoomed = -1; });
    redraw();
  }
  function resize() {
    var now = alone ? Math.max(window.innerWidth, 640) : svg.clientWidth;
    if (!now || now === width) { return; }
    width = now;
    svg.setAttribute("width", width);
    svg.setAttribute("viewBox", "0 0 " + width + " " + svg.getAttribute("height"));
    page.setAttribute("width", width);
    holder.setAttribute("x", width - margin - Number(holder.getAttribute("width")));
    redraw();
  }
  function search(text, input) {
    var pattern = null;
    try { pattern = text ? new RegExp(text, "i") : null; } catch (error) {
      input.classList.add("bad");
      return;
    }
    input.classList.remove("bad");
    svg.classList.toggle("searched", pattern !== null);
    panels.forEach(function (panel) {
      panel.boxes.forEach(function (box) {
        box.g.classList.toggle("hit", pattern !== null && pattern.test(box.name));
      });
    });
  }

  panels.forEach(function (panel) {
    var other = panels[panel === panels[0] ? 1 : 0];
    panel.boxes.forEach(function (box, index) {
      var pair = twin(panel, box);
      box.g.addEventListener("click", function () {
        panel.zoomed = index;
        other.zoomed = pair;
        redraw();
      });
      box.g.addEventListener("mouseenter", function () {
        details.textContent = box.about.replace(/\n/g, "  \u00b7  ");
        if (pair >= 0) { other.boxes[pair].g.classList.add("twin"); }
      });
      box.g.addEventListener("mouseleave", function () {
        details.textContent = "";
        if (pair >= 0) { other.boxes[pair].g.classList.remove("twin"); }
      });
    });
  });
  var input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
  input.setAttribute("placeholder", "search: regular expression   ( / )");
  input.setAttribute("type", "search");
  input.addEventListener("input", function () { search(input.value, input); });
  holder.appendChild(input);
  window.addEventListener("keydown", function (event) {
    if (event.key === "Escape") {
      input.value = "";
      search("", input);
      input.blur();
      reset();
    } else if (event.key === "/" && document.activeElement !== input && alone) {
      event.preventDefault();
      input.focus();
    }
  });
  window.addEventListener("resize", resize);
  hint.textContent = hint.dataset.live;
  svg.classList.add("live");
  resize();
}());
