// Random fractions of heterogeneous ensembles; the same seed gives the same draw on every machine.

/** Uniform numbers in (0, 1): mulberry32. */
function uniformStream(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return (((z ^ (z >>> 14)) >>> 0) + 0.5) / 4294967296;
  };
}

function normal(uniform) {
  return Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** The logarithm of a Gamma number of that shape (Marsaglia & Tsang 2000). */
function logGamma(shape, uniform) {
  if (shape < 1) return logGamma(shape + 1, uniform) + Math.log(uniform()) / shape;
  const d = shape - 1 / 3, c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const z = normal(uniform), cube = (1 + c * z) ** 3;
    if (cube <= 0) continue;
    if (Math.log(uniform()) < 0.5 * z * z + d - d * cube + d * Math.log(cube)) return Math.log(d * cube);
  }
}

/** Fractions of k disjoint subsets that sum to one, the largest first; spread is kσ, and 0 gives equal ones. */
function drawFractions(k, spread, seed) {
  if (spread < 1e-8) return new Array(k).fill(1 / k);
  const uniform = uniformStream(seed), shape = 1 / (spread * spread);
  const logs = Array.from({ length: k }, () => logGamma(shape, uniform));
  const most = Math.max(...logs);
  // None is empty: a member sees at least about a millionth of the features.
  const parts = logs.map((one) => Math.max(Math.exp(one - most), 1e-6)).sort((p, q) => q - p);
  const sum = parts.reduce((total, one) => total + one, 0);
  return parts.map((one) => one / sum);
}
