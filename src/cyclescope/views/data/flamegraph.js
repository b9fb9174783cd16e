(function () {
  "use strict";
  var svg = document.currentScript.closest("svg");
  var alone = svg === document.documentElement;
  var margin = 10, letter = 7.23;
  var boxes = Array.from(svg.querySelectorAll("g.b"), function (g) {
    var title = g.querySelector("title").textContent;
    return {
      g: g, rect: g.querySelector("rect"), text: g.querySelector("text"), about: title,
      name: g.dataset.name || title.split("\n")[0],
      x: Number(g.dataset.x), w: Number(g.dataset.w), depth: Number(g.dataset.d)
    };
  });
  if (!boxes.length) { return; }
  // Boxes stand depth first: what follows a box and is deeper lies above it.
  boxes.forEach(function (box, index) {
    box.last = index;
    var up = index - 1;
    while (up >= 0 && boxes[up].depth >= box.depth) { up = boxes[up].parent; }
    box.parent = up;
    for (var a = up; a >= 0; a = boxes[a].parent) { boxes[a].last = index; }
  });
  var zoomed = 0, width = 0;
  var part = function (name) { return svg.querySelector("[data-part='" + name + "']"); };
  var details = part("details"), reset = part("reset"), found = part("found"), hint = part("hint");
  var page = part("page"), holder = part("search");

  function columns(text) {
    var n = 0;
    Array.from(text).forEach(function (c) { n += c.codePointAt(0) >= 0x1100 ? 2 : 1; });
    return n;
  }
  function clip(text, room) {
    if (columns(text) <= room) { return text; }
    var kept = "", used = 1, all = Array.from(text);
    for (var i = 0; i < all.length; i += 1) {
      used += columns(all[i]);
      if (used > room) { break; }
      kept += all[i];
    }
    return kept + "\u2026";
  }
  function draw() {
    var top = boxes[zoomed], scale = (width - 2 * margin) / top.w, above = new Set();
    for (var a = top.parent; a >= 0; a = boxes[a].parent) { above.add(a); }
    boxes.forEach(function (box, index) {
      var inside = index >= zoomed && index <= top.last, over = above.has(index);
      box.g.classList.toggle("off", !inside && !over);
      box.g.classList.toggle("above", over);
      if (!inside && !over) { return; }
      var x = over ? margin : margin + (box.x - top.x) * scale;
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
    reset.classList.toggle("off", zoomed === 0);
  }
  function zoom(index) { zoomed = index; draw(); }
  function resize() {
    var now = alone ? Math.max(window.innerWidth, 640) : svg.clientWidth;
    if (!now || now === width) { return; }
    width = now;
    svg.setAttribute("width", width);
    svg.setAttribute("viewBox", "0 0 " + width + " " + svg.getAttribute("height"));
    page.setAttribute("width", width);
    holder.setAttribute("x", width - margin - Number(holder.getAttribute("width")));
    [reset, found].forEach(function (e) { e.setAttribute("x", width - margin); });
    draw();
  }
  function search(text, input) {
    var pattern = null;
    try {
      pattern = text ? new RegExp(text, "i") : null;
      if (input) { input.classList.remove("bad"); }
    } catch (error) {
      if (input) { input.classList.add("bad"); }
      found.textContent = "not a regular expression";
      return;
    }
    var hits = 0, share = 0, until = -1;
    boxes.forEach(function (box, index) {
      var hit = pattern !== null && pattern.test(box.about.split("\n")[0]);
      box.g.classList.toggle("hit", hit);
      if (!hit) { return; }
      hits += 1;
      if (index > until) { share += box.w; until = box.last; }
    });
    svg.classList.toggle("searched", pattern !== null);
    found.textContent = pattern === null ? "" :
      hits + (hits === 1 ? " box, " : " boxes, ") + (100 * share / boxes[0].w).toFixed(1) + " % of the width";
  }

  boxes.forEach(function (box, index) {
    box.g.addEventListener("click", function () { zoom(index); });
    box.g.addEventListener("mouseenter", function () {
      details.textContent = box.about.replace(/\n/g, "  \u00b7  ");
    });
    box.g.addEventListener("mouseleave", function () { details.textContent = ""; });
  });
  reset.addEventListener("click", function () { zoom(0); });
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
      zoom(0);
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
