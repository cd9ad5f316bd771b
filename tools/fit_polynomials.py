#!/usr/bin/env python3
"""Prints the polynomial coefficients of kernels/math_*.h (needs numpy and mpmath).

Every polynomial is a weighted minimax fit: Lawson's iteration (least squares whose weights grow
where the error is large). f32 coefficients are rounded one after the other, lowest power first,
and the remaining ones fitted again, so that each makes up for the rounding of those before it.
"""
import sys

import mpmath as mp
import numpy as np

mp.mp.dps = 40
POINTS = 600


def lawson(basis, target, weight, iterations=60):
    """Coefficients c that make max |weight * (target - basis @ c)| small."""
    mass = np.full(len(target), 1.0 / len(target), dtype=np.longdouble)
    best, best_error = None, np.inf
    for _ in range(iterations):
        scale = np.sqrt(mass).astype(float) * weight
        c = np.linalg.lstsq(basis * scale[:, None], target * scale, rcond=None)[0]
        error = np.abs(weight * (target - basis @ c))
        if error.max() < best_error:
            best, best_error = c, error.max()
        mass = mass * (error + 1e-30)
        mass = np.maximum(mass / mass.sum(), 1e-9)
    return best, best_error


def fit(name, f, low, high, count, weight, kind=np.float32):
    """f(x) ~ c0 + c1 x + ... + c(count-1) x^(count-1) on [low, high]."""
    nodes = np.cos(np.pi * (np.arange(POINTS) + 0.5) / POINTS)
    x = 0.5 * (high + low) + 0.5 * (high - low) * nodes
    target = np.array([float(f(mp.mpf(float(v)))) for v in x])
    w = np.array([float(weight(mp.mpf(float(v)))) for v in x])
    span = max(abs(low), abs(high))
    fixed = []
    for k in range(count):
        powers = np.stack([(x / span) ** (j - k) for j in range(k, count)], axis=1)
        lead = (x / span) ** k
        known = sum(float(c) * x**j for j, c in enumerate(fixed))
        # Basis lead * powers, target what the fixed terms leave over.
        c, error = lawson(lead[:, None] * powers, target - known, w)
        fixed.append(kind(c[0] / span**k))
    rest = target - sum(float(c) * x**j for j, c in enumerate(fixed))
    worst = np.max(np.abs(rest * w))
    print(f"// {name}: [{low:.6g}, {high:.6g}], weighted error 2^{np.log2(worst):.1f}")
    digits = 9 if kind is np.float32 else 17
    suffix = "f" if kind is np.float32 else ""
    print("  " + ", ".join(f"{float(c):.{digits}g}{suffix}" for c in fixed))


def odd(g):
    """(g(x) - x) / x^3 as a function of z = x^2."""
    return lambda z: (g(mp.sqrt(z)) - mp.sqrt(z)) / mp.sqrt(z) ** 3 if z > 1e-12 else mp.diff(g, 0, 3) / 6


def odd_weight(g):
    return lambda z: mp.sqrt(z) ** 3 / g(mp.sqrt(z))


half_ln2 = 0.34665
root = 2**0.5
one = lambda x: mp.mpf(1)


def log_cubic(f):
    if abs(f) < 1e-6:
        return mp.mpf(1) / 3 - f / 4
    return (mp.log1p(f) - f + f * f / 2) / f**3


def mills(t):
    """(1 - Phi(t)) / exp(-t^2 / 2)"""
    return mp.erfc(t / mp.sqrt(2)) / 2 * mp.exp(t * t / 2)


MILLS_K = 4.0


def mills_over_r(q):
    """mills(t) / r with r = 1 / (t + K), q = 1 - 2 K r."""
    r = (1 - q) / (2 * MILLS_K)
    return mills(1 / r - MILLS_K) / r


MILLS_FACTOR = float(mills_over_r(mp.mpf(0)) / float(np.float32(mills_over_r(mp.mpf(0)))) - 1)

FITS = {
    "exp": lambda: fit("exp, expm1: (e^r - 1 - r) / r^2",
                       lambda r: (mp.expm1(r) - r) / r**2 if abs(r) > 1e-8 else mp.mpf(0.5) + r / 6,
                       -half_ln2, half_ln2, 6, lambda r: r),
    "exp2": lambda: fit("exp2: (2^r - 1) / r",
                        lambda r: mp.expm1(r * mp.log(2)) / r if abs(r) > 1e-9 else mp.log(2),
                        -0.5, 0.5, 6, lambda r: r),
    "log": lambda: fit("log: (log(1+f) - f + f^2/2) / f^3", log_cubic, 1 / root - 1, root - 1, 9,
                       lambda f: f**3 / mp.log1p(f)),
    "sin": lambda: fit("sin: (sin r - r) / r^3, z = r^2", odd(mp.sin), 0, 0.6169, 4, odd_weight(mp.sin)),
    "cos": lambda: fit("cos: (cos r - 1 + r^2/2) / r^4, z = r^2",
                       lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2 if z > 1e-6 else mp.mpf(1) / 24 - z / 720,
                       0, 0.6169, 3, lambda z: z * z),
    "tan": lambda: fit("tan: (tan r - r) / r^3, z = r^2", odd(mp.tan), 0, 0.6169, 7, odd_weight(mp.tan)),
    "asin": lambda: fit("asin: (asin x - x) / x^3, z = x^2", odd(mp.asin), 0, 0.25, 5, odd_weight(mp.asin)),
    "atan": lambda: fit("atan: (atan x - x) / x^3, z = x^2", odd(mp.atan), 0, 1, 9, odd_weight(mp.atan)),
    "tanh": lambda: fit("tanh: (tanh x - x) / x^3, z = x^2", odd(mp.tanh), 0, 1, 7, odd_weight(mp.tanh)),
    "sinh": lambda: fit("sinh: (sinh x - x) / x^3, z = x^2", odd(mp.sinh), 0, 1, 4, odd_weight(mp.sinh)),
    "erf": lambda: fit("erf: erf(x)/x - 1, z = x^2",
                       lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1 if z > 1e-20 else 2 / mp.sqrt(mp.pi) - 1,
                       0, 1, 8, lambda z: mp.sqrt(z) / mp.erf(mp.sqrt(z)) if z > 1e-20 else mp.mpf(1)),
    "erf_tail": lambda: fit("erf: log(erfc x) / x, x", lambda x: mp.log(mp.erfc(x)) / x, 1, 4, 8,
                            lambda x: x * mp.erfc(x)),
    # c0 is the value in the middle, where no other coefficient makes up for its rounding: a factor
    # that makes it a float is applied by the caller.
    "mills": lambda: fit(f"mills: M(t) (t + K) / (1 + {MILLS_FACTOR}), q = (t - K) / (t + K)",
                         lambda q: mills_over_r(q) / (1 + MILLS_FACTOR),
                         -1, 1 - 2 * MILLS_K / (14.3 + MILLS_K), 12, lambda q: 1 / mills_over_r(q)),
    "log2d": lambda: fit("log2, double: log2((1+s)/(1-s)) / s, z = s^2",
                         lambda z: 2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) / mp.log(2) if z > 1e-20 else 2 / mp.log(2),
                         0, 0.02945, 6, one, np.float64),
    "exp2d": lambda: fit("exp2, double: 2^r", lambda r: mp.mpf(2) ** r, -0.5, 0.5, 9, one, np.float64),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or FITS:
        FITS[name]()
