"""The paper's letters as SymPy symbols, with the assumptions under which the derivations hold.

Two letters differ from the paper. The index ``s`` stands for the second member r′. The scale s of the data enters only
through ``b`` = s(1−c), the variance that a feature has to itself, and ``e`` = sc, the variance that all features share.
"""

import sympy as sp

# sizes and fractions
M, k, alpha = sp.symbols("M k alpha", positive=True)
nu, nu_r, nu_s, nu_rs = sp.symbols("nu nu_r nu_s nu_rs", positive=True)

# data: bulk variance b = s(1-c), shared variance e = sc, a = b + omega^2, T = scM
b, e, a, T = sp.symbols("b e a T", positive=True)
omega, zeta, eta = sp.symbols("omega zeta eta", nonnegative=True)
rho = sp.Symbol("rho", real=True)

# order parameters; x_r = nu_r / q_hat_r is the effective ridge on unscaled features
lam, q, q_hat = sp.symbols("lambda q \\hat{q}", positive=True)
x_r, x_s, S_r, S_s = sp.symbols("x_r x_s S_r S_s", positive=True)
sigma, sigma_r, sigma_s = sp.symbols("sigma sigma_r sigma_s", positive=True)

# reduced quantities (eq. 24 (ReducesNoises))
H, W, Z = sp.symbols("H W Z", nonnegative=True)
Lam = sp.Symbol("Lambda", nonnegative=True)
E_bulk = 1 - rho**2 + W * rho**2  # limit of the reduced error as k grows
