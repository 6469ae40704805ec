// The risk of an ensemble by Prop. 2, from the printed formulas; limits as subridge.risk takes them.

const AT_THRESHOLD = 1e-12; // below this 1 - γ is rounding, and a ridgeless member is at its threshold

/** What depends on the problem alone. problem: scale, correlation, alignment, featureNoise, labelNoise, readoutNoise, nFeatures, failing. */
function prepare(problem) {
  const b = problem.scale * (1 - problem.correlation);
  const omega2 = problem.featureNoise * problem.featureNoise;
  const a = b + omega2;
  const rho2 = problem.alignment * problem.alignment;
  const finite = Number.isFinite(problem.nFeatures);
  const aligned = problem.correlation > 0 ? rho2 : 0; // without correlation no direction is special
  const common = problem.scale * problem.correlation, along = finite ? rho2 : aligned;
  const T = finite ? common * problem.nFeatures : Infinity;
  return {
    a, b, omega2, finite, aligned, T,
    rho2: along,
    fitted: a > 0 ? b / a : 0,
    noisy: a > 0 ? omega2 / a : 0,
    v: (1 - along) * b + (along > 0 ? along * (b + T) : 0),
    variance: a + common,
    failing: problem.failing,
    zeta2: problem.labelNoise * problem.labelNoise,
    eta2: problem.readoutNoise * problem.readoutNoise,
  };
}

/** λ* of a member that sees the fraction nu; infinite where the error falls for ever. */
function bestRidge(nu, q) {
  const noise = q.zeta2 + q.eta2;
  if (q.b * (1 - q.aligned) === 0) return q.aligned * (q.a / nu - q.b) + noise > 0 && q.a > 0 ? Infinity : 0;
  const ridge = optimalRidge(q.a, q.b, q.omega2, nu, q.aligned, noise);
  return Math.abs(ridge) < 1e-14 * q.a ? 0 : ridge;
}

/** Order parameters of one member into an object: σ, 1 - σ, 1 - γ_rr, γ_rr, u - b. */
function solveMember(alpha, nu, ridge, q, m = {}) {
  m.nu = nu;
  m.sigma = 0;
  m.rest = 1;
  m.gap = 1;
  m.gamma = 0;
  m.excess = Infinity;
  const t = (ridge * nu) / q.a;
  if (q.a === 0) m.excess = alpha === 0 ? Infinity : ridge / alpha;
  else if (alpha > 0 && t < Infinity) {
    m.sigma = 1;
    m.rest = 0;
    if (alpha < Infinity) {
      const R = root(alpha, nu, t), h = t + (nu - alpha);
      m.sigma = fittedShare(alpha, nu, t, R);
      m.gap = ownGap(alpha, nu, t, R);
      m.gamma = crossGamma(alpha, nu, m.sigma, m.sigma);
      m.rest = h > 0 ? restFewSamples(alpha, nu, t, R, h) : t === 0 ? 0 : restManySamples(alpha, nu, t, R, h);
    }
    m.excess = q.finite ? excess(q.b, q.omega2, nu, m.sigma, m.rest) : 0;
  }
  return m;
}

function divided(bias, gamma, gap, eta2, q) {
  if (gap > AT_THRESHOLD) return pairError(bias, gamma, gap, q.zeta2, eta2);
  return Math.abs(bias) <= 1e-12 * q.b && gamma * q.zeta2 + eta2 === 0 ? 0 : Infinity;
}

function alongOnes(r, s, limit, q) {
  if (!q.finite) return limit;
  if (r.excess + s.excess === Infinity) return q.b + q.T;
  const size = q.b + q.T;
  return (size + r.excess) * (size + s.excess) === 0 ? 0 : alignedBiasAtSize(q.b, q.T, r.excess, s.excess, limit);
}

/** W_rs, the product of the weights of two members, from their γ and E_rs on complete data. */
function weightsOf(r, s, shared, gamma, error, q) {
  let found = (1 - q.rho2) * weightsAcross(q.fitted, shared, r.sigma, s.sigma);
  const fits = q.rho2 > 0 && r.excess + s.excess < Infinity && (q.b + q.T + r.excess) * (q.b + q.T + s.excess) > 0;
  if (fits) found += q.rho2 * weightsAlong(q.b, q.T, r.excess, s.excess, r.nu, s.nu, shared);
  return gamma > 0 ? found + weightSpread(q.a, gamma, error, q.zeta2) : found;
}

/** The error where features fail, of outputs with readout noise eta2, covariance c with the label and weights. */
function failed(error, eta2, c, weights, q) {
  if (q.v === Infinity) return Infinity; // a lost share of infinite power
  return failingError(q.failing, error, eta2, q.v, 2 * (q.v - c), q.variance, weights);
}

/** E_rr. */
function ownError(m, q) {
  let bias = (1 - q.rho2) * randomBias(q.b, q.fitted, q.noisy, m.nu, 1 - m.nu, m.rest);
  if (q.rho2 > 0) bias += q.rho2 * alongOnes(m, m, alignedBias(q.b, q.omega2, m.nu), q);
  return divided(bias, m.gamma, m.gap, q.eta2, q);
}

/** E_rs of two members that share the fraction `shared` of all features. */
function crossError(r, s, shared, alpha, q) {
  let bias = (1 - q.rho2) * randomCrossBias(q.b, q.fitted, r.nu, s.nu, shared, r.sigma, s.sigma);
  if (q.rho2 > 0) bias += q.rho2 * alongOnes(r, s, alignedCrossBias(q.a, q.b, r.nu, s.nu, shared), q);
  const gamma = gammaOf(r, s, shared, alpha);
  return divided(bias, gamma, 1 - gamma, 0, q);
}

/** γ_rs of two members whose rows are drawn independently; α counts all rows. */
const gammaOf = (r, s, shared, alpha) => (shared > 0 && alpha > 0 ? crossGamma(alpha, shared, r.sigma, s.sigma) : 0);

/** The part of c_r = E[y f_r] along 1, in units of ρ². */
function covarianceAlong(m, q) {
  return q.rho2 === 0 || m.excess === Infinity || q.b + q.T + m.excess === 0 ? 0 : alignedCovariance(q.b, q.T, m.excess);
}

/** c_r = E[y f_r]. */
const covarianceWithLabel = (m, q) => (1 - q.rho2) * randomCovariance(q.b, q.fitted, m.nu, m.sigma) + (q.rho2 > 0 ? q.rho2 * covarianceAlong(m, q) : 0);

/** Errors of the mean and of its best multiple on complete data, where its error is `mean`; `along` is the part of c along 1. */
function ofBoth(mean, c, along, weights, count, q) {
  const { v } = q, eta2 = q.eta2 / count;
  const plain = q.failing > 0 ? failed(mean, eta2, c, weights, q) : mean;
  if (v === Infinity) return { mean: plain, scaled: plain }; // any scale other than 1 has an infinite error
  // The power F of the output without a difference: from single features, from features together, and from readout noise.
  const fit = along > 0 ? along / (q.b + q.T) : 0, power = q.a * weights + (fit > 0 ? q.rho2 * q.T * fit * fit : 0) + eta2;
  if (c === 0 || power === Infinity || !(power > 0)) return { mean: plain, scaled: v };
  const scale = c / power, least = scaledError(mean, power, c);
  return { mean: plain, scaled: q.failing > 0 ? failed(least, scale * scale * eta2, scale * c, scale * scale * weights, q) : least };
}

/** Mean and scaled-mean error of members; one of them may stand for `count` equal ones. */
function totals(members, shared, alpha, q, count = members.length) {
  let own = 0, cross = 0, c = 0, along = 0, ownWeights = 0, crossWeights = 0;
  for (const m of members) {
    const error = ownError(m, q);
    own += error;
    c += covarianceWithLabel(m, q);
    along += covarianceAlong(m, q);
    ownWeights += weightsOf(m, m, m.nu, m.gamma, error, q);
  }
  const n = members.length;
  const weightsOfPair = (r, s, error) => (shared > 0 ? weightsOf(r, s, shared, gammaOf(r, s, shared, alpha), error, q) : 0);
  if (n === 1) {
    const [m] = members;
    cross = count > 1 ? crossError(m, m, shared, alpha, q) : 0;
    crossWeights = count > 1 ? weightsOfPair(m, m, cross) : 0;
  } else if (shared === 0 && !(q.finite && q.rho2 > 0)) {
    // Disjoint: E_rs is affine in ν_r σ_r, so that its mean over pairs is its value at the mean.
    let mean = 0;
    for (const m of members) mean += m.nu * m.sigma;
    const one = { nu: 1, sigma: mean / n, excess: 0 };
    cross = crossError(one, one, 0, alpha, q);
  } else {
    for (let r = 1; r < n; r++) {
      for (let s = 0; s < r; s++) {
        const error = crossError(members[r], members[s], shared, alpha, q);
        cross += error;
        crossWeights += weightsOfPair(members[r], members[s], error);
      }
    }
    cross /= (n * (n - 1)) / 2;
    crossWeights /= (n * (n - 1)) / 2;
  }
  const overPairs = (mine, others) => mine / n / count + (count > 1 ? ((count - 1) / count) * others : 0);
  return ofBoth(overPairs(own, cross), c / n, along / n, overPairs(ownWeights, crossWeights), count, q);
}

/** Solve every member on its rows; `ridge` is a number or "optimal", each member's own λ* on complete data. */
function solveMembers(alpha, { fractions, ridge, rows }, q) {
  return fractions.map((nu) => solveMember(alpha * rows, nu, ridge === "optimal" ? bestRidge(nu, q) : ridge, q));
}

/** The whole answer at one point: E_rs, and the totals of both aggregations. */
function risk(problem, ensemble, alpha) {
  const q = prepare(problem);
  const members = solveMembers(alpha, ensemble, q);
  const pairs = members.map((r, i) => members.map((s, j) => {
    const same = i === j, shared = same ? r.nu : ensemble.shared, error = same ? ownError(r, q) : crossError(r, s, shared, alpha, q);
    if (!(q.failing > 0)) return error;
    const gamma = same ? r.gamma : gammaOf(r, s, shared, alpha), c = (covarianceWithLabel(r, q) + covarianceWithLabel(s, q)) / 2;
    return failed(error, same ? q.eta2 : 0, c, weightsOf(r, s, shared, gamma, error, q), q);
  }));
  return { pairs, ...totals(members, ensemble.shared, alpha, q) };
}

/** Totals along sample ratios: {mean, scaled}, arrays. */
function curve(problem, ensemble, alphas) {
  const q = prepare(problem), { fractions, shared, count, rows } = ensemble;
  const ridges = fractions.map((nu) => (ensemble.ridge === "optimal" ? bestRidge(nu, q) : ensemble.ridge));
  const mean = new Array(alphas.length), scaled = new Array(alphas.length), members = fractions.map(() => ({}));
  for (let i = 0; i < alphas.length; i++) {
    for (let r = 0; r < fractions.length; r++) solveMember(alphas[i] * rows, fractions[r], ridges[r], q, members[r]);
    const found = totals(members, shared, alphas[i], q, count ?? fractions.length);
    mean[i] = found.mean;
    scaled[i] = found.scaled;
  }
  return { mean, scaled };
}
