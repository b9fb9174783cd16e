// What flame graphs in SVG have in common: boxes that zoom, a search, a picture as wide as its window.
var flameBoxes = (function () {
  "use strict";
  var margin = 10, letter = 7.23;

  // The boxes within an element, as a tree. They stand depth first: what follows one and is deeper
  // lies above it.
  function read(within) {
    var boxes = Array.from(within.querySelectorAll("g.b"), function (g) {
      var about = g.querySelector("title").textContent;
      return {
        g: g, rect: g.querySelector("rect"), text: g.querySelector("text"), about: about,
        name: about.split("\n")[0], x: Number(g.dataset.x), w: Number(g.dataset.w),
        depth: Number(g.dataset.d), last: -1, parent: -1
      };
    });
    boxes.forEach(function (box, index) {
      var up = index - 1;
      while (up >= 0 && boxes[up].depth >= box.depth) { up = boxes[up].parent; }
      box.parent = up;
      box.last = index;
      for (var a = up; a >= 0; a = boxes[a].parent) { boxes[a].last = index; }
    });
    return boxes;
  }
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
  // Draws boxes in a picture of that width, of which the inside shows `span`; -1: none is zoomed.
  function draw(boxes, zoomed, span, width) {
    var top = zoomed < 0 ? null : boxes[zoomed], above = new Set();
    for (var a = top ? top.parent : -1; a >= 0; a = boxes[a].parent) { above.add(a); }
    var scale = (width - 2 * margin) / span;
    boxes.forEach(function (box, index) {
      var inside = !top || (index >= zoomed && index <= top.last), over = above.has(index);
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
      if (box.text.getAttribute("aria-hidden") === null) {
        box.text.setAttribute("aria-hidden", "true"); // its box says the whole name
      }
      var room = Math.floor((w - 6) / letter);
      box.text.textContent = room < 3 ? "" : clip(box.shown || box.name, room);
      box.text.setAttribute("x", (x + 3).toFixed(2));
    });
    if (boxes.drawn) { boxes.drawn(); }
  }
  function details(svg, box, more) {
    var line = svg.querySelector("[data-part='details']");
    var on = function () {
      line.textContent = box.about.replace(/\n/g, "  \u00b7  ");
      if (more) { more(true); }
    };
    var off = function () {
      line.textContent = "";
      if (more) { more(false); }
    };
    box.g.addEventListener("mouseenter", on);
    box.g.addEventListener("focus", on);
    box.g.addEventListener("mouseleave", off);
    box.g.addEventListener("blur", off);
  }
  // Makes a tree of boxes one tab stop: arrows go from box to box, Enter presses one.
  function walk(boxes) {
    var here = 0, y = function (box) { return Number(box.rect.getAttribute("y")); };
    var drawn = function (box) { return box && !box.g.classList.contains("off"); };
    var stop = function (index, focus) {
      boxes[here].g.setAttribute("tabindex", "-1");
      here = index;
      boxes[here].g.setAttribute("tabindex", "0");
      if (focus) { boxes[here].g.focus(); }
    };
    var up = function (from) {
      return boxes.findIndex(function (box, index) { return index > from && box.parent === from && drawn(box); });
    };
    var beside = function (from, step) {
      for (var to = from + step; to >= 0 && to < boxes.length; to += step) {
        if (boxes[to].depth === boxes[from].depth && drawn(boxes[to])) { return to; }
      }
      return -1;
    };
    if (!boxes.length) { return; }
    // Callers are at the foot, or on top.
    var high = boxes.some(function (box) { return box.parent >= 0 && y(box) > y(boxes[box.parent]); });
    boxes.forEach(function (box, index) {
      box.g.setAttribute("role", "button");
      box.g.setAttribute("tabindex", index ? "-1" : "0");
      box.g.addEventListener("focus", function () { stop(index, false); });
      box.g.addEventListener("keydown", function (event) {
        var keys = {
          ArrowUp: function () { return high ? boxes[index].parent : up(index); },
          ArrowDown: function () { return high ? up(index) : boxes[index].parent; },
          ArrowLeft: function () { return beside(index, -1); },
          ArrowRight: function () { return beside(index, 1); },
          Home: function () { return 0; }
        };
        if (event.key === "Enter" || event.key === " ") {
          box.g.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        } else if (keys[event.key]) {
          var to = keys[event.key]();
          if (to >= 0 && drawn(boxes[to])) { stop(to, true); }
        } else { return; }
        event.preventDefault();
      });
    });
    // What is no longer drawn cannot be gone to.
    boxes.drawn = function () {
      if (!drawn(boxes[here])) { stop(boxes.findIndex(drawn), false); }
    };
  }
  // Marks what a regular expression finds. `none`, `wrong` or the indices of hits go to `told`.
  function mark(svg, boxes, text, input, told) {
    var pattern = null;
    try { pattern = text ? new RegExp(text, "i") : null; } catch (error) {
      input.classList.add("bad");
      told("wrong", boxes);
      return;
    }
    input.classList.remove("bad");
    svg.classList.toggle("searched", pattern !== null);
    boxes.forEach(function (box) {
      box.g.classList.toggle("hit", pattern !== null && pattern.test(box.name));
    });
    told(pattern === null ? "none" : "found", boxes);
  }
  // Makes a picture live: search field, keys, width. `redraw(width)` and `reset()` are its own.
  function live(svg, trees, redraw, reset, told) {
    var alone = svg === document.documentElement, width = 0;
    var part = function (name) { return svg.querySelector("[data-part='" + name + "']"); };
    var holder = part("search"), hint = part("hint");
    var input = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
    trees.forEach(walk);
    var search = function () {
      trees.forEach(function (boxes) { mark(svg, boxes, input.value, input, told); });
    };
    var resize = function () {
      var now = alone ? Math.max(window.innerWidth, 640) : svg.clientWidth;
      if (!now || now === width) { return; }
      width = now;
      svg.setAttribute("width", width);
      svg.setAttribute("viewBox", "0 0 " + width + " " + svg.getAttribute("height"));
      part("page").setAttribute("width", width);
      holder.setAttribute("x", width - margin - Number(holder.getAttribute("width")));
      redraw(width);
    };
    input.setAttribute("placeholder", "search: regular expression   ( / )");
    input.setAttribute("type", "search");
    input.setAttribute("aria-label", "Search the graph: a regular expression");
    input.addEventListener("input", search);
    holder.appendChild(input);
    window.addEventListener("keydown", function (event) {
      if (event.key === "Escape") {
        input.value = "";
        search();
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
  }
  return { margin: margin, read: read, draw: draw, details: details, live: live };
}());
