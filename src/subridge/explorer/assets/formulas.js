// Printed by SymPy; do not edit, but run: python -m subridge.derivations.javascript FILE

// R, the root in the solution of the saddle point.
function root(alpha, nu, t) {
  return Math.sqrt((t*t) + 2*t*(alpha + nu) + ((alpha - nu)*(alpha - nu)));
}

// σ, the share of its bulk that a member fits.
function fittedShare(alpha, nu, t, R) {
  return 2*alpha/(R + alpha + nu + t);
}

// 1 - σ where h = t + ν - α > 0.
function restFewSamples(alpha, nu, t, R, h) {
  return (R + h)/(R + alpha + nu + t);
}

// 1 - σ where h = t + ν - α ≤ 0.
function restManySamples(alpha, nu, t, R, h) {
  return 4*alpha*t/((R - h)*(R + alpha + nu + t));
}

// 1 - γ_rr.
function ownGap(alpha, nu, t, R) {
  return 2*R/(R + alpha + nu + t);
}

// I⁰_rr; unseen is 1 - ν.
function randomBias(b, fitted, noisy, nu, unseen, rest) {
  return b*(fitted*nu*(rest*rest) + noisy*nu + unseen);
}

// I⁰_rs.
function randomCrossBias(b, fitted, nu_r, nu_s, nu_rs, sigma_r, sigma_s) {
  return -b*fitted*(nu_r*sigma_r - nu_rs*sigma_r*sigma_s + nu_s*sigma_s) + b;
}

// I¹_rr, M → ∞.
function alignedBias(b, omega2, nu) {
  return (b*(1 - nu) + omega2)/nu;
}

// I¹_rs, M → ∞.
function alignedCrossBias(a, b, nu_r, nu_s, nu_rs) {
  return a*nu_rs/(nu_r*nu_s) - b;
}

// u - b, where u = κ̄ + a/ν = a/(νσ).
function excess(b, omega2, nu, sigma, rest) {
  return (b*nu*rest + b*(1 - nu) + omega2)/(nu*sigma);
}

// I¹_rs at finite M, from u - b of both members and I¹_rs of M → ∞; T = scM.
function alignedBiasAtSize(b, T, excess_r, excess_s, along) {
  const _0 = T + b;
  return _0*(_0*along + excess_r*excess_s)/((_0 + excess_r)*(_0 + excess_s));
}

// γ_rs.
function crossGamma(alpha, nu_rs, sigma_r, sigma_s) {
  return nu_rs*sigma_r*sigma_s/alpha;
}

// E_rs, from the bias, γ and 1 - γ; for two members η² is zero.
function pairError(bias, gamma, gap, zeta2, eta2) {
  return (bias + eta2 + gamma*zeta2)/gap;
}

// c_r = E[y f_r], of the teacher's part orthogonal to 1.
function randomCovariance(b, fitted, nu, sigma) {
  return b*fitted*nu*sigma;
}

// c_r = E[y f_r], of the teacher's part along 1, from u - b; T = scM.
function alignedCovariance(b, T, excess_r) {
  const _0 = T + b;
  return (_0*_0)/(_0 + excess_r);
}

// v - c²/F, the error of s times the mean at the best s, from the error of the mean.
function scaledError(mean, power, c) {
  return mean - ((-c + power)*(-c + power))/power;
}

// W_rs of the mean weights, of the teacher's part orthogonal to 1.
function weightsAcross(fitted, nu_rs, sigma_r, sigma_s) {
  return (fitted*fitted)*nu_rs*sigma_r*sigma_s;
}

// W_rs of the mean weights, of the teacher's part along 1, from u - b of both members; T = scM.
function weightsAlong(b, T, excess_r, excess_s, nu_r, nu_s, nu_rs) {
  const _0 = T + b;
  return (_0*_0)*nu_rs/(nu_r*nu_s*(_0 + excess_r)*(_0 + excess_s));
}

// What shared rows add to W_rs.
function weightSpread(a, gamma, error, zeta2) {
  return gamma*(error + zeta2)/a;
}

// E_rs where features of that variance fail with probability f; missed is 2v - c_r - c_s.
function failingError(f, error, eta2, v, missed, variance, weights) {
  const _0 = 1 - f;
  return (_0*_0)*error + f*(_0*(missed + variance*weights) + eta2*(2 - f) + f*v);
}

// λ*, for b > 0 and ρ² < 1; noise is ζ² + η².
function optimalRidge(a, b, omega2, nu, rho2, noise) {
  const _0 = b*(1 - nu) + omega2;
  return a*(_0/(b*nu) + a*(_0*rho2 + noise*nu)/((b*b)*(nu*nu)*(1 - rho2)));
}

// B_rr/k.
function sizeOwnBias(x, sigma, rho2, W) {
  const _0 = W + 1;
  return rho2*(_0 - x) + x*(1 - rho2)*(1 - sigma*x*(2 - sigma)/_0);
}

// B_rs.
function sizeCrossBias(x, sigma, rho2, W) {
  return -rho2 + (1 - rho2)*(-2*sigma*x/(W + 1) + 1);
}

// 𝓔 of k equal members, from both biases and γ.
function sizeError(x, H, Z, own, cross, gamma) {
  return cross*(1 - x) + (own + x*(H + Z*gamma))/(1 - gamma);
}

// d𝓔/dx at λ = 0 and α > x.
function sizeSlope(x, y, rho2, H, W, Z) {
  const _0 = 1 - rho2;
  const _1 = W + 1;
  const _2 = 1/_1;
  const _3 = _2*x;
  const _4 = x*y;
  const _5 = 1 - _4;
  const _6 = Z*_4;
  const _7 = _0*(1 - _3);
  return -2*_0*_2*(1 - x) - _0*(1 - 2*_3) + rho2 + (_5*(H - _0*_3 + 2*_6 + _7 - rho2) + y*(_7*x + rho2*(_1 - x) + x*(H + _6)))/(_5*_5);
}

// ν(1 + Λ*/(1+W)); noise is H + Z.
function sizeScaledOptimum(x, rho2, W, noise) {
  const _0 = W + 1;
  return _0*(_0*rho2/x + noise - 2*rho2 + 1)/(1 - rho2);
}

// 𝓔 - 𝓔_∞ at λ*.
function sizeGain(x, sigma, rho2, H, W) {
  return x*(H - sigma*(1 - rho2)*(2 - x)/(W + 1));
}

// (1-γ)𝓔/(1-𝓔) of the scaled mean at ρ = 0; readout is H/(xσ²).
function sizeScaledOdds(x, y, sigma, readout, W, Z) {
  const _0 = W + 1;
  const _1 = (_0*_0);
  return W + _1*readout + y*(Z*_1 + (sigma*sigma)*x*(1 - x) + ((_0 - sigma*x)*(_0 - sigma*x)));
}

// αk* of the scaled mean at ρ = 0, λ = 0 below the threshold, inverse beyond; gap is H + 1 + Z - α/(1+W).
function sizeScaledRatio(H, gap) {
  const _0 = Math.sqrt(H);
  return _0/(_0 + Math.sqrt(gap));
}
