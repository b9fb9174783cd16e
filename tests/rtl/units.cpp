// Streams vectors through all units at once, one a cycle, and compares with the host's arithmetic.
// After this comes the generated table `checks` and `main`.
#include <cfenv>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

using u32 = uint32_t;
using u64 = uint64_t;

struct Vector {
    u64 a32, b32, a64, b64, ai, bi, m32, m64;
};

static float f32(u64 bits) {
    u32 low = static_cast<u32>(bits);
    float x;
    std::memcpy(&x, &low, 4);
    return x;
}
static double f64(u64 bits) {
    double x;
    std::memcpy(&x, &bits, 8);
    return x;
}
// A NaN is a NaN: the units deliver one, documented in rtl/.
static u64 bits(float x) {
    u32 u;
    std::memcpy(&u, &x, 4);
    return std::isnan(x) ? 0xffc00000u : u;
}
static u64 bits(double x) {
    u64 u;
    std::memcpy(&u, &x, 8);
    return std::isnan(x) ? 0xfff8000000000000u : u;
}

// The rules for what C leaves undefined are written out: casts would be undefined here too.
template <class F>
static u64 to_signed(F x, int width) {
    const F limit = std::ldexp(F(1), width - 1);
    if (!(x >= -limit && x < limit)) return u64(1) << (width - 1);
    return width == 32 ? static_cast<u32>(static_cast<int32_t>(x)) : u64(static_cast<int64_t>(x));
}
template <class F>
static u64 to_unsigned(F x, int width) {
    if (width == 32) return static_cast<u32>(to_signed(x, 64));
    if (x >= std::ldexp(F(1), 63) && x < std::ldexp(F(1), 64)) return static_cast<u64>(x);
    return to_signed(x, 64);
}
template <class F>
static F smaller(F a, F b, u64 quiet_a, u64 quiet_b, bool larger) {
    if (std::isnan(a) && std::isnan(b)) return a;
    if (std::isnan(a)) return quiet_a ? b : a;
    if (std::isnan(b)) return quiet_b ? a : b;
    if (a == b) return a;
    return larger ? std::fmax(a, b) : std::fmin(a, b);
}
static u64 quiet32(u64 x) { return x >> 22 & 1; }
static u64 quiet64(u64 x) { return x >> 51 & 1; }
static int64_t extended(u64 x, int width) {
    return static_cast<int64_t>(x << (64 - width)) >> (64 - width);
}
static u64 low(u64 x, int width) { return width == 64 ? x : x & ((u64(1) << width) - 1); }
static u64 signed_divide(u64 x, u64 y, int width, bool remainder) {
    const int64_t a = extended(x, width), b = extended(y, width);
    if (b == 0) return low(remainder ? u64(a) : ~u64(0), width);
    if (b == -1) return low(remainder ? 0 : 0 - u64(a), width);
    return low(u64(remainder ? a % b : a / b), width);
}
static u64 unsigned_divide(u64 x, u64 y, int width, bool remainder) {
    const u64 a = low(x, width), b = low(y, width);
    if (b == 0) return remainder ? a : low(~u64(0), width);
    return remainder ? a % b : a / b;
}

// Invalid, by zero, overflow, underflow, inexact, as the host's unit raises them.
template <class F, class Operation>
static u64 raised(F a, F b, Operation operation) {
    volatile F x = a, y = b;
    std::feclearexcept(FE_ALL_EXCEPT);
    volatile F r = operation(x, y);
    (void)r;
    u64 flags = 0;
    for (int flag : {FE_INVALID, FE_DIVBYZERO, FE_OVERFLOW, FE_UNDERFLOW, FE_INEXACT})
        flags = flags << 1 | (std::fetestexcept(flag) ? 1 : 0);
    return flags;
}
// Underflow where tininess is detected before rounding; in double it is seen before.
template <class Operation>
static u64 tiny_before(float a, float b, Operation operation) {
    const double exact = operation(double(a), double(b));
    return (raised(a, b, operation) & 1) && std::fabs(exact) < FLT_MIN;
}
template <class F>
static u64 saturated(F x, int width) {
    const F limit = std::ldexp(F(1), width - 1);
    const u64 most = (u64(1) << (width - 1)) - 1;
    if (std::isnan(x) || x >= limit) return most;
    return x < -limit ? most + 1 : low(u64(static_cast<int64_t>(x)), width);
}
template <class F>
static u64 relations(F a, F b) {
    return u64(a < b) << 3 | u64(a == b) << 2 | u64(a > b) << 1 | u64(std::isunordered(a, b));
}

// By how many ulps (units in the last place) a result is off. The exact value is the host's in a
// longer format, which is some thousandths of an ulp off itself.
template <class F>
static double ulps(F is, long double exact) {
    constexpr double never = std::numeric_limits<double>::infinity();
    if (std::isnan(exact)) return std::isnan(is) ? 0 : never;
    if (std::isnan(is)) return never;
    if (exact == 0 || std::isinf(exact))
        return is == exact && std::signbit(is) == std::signbit(exact) ? 0 : never;
    if (std::signbit(is) != std::signbit(exact)) return never;
    constexpr int digits = std::numeric_limits<F>::digits, most = std::numeric_limits<F>::max_exponent;
    // An infinity is where the first number too large would be.
    const long double limit = std::ldexp(1.0L, most), size = std::fabs(exact);
    if (size >= limit) return std::isinf(is) ? 0 : never;
    const long double value = std::isinf(is) ? limit : static_cast<long double>(std::fabs(is));
    const int place = std::max(std::ilogb(size) + 1, std::numeric_limits<F>::min_exponent) - digits;
    return static_cast<double>(std::ldexp(std::fabs(value - size), -place));
}
static double longer(float x) { return x; }
static long double longer(double x) { return x; }

// Corners in the style of TestFloat: exponents where something changes, fractions of few runs.
struct Shape {
    int exponent, fraction;
    u64 pack(u64 sign, u64 e, u64 f) const {
        return sign << (exponent + fraction) | e << fraction | (f & ((u64(1) << fraction) - 1));
    }
    u64 bias() const { return (u64(1) << (exponent - 1)) - 1; }
    u64 top() const { return (u64(1) << exponent) - 1; }
};
static const Shape SINGLE{8, 23}, DOUBLE{11, 52};

static std::vector<u64> exponents(const Shape& s, bool all) {
    const u64 b = s.bias(), t = s.top();
    const u64 f = s.fraction;
    std::vector<u64> list{0, 1, 2, b - f - 1, b - 1, b, b + 1, b + f, b + f + 1, t - 2, t - 1, t};
    if (all) {
        for (u64 e : {u64(3), b - f - 2, b - f, b - 2, b + 2, b + f - 1, b + 30, b + 31, b + 32})
            list.push_back(e);
        for (u64 e : {b + 62, b + 63, b + 64}) list.push_back(e);
        if (s.fraction == 52)  // where single precision ends
            for (u64 e : {b - 150, b - 149, b - 127, b - 126, b + 127, b + 128}) list.push_back(e);
    }
    return list;
}
static std::vector<u64> corners(const Shape& s, bool all) {
    const u64 one = 1, half = one << (s.fraction - 1), ones = (one << s.fraction) - 1;
    std::vector<u64> fractions{0, 1, half, ones, half - 1, ones - 1};
    if (all) {
        for (u64 f : {u64(2), u64(3), half + 1, ones ^ half, one << (s.fraction / 2)})
            fractions.push_back(f);
        if (s.fraction == 52) {  // halves of single precision's last place
            for (u64 f : {one << 28, one << 29, (one << 28) - 1, (one << 28) + 1, one << 28 | one << 29})
                fractions.push_back(f);
        }
    }
    std::vector<u64> list;
    for (u64 e : exponents(s, all))
        for (u64 f : fractions)
            for (u64 sign : {0, 1}) list.push_back(s.pack(sign, e, f));
    return list;
}
static std::vector<u64> integer_corners() {
    std::vector<u64> list{0, 1, 2, 3, 5, 7, 10};
    for (int bit : {6, 7, 8, 14, 15, 16, 22, 23, 24, 30, 31, 32, 52, 53, 62, 63})
        for (u64 d : {u64(-1), u64(0), u64(1)}) list.push_back((u64(1) << bit) + d);
    const size_t n = list.size();
    for (size_t i = 0; i < n; ++i) list.push_back(0 - list[i]);
    return list;
}

class Source {
public:
    Source(u64 seed, bool all)
        : engine_(seed),
          single_(corners(SINGLE, all)),
          double_(corners(DOUBLE, all)),
          integers_(integer_corners()) {}

    // All pairs of corners come first, then random vectors of several kinds.
    Vector next() {
        Vector v;
        pair(SINGLE, single_, v.a32, v.b32);
        pair(DOUBLE, double_, v.a64, v.b64);
        const size_t n = integers_.size();
        if (count_ < n * n) {
            v.ai = integers_[count_ / n];
            v.bi = integers_[count_ % n];
        } else {
            v.ai = random() >> random() % 64;
            v.bi = random() >> random() % 64;
            if (random() % 4 == 0) v.bi = 0 - v.bi;
            if (random() % 4 == 0) v.ai = v.bi * (random() >> random() % 64) + random() % 3 - 1;
        }
        v.m32 = argument<float>(SINGLE, single_);
        v.m64 = argument<double>(DOUBLE, double_);
        ++count_;
        return v;
    }
    static u64 needed(bool all) {
        const u64 n = corners(DOUBLE, all).size();
        return n * n;
    }

private:
    u64 random() { return engine_(); }
    // Few runs of equal bits: where carries travel far and halfway cases are.
    u64 runs(int width) {
        u64 x = 0;
        const int edges = 1 + random() % 4;
        for (int i = 0; i < edges; ++i) x ^= (u64(1) << random() % (width + 1)) - 1;
        return random() % 8 ? x : random();
    }
    // For functions of one number: corners, then what is hard for one of them.
    template <class F>
    u64 argument(const Shape& s, const std::vector<u64>& known) {
        if (count_ < known.size()) return known[count_];
        const u64 sign = random() & 1, fraction = random() & 1 ? random() : runs(s.fraction);
        const long double part = static_cast<long double>(random() >> 1) / (u64(1) << 63);
        const F step = std::numeric_limits<F>::epsilon();
        switch (random() % 8) {
        case 0: return s.pack(sign, random() & s.top(), fraction);  // anything
        case 1:  // near multiples of pi / 2, small and large
            return bits(static_cast<F>((random() >> random() % 64) * 1.57079632679489661923132169163975144L));
        case 2: return bits(static_cast<F>(1 + (part - 0.5L) * std::ldexp(1.0L, -int(random() % 50))));
        case 3:  // where exponentials begin and end to be numbers
            return bits(static_cast<F>((part - 0.51L) * (s.fraction == 23 ? 210 : 1500)));
        case 4: return bits(static_cast<F>((part - 0.5L) * 50));
        case 5: return bits(static_cast<F>(F(int64_t(random() % 2048) - 1024) / 64 + (random() % 3) * step));
        default: return s.pack(sign, s.bias() - 45 + random() % 56, fraction);
        }
    }
    void pair(const Shape& s, const std::vector<u64>& known, u64& a, u64& b) {
        const size_t n = known.size();
        if (count_ < n * n) {
            a = known[count_ / n];
            b = known[count_ % n];
            return;
        }
        const u64 sa = random() & 1, sb = random() & 1;
        const u64 fa = random() & 1 ? random() : runs(s.fraction);
        const u64 fb = random() & 1 ? random() : runs(s.fraction);
        u64 ea = random() & s.top(), eb = random() & s.top();
        const int64_t near = int64_t(random() % (2 * s.fraction + 8)) - s.fraction - 4;
        const auto clamped = [&](int64_t e) {
            return e < 0 ? u64(0) : e > int64_t(s.top()) ? s.top() : u64(e);
        };
        switch (random() % 8) {
        case 0: break;  // anything
        case 1: case 2: eb = clamped(int64_t(ea) + near); break;      // sums that cancel, align
        case 3: eb = clamped(int64_t(s.bias()) - int64_t(ea) + near); break;  // small products
        case 4: eb = clamped(int64_t(ea) - int64_t(s.bias()) * (near & 1 ? 1 : -1) + near / 2); break;  // quotients at the ends
        case 5: ea = random() % 3; eb = clamped(int64_t(s.bias()) + near); break;  // subnormal
        case 6: ea = clamped(int64_t(s.bias()) + near * 2); eb = random() % 3; break;  // integers
        default: {  // exact products and squares, and their neighbours
            if (s.fraction == 23) {
                const float x = f32(s.pack(0, s.bias() + random() % 60 - 30, fa >> random() % 24 << 12));
                a = bits(x * x) + random() % 3 - 1;
            } else {
                const double x = f64(s.pack(0, s.bias() + random() % 900 - 450, fa >> random() % 53 << 26));
                a = bits(x * x) + random() % 3 - 1;
                if (random() & 1) {  // near the numbers and halves of single precision
                    a = s.pack(sa, s.bias() - 152 + random() % 282, fa << 28) + random() % 3 - 1;
                }
            }
            b = s.pack(sb, eb, fb);
            return;
        }
        }
        a = s.pack(sa, ea, random() % 8 ? fa : fa & ~u64(0) << random() % s.fraction);
        b = s.pack(sb, eb, random() % 8 ? fb : fa);
    }

    std::mt19937_64 engine_;
    std::vector<u64> single_, double_, integers_;
    size_t count_ = 0;
};

struct Check {
    const char* name;
    int latency;
    u64 (*expected)(const Vector&);  // exactly; null if the result may be off by `limit`
    double (*off)(const Vector&, u64);  // by how many units in the last place a result is
    double limit;
    u64 (*found)(const Vcyc&);
};
