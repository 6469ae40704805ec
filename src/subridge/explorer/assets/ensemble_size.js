// The best number of equal members, exact for every k, as subridge.optimal_n_members finds it.

const TIE = 1e-13; // errors this close are equal up to rounding; the smaller ensemble is preferred
const SIZES_NET = (() => {
  const found = new Set();
  for (let k = 1; k < 25; k++) found.add(k);
  for (let i = 0; i < 110; i++) found.add(Math.round(24 * Math.pow(1e12 / 24, i / 109)));
  return Float64Array.from([...found].sort((p, q) => p - q));
})();

/** k* at λ = 0: the best on either side of the members' threshold k = 1/α against 1 and ∞. */
function bestRidgeless(alpha, rho2, H, W, Z) {
  if (alpha === 0) return H > 0 ? Infinity : 1;
  const error = (x, sigma, gamma) => {
    const own = sizeOwnBias(x, sigma, rho2, W), noise = x * (H + gamma * Z);
    if (1 - gamma <= AT_THRESHOLD) {
      return Math.abs(own) <= 1e-12 * x && noise === 0 ? (1 - x) * sizeCrossBias(x, sigma, rho2, W) : Infinity;
    }
    return sizeError(x, H, Z, own, sizeCrossBias(x, sigma, rho2, W), gamma);
  };
  const amplified = alpha === Infinity ? NaN : sizeOwnBias(alpha, 1, rho2, W) + alpha * (H + Z);
  let small = 1;
  if (alpha < 1) {
    const k = Math.sqrt(H) / (alpha * Math.sqrt(H) + Math.sqrt(alpha * Math.max(amplified, 0)));
    if (Number.isFinite(k)) small = k;
  }
  return bestBesideThreshold(small, 1 / bestFraction(alpha, amplified, rho2, H, W, Z), alpha, error);
}

/** k* of the scaled mean at λ = 0. With an aligned teacher the best scale is 1, and it is that of the mean. */
function bestScaledRidgeless(alpha, rho2, H, W, Z) {
  if (rho2 > 0) return bestRidgeless(alpha, rho2, H, W, Z);
  if (alpha === 0) return H > 0 || (1 + W) * (1 + Z) > 2 ? Infinity : 1;
  const error = (x, sigma, gamma) => {
    const causes = sizeScaledOdds(x, 1 / alpha, sigma, H > 0 ? H / (x * sigma * sigma) : 0, W, Z);
    if (1 - gamma <= AT_THRESHOLD) return causes <= AT_THRESHOLD ? 0 : 1;
    return causes === Infinity ? 1 : causes / (causes + 1 - gamma);
  };
  const spare = H + 1 + Z - alpha / (1 + W), y = spare > 0 || (spare === 0 && H > 0) ? sizeScaledRatio(H, spare) : 1;
  return bestBesideThreshold(y / alpha, spare >= 0 ? 1 / (alpha * y) : 0, alpha, error);
}

/** At its best ridge one member is best for the scaled mean, unless the teacher is aligned. */
const bestScaledAtOptimalRidge = (alpha, rho2, ...noises) => (rho2 > 0 ? bestAtOptimalRidge(alpha, rho2, ...noises) : 1);

/** The best integer at λ = 0 of k = 1 and the neighbours of real minima below and beyond the threshold k = 1/α. */
function bestBesideThreshold(small, large, alpha, error) {
  const meeting = 1 / alpha;
  const below = Math.max(Math.ceil(meeting * (1 - 1e-15)) - 1, 1), above = Math.floor(meeting * (1 + 1e-15)) + 1;
  const at = (k) => {
    const x = 1 / k, sigma = k === Infinity ? 1 : Math.min(1, alpha * k);
    return error(x, sigma, (x * sigma * sigma) / alpha);
  };
  const low = Math.min(Math.max(small, 1), below), high = Math.max(large, above);
  let best = 1, lowest = at(1);
  for (const k of [Math.floor(low), Math.ceil(low), Math.floor(high), Math.ceil(high)]) {
    if (k > below && k < above) continue;
    const found = at(k);
    if (found < lowest - TIE) {
      best = k;
      lowest = found;
    }
  }
  return best;
}

/** x = 1/k that minimises the ridgeless error on [0, min(1, α)); 0 where it grows from there. */
function bestFraction(alpha, amplified, rho2, H, W, Z) {
  const y = 1 / alpha;
  let high = Math.min(1, alpha * (1 - 1e-9));
  // Abundant data, little noise: the curve turns concave before x = 1, and the minimum lies before that.
  const concave = (Math.max(-alpha * amplified, 0) * (1 + W)) / (2 * (1 - rho2));
  const inflection = alpha - Math.cbrt(concave);
  if (concave > 0 && Number.isFinite(inflection)) high = Math.min(Math.max(inflection, 0), high);
  if (!(high > 0) || !(sizeSlope(0, y, rho2, H, W, Z) < 0)) return 0;
  if (sizeSlope(high, y, rho2, H, W, Z) <= 0) return high;
  // Regula falsi with the Illinois rule: the value at the end that stays is halved.
  let low = 0, atLow = sizeSlope(0, y, rho2, H, W, Z), atHigh = sizeSlope(high, y, rho2, H, W, Z), last = Infinity;
  for (let step = 0; step < 200; step++) {
    let x = (low * atHigh - high * atLow) / (atHigh - atLow);
    if (!(x > low && x < high) || step % 8 === 7) x = (low + high) / 2;
    const slope = sizeSlope(x, y, rho2, H, W, Z);
    if (slope === 0 || Math.abs(x - last) <= 1e-15 * x) return x;
    if (slope < 0) {
      low = x;
      atLow = slope;
      if (last <= low) atHigh /= 2;
    } else {
      high = x;
      atHigh = slope;
      if (last >= high) atLow /= 2;
    }
    last = x;
  }
  return high;
}

/** k* with every member at its own λ*; ∞ where no finite ensemble beats the infinite one. */
function bestAtOptimalRidge(alpha, rho2, H, W, Z) {
  const gain = (k) => {
    const x = 1 / k;
    if (x === 0) return 0;
    const t = Math.max(sizeScaledOptimum(x, rho2, W, H + Z) - x, 0); // rounding may make λ* negative
    const sigma = alpha === Infinity ? 1 : alpha === 0 || t === Infinity ? 0 : fittedShare(alpha, x, t, root(alpha, x, t));
    return sizeGain(x, sigma, rho2, H, W);
  };
  let best = 0, lowest = Infinity;
  const reach = (2 * (1 - rho2)) / (1 + W);
  for (let i = 0; i < SIZES_NET.length; i++) {
    // σ ≤ α/(α + t), and t grows with k: from here on gain ≥ (H - reach α/(α + t))/k, which may rule out all larger k.
    if (rho2 < 1 && alpha < Infinity) {
      const x = 1 / SIZES_NET[i], t = Math.max(sizeScaledOptimum(x, rho2, W, H + Z) - x, 0);
      const least = x * (H - (reach * alpha) / (alpha + t));
      if (least > 0 || least > lowest) break;
    }
    const found = gain(SIZES_NET[i]);
    if (found < lowest) {
      best = i;
      lowest = found;
    }
  }
  let low = SIZES_NET[Math.max(best - 1, 0)], high = SIZES_NET[Math.min(best + 1, SIZES_NET.length - 1)];
  while (high - low > 2) {
    const middle = Math.floor((low + high) / 2);
    if (gain(middle + 1) < gain(middle)) low = middle;
    else high = middle + 1;
  }
  let k = SIZES_NET[best];
  for (const candidate of [low, low + 1, high]) {
    const found = gain(candidate);
    if (found < lowest || (found === lowest && candidate < k)) {
      k = candidate;
      lowest = found;
    }
  }
  if (lowest < 0) return k;
  return H === 0 ? 1 : Infinity;
}
