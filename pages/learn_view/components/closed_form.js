// The closed forms of atnmf_core.model.adversary for one entry, quick enough to follow a finger.
// g is the leash; null for none.
const bestAttack = (v, p, lam) => Math.max((v - p) / (lam - 1), -v);
const lowerBend = (v, lam, g) => (g === null ? 0 : Math.max(0, v * (1 - (lam - 1) * g)));
const attackValue = (v, p, lam, r) => (v + r - p) ** 2 - lam * r ** 2;
const parabola = (v, p, lam) => (lam / (lam - 1)) * (v - p) ** 2;
const entryLoss = (v, p, lam, g) => {
  if (p > lam * v) return p ** 2 - lam * v ** 2;
  return p < lowerBend(v, lam, g) ? (v * (1 + g) - p) ** 2 - lam * (g * v) ** 2 : parabola(v, p, lam);
};
