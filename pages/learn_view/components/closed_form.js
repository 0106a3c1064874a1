// The closed forms of atnmf_core.adversary for one entry, quick enough to follow a finger.
const bestAttack = (v, p, lam) => Math.max((v - p) / (lam - 1), -v);
const attackValue = (v, p, lam, r) => (v + r - p) ** 2 - lam * r ** 2;
const parabola = (v, p, lam) => (lam / (lam - 1)) * (v - p) ** 2;
const entryLoss = (v, p, lam) => (p <= lam * v ? parabola(v, p, lam) : p ** 2 - lam * v ** 2);
