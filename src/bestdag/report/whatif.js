
"use strict";
// Exact answers by messages between cliques (Lauritzen and Spiegelhalter 1988). `model` has arities,
// cliques, links of the tree (clique, parent) from the root outwards, and tables whose last variable
// is the child. Returns a function of evidence, a Map from variable to state, that gives the
// distribution of every variable, or null where the evidence is impossible.
const answering = (model) => {
  const sizeOf = (scope) => scope.reduce((product, v) => product * model.arities[v], 1);
  // For each cell of a clique, the cell of a table over some of its variables.
  const cellsOf = (clique, scope) => {
    const cells = new Int32Array(sizeOf(clique));
    const stride = new Map();
    scope.reduceRight((step, v) => { stride.set(v, step); return step * model.arities[v]; }, 1);
    const state = clique.map(() => 0);
    let at = 0;
    for (let cell = 0; cell < cells.length; cell += 1) {
      cells[cell] = at;
      for (let k = clique.length - 1; k >= 0; k -= 1) {
        const step = stride.get(clique[k]) || 0;
        state[k] += 1;
        at += step;
        if (state[k] < model.arities[clique[k]]) break;
        at -= step * state[k];
        state[k] = 0;
      }
    }
    return cells;
  };
  // The smallest clique that has all of some variables.
  const sizes = model.cliques.map(sizeOf);
  const holder = (scope) => model.cliques.reduce((best, clique, k) => (
    (best < 0 || sizes[k] < sizes[best]) && scope.every((v) => clique.includes(v)) ? k : best), -1);
  const multiply = (into, values, cells) => {
    for (let k = 0; k < into.length; k += 1) into[k] *= values[cells[k]];
  };
  const first = model.cliques.map((clique) => new Float64Array(sizeOf(clique)).fill(1));
  model.tables.forEach(({ scope, values }) => {
    const home = holder(scope);
    multiply(first[home], values, cellsOf(model.cliques[home], scope));
  });
  const homes = model.arities.map((_, v) => holder([v]));
  const stateOf = homes.map((home, v) => cellsOf(model.cliques[home], [v]));
  const links = model.up.map(([lower, upper]) => {
    const shared = model.cliques[lower].filter((v) => model.cliques[upper].includes(v));
    return { lower, upper, size: sizeOf(shared),
      below: cellsOf(model.cliques[lower], shared), above: cellsOf(model.cliques[upper], shared) };
  });
  const summed = (values, cells, size) => {
    const sums = new Float64Array(size);
    for (let k = 0; k < values.length; k += 1) sums[cells[k]] += values[k];
    return sums;
  };
  const total = (values) => {
    let sum = 0;
    for (let k = 0; k < values.length; k += 1) sum += values[k];
    return sum;
  };

  return (evidence) => {
    const tables = first.map((values) => values.slice());
    evidence.forEach((state, v) => {
      const table = tables[homes[v]];
      for (let k = 0; k < table.length; k += 1) if (stateOf[v][k] !== state) table[k] = 0;
    });
    const sent = [];
    for (let k = links.length - 1; k >= 0; k -= 1) { // towards the root
      const { lower, upper, size, below, above } = links[k];
      const message = summed(tables[lower], below, size), weight = total(message);
      if (!(weight > 0)) return null;
      sent[k] = message.map((value) => value / weight); // scaled, so that nothing vanishes
      multiply(tables[upper], sent[k], above);
    }
    links.forEach(({ lower, upper, size, below, above }, k) => { // and back
      const weight = total(tables[upper]);
      const message = summed(tables[upper], above, size);
      multiply(tables[lower], message.map((value, from) => (
        sent[k][from] > 0 ? value / sent[k][from] / weight : 0)), below);
    });
    const found = model.arities.map((arity, v) => {
      const sums = summed(tables[homes[v]], stateOf[v], arity), weight = total(sums);
      return weight > 0 ? [...sums].map((value) => value / weight) : null;
    });
    return found.includes(null) ? null : found;
  };
};
if (typeof module !== "undefined") module.exports = { answering };
