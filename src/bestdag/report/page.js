
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const facts = JSON.parse(byId("facts").textContent);
  const svg = byId("picture").querySelector("svg");
  const nodes = [...svg.querySelectorAll(".node")];
  const arcs = [...svg.querySelectorAll(".arc")];
  const aside = byId("node"), tip = byId("tip"), find = byId("find"), found = byId("found");
  const names = facts.nodes.map((node) => node.name);

  // Text goes into the page as text, never as marks.
  const made = (tag, text, parent, kind) => {
    const one = document.createElement(tag);
    if (text !== undefined && text !== null) one.textContent = text;
    if (kind) one.className = kind;
    if (parent) parent.append(one);
    return one;
  };
  const READABLE = 0.7; // pixels for each length of the picture
  const number = (value) => (typeof value === "number" ? value.toFixed(6) : value);

  svg.setAttribute("role", "group"); // not one image: its nodes can be chosen

  // The window on the picture: its corner and size in the picture's own lengths.
  const whole = svg.getAttribute("viewBox").split(" ").map(Number);
  let [x, y, width, height] = whole;
  const show = () => svg.setAttribute("viewBox", [x, y, width, height].join(" "));
  const showAll = () => { [x, y, width, height] = whole; show(); };
  const zoom = (factor, cx = x + width / 2, cy = y + height / 2) => {
    const wanted = Math.min(whole[2] * 2, Math.max(60, width * factor));
    const by = wanted / width;
    x = cx - (cx - x) * by; y = cy - (cy - y) * by;
    width *= by; height *= by;
    show();
  };
  const place = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY);
    return point.matrixTransform(svg.getScreenCTM().inverse());
  };
  const middle = (k) => {
    const box = nodes[k].querySelector("rect");
    const at = (name) => Number(box.getAttribute(name));
    return [at("x") + at("width") / 2, at("y") + at("height") / 2];
  };
  // Bring a node into the window; from afar, near enough to read its name.
  const reveal = (k, isNear = false) => {
    if (!nodes[k]) return; // the graph could not be drawn
    const [cx, cy] = middle(k);
    const size = svg.getBoundingClientRect();
    const scale = Math.min(size.width / width, size.height / height);
    if (isNear && scale < READABLE) {
      width *= scale / READABLE; height *= scale / READABLE;
      x = cx - width / 2; y = cy - height / 2; show();
    } else if (cx < x || cx > x + width || cy < y || cy > y + height) {
      x = cx - width / 2; y = cy - height / 2; show();
    }
  };

  // What a family scores, and how that comes about.
  const arithmetic = (k) => {
    const node = facts.nodes[k];
    const given = node.parents.map((p) => names[p]).join(", ") || "no parents";
    const lines = [`${node.name} given ${given}`];
    if (node.score === undefined) return lines;
    lines.push(`${facts.score}: ${number(node.score)} nats`);
    node.terms.forEach(([label, value], n) => lines.push(`${n ? "+ " : "= "}${number(value)}  ${label}`));
    lines.push(`${Number(node.rows.toFixed(2))} rows, ${node.seen} of ${node.configurations} configurations seen`);
    return lines;
  };
  const showTip = (k, left, top) => {
    tip.textContent = arithmetic(k).join("\n");
    tip.hidden = false;
    const size = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(left + 14, innerWidth - size.width - 4))}px`;
    tip.style.top = `${Math.max(4, top + 18 + size.height > innerHeight ? top - size.height - 10 : top + 18)}px`;
  };
  const hideTip = () => { tip.hidden = true; };

  // What if: evidence, a state for some variables, and the distributions that follow. The junction
  // tree is set up at the first click; until then they are those of the fitted network.
  const evidence = new Map(), said = byId("known"), listed = byId("evidence"), forget = byId("forget");
  let answer = null, bars = [];
  const distributions = () => {
    if (!evidence.size) return facts.nodes.map((node) => node.marginal);
    answer = answer || answering(facts.model);
    return answer(evidence);
  };
  const update = () => {
    const found = distributions();
    bars = bars.filter(({ bar }) => bar.isConnected);
    bars.forEach(({ v, s, button, bar, text }) => {
      const share = found ? found[v][s] : 0;
      if (button) button.setAttribute("aria-pressed", String(evidence.get(v) === s));
      bar.style.width = `${100 * share}%`;
      text.textContent = found ? share.toPrecision(3) : "";
    });
    nodes.forEach((one, v) => one.classList.toggle("known", evidence.has(v)));
    if (!facts.model) return;
    said.textContent = found ? "" : "These states cannot occur together; remove one of them.";
    const items = [...evidence].map(([v, s]) => `${names[v]} = ${facts.nodes[v].states[s]}`);
    listed.textContent = items.length ? `Evidence: ${items.join(", ")}` : "";
    forget.hidden = !items.length;
  };
  // A bar for each state; a click on a state sets it as evidence, or takes it back.
  const states = (v, parent) => facts.nodes[v].states.forEach((state, s) => {
    const row = made("div", null, parent, "bar");
    const button = facts.model ? made("button", state, row) : null;
    if (!button) made("span", state, row);
    else {
      button.type = "button";
      button.onclick = () => {
        if (evidence.get(v) === s) evidence.delete(v); else evidence.set(v, s);
        update();
      };
    }
    bars.push({ v, s, button, bar: made("i", null, made("span", null, row)), text: made("span", null, row, "n") });
  });

  // A chosen node: its neighbours stand out, its numbers are beside the picture.
  const links = (title, group) => {
    if (!group.length) return;
    made("h3", title, aside);
    group.forEach((k) => { made("button", names[k], aside).onclick = () => { choose(k, true); nodes[k]?.focus(); }; });
  };
  const choose = (k, isNear = false) => {
    const node = facts.nodes[k], near = new Set([k, ...node.parents, ...node.children]);
    svg.classList.add("fades");
    nodes.forEach((one, n) => {
      one.classList.toggle("near", near.has(n));
      one.classList.toggle("chosen", n === k);
    });
    arcs.forEach((arc) => {
      const ends = [Number(arc.dataset.start), Number(arc.dataset.end)];
      arc.classList.toggle("near", ends.includes(k));
    });
    aside.replaceChildren();
    made("h2", node.name, aside);
    if (node.marginal) {
      if (!facts.model) made("p", `Probabilities ${facts.where}:`, aside);
      states(k, aside);
    }
    links("Parents", node.parents);
    links("Children", node.children);
    if (node.table) conditional(node);
    if (node.score !== undefined) {
      const folded = made("details", null, aside);
      made("summary", "Score of this family", folded);
      arithmetic(k).slice(1).forEach((line) => made("div", line, folded));
    }
    cards.forEach((card, n) => { card.hidden = n === k; });
    update();
    aside.parentElement.scrollTop = 0;
    reveal(k, isNear);
  };
  const conditional = (node) => {
    made("h3", node.parents.length ? "Probabilities given its parents" : "Probabilities", aside);
    const table = made("table", null, made("div", null, aside, "wide"));
    const head = made("tr", null, made("thead", null, table));
    node.table.parents.forEach((name) => made("th", name, head));
    node.states.forEach((state) => made("th", state, head, "n"));
    const body = made("tbody", null, table);
    node.table.rows.forEach(([labels, numbers]) => {
      const row = made("tr", null, body);
      labels.forEach((label) => made("td", label, row));
      numbers.forEach((value) => made("td", value.toPrecision(4), row, "n"));
    });
    if (node.table.more) made("p", `... and ${node.table.more} more rows`, aside);
  };
  const clear = () => {
    svg.classList.remove("fades");
    nodes.forEach((one) => one.classList.remove("chosen", "near"));
    aside.replaceChildren();
    cards.forEach((card) => { card.hidden = false; });
  };

  nodes.forEach((one, k) => {
    one.setAttribute("tabindex", "0");
    one.setAttribute("role", "button");
    one.setAttribute("aria-label", arithmetic(k).slice(0, 2).join(". "));
    one.addEventListener("pointermove", (event) => { if (event.pointerType !== "touch") showTip(k, event.clientX, event.clientY); });
    one.addEventListener("pointerleave", hideTip);
    one.addEventListener("click", () => choose(k));
    one.addEventListener("focus", () => {
      if (!one.matches(":focus-visible")) return;
      reveal(k);
      const box = one.getBoundingClientRect();
      showTip(k, box.left, box.bottom);
    });
    one.addEventListener("blur", hideTip);
  });

  // The nearest node in a direction, for the arrow keys.
  const ways = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
  const next = (k, [dx, dy]) => {
    const [ax, ay] = middle(k);
    let best = -1, least = Infinity;
    nodes.forEach((_, n) => {
      const [bx, by] = middle(n);
      const along = (bx - ax) * dx + (by - ay) * dy;
      const aside_ = Math.abs((bx - ax) * dy) + Math.abs((by - ay) * dx);
      if (n !== k && along > 1 && along + 2 * aside_ < least) { least = along + 2 * aside_; best = n; }
    });
    return best;
  };
  svg.addEventListener("keydown", (event) => {
    const k = nodes.indexOf(event.target.closest(".node"));
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in ways && k >= 0) {
      const n = next(k, ways[event.key]);
      if (n >= 0) nodes[n].focus();
    } else if ((event.key === "Enter" || event.key === " ") && k >= 0) choose(k, true);
    else if (event.key === "+" || event.key === "=") zoom(0.8);
    else if (event.key === "-") zoom(1.25);
    else if (event.key === "0") showAll();
    else if (event.key === "Escape") { hideTip(); clear(); }
    else return;
    event.preventDefault();
  });
  byId("closer").onclick = () => zoom(0.8);
  byId("farther").onclick = () => zoom(1.25);
  byId("whole").onclick = () => { showAll(); clear(); };

  // Dragging moves the picture; two fingers, or the wheel with Ctrl, zoom.
  const fingers = new Map();
  let moved = false;
  svg.addEventListener("pointerdown", (event) => { fingers.set(event.pointerId, event); moved = false; });
  svg.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    if (fingers.size === 1) {
      const from = place(before), to = place(event);
      if (Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY) > 3 || moved) {
        moved = true;
        x -= to.x - from.x; y -= to.y - from.y;
        show();
        fingers.set(event.pointerId, event);
      }
      return;
    }
    const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
    const far = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    const at = place(other);
    moved = true;
    zoom(far(before) / Math.max(1, far(event)), at.x, at.y);
    fingers.set(event.pointerId, event);
  });
  const lift = (event) => fingers.delete(event.pointerId);
  ["pointerup", "pointercancel"].forEach((kind) => addEventListener(kind, lift));
  svg.addEventListener("click", (event) => { if (moved) event.stopPropagation(); }, true);
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const at = place(event);
    zoom(event.deltaY > 0 ? 1.15 : 1 / 1.15, at.x, at.y);
  }, { passive: false });

  // Search: all matches are marked, Enter goes from one to the next.
  let matches = [], turn = 0;
  find.addEventListener("input", () => {
    const wanted = find.value.trim().toLowerCase();
    matches = wanted ? names.flatMap((name, k) => (name.toLowerCase().includes(wanted) ? [k] : [])) : [];
    turn = 0;
    nodes.forEach((one, k) => one.classList.toggle("match", matches.includes(k)));
    found.textContent = wanted ? `${matches.length} found` : "";
    if (matches.length) reveal(matches[0]);
  });
  find.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !matches.length) return;
    event.preventDefault();
    choose(matches[turn % matches.length], true);
    turn += 1;
  });
  addEventListener("beforeprint", () => {
    showAll();
    document.querySelectorAll("details").forEach((one) => { one.open = true; });
  });

  // Bars of all variables.
  const cards = !facts.model ? [] : facts.nodes.map((node, v) => {
    const card = made("fieldset", null, byId("cards"));
    made("legend", node.name, card);
    states(v, card);
    return card;
  });
  if (forget) forget.onclick = () => { evidence.clear(); update(); };
  update();
})();
