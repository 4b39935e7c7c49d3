"""Single draws from the generator, permutations, and the seeds that workers give to NumPy."""

import torch
from torch.utils.data._utils.worker import _generate_state

from .record import Cases, draw_i64, generator, listed

COUNT = 20
HIGHS = (2, 10, 1000, 2**28 - 1, 2**28, 2**31, 2**32, 2**40)  # 2**28 is where the draw changes
GENERATOR_NOTES = (
    "Each op starts from a fresh generator seeded with in.seed (only its low 32 bits matter). "
    "rand_f32_k / rand_f64_k are integers k with value k*2^-24 / k*2^-53. mixed: ops applied in "
    "order on one generator.")
PERMUTATION_NOTES = (
    "out.perm plus next_i64: the int64 random_() drawn right after from the same generator "
    "(checks how many draws were consumed).")
SKIPPED = 1500  # int64 draws: more than one state of the generator


def random_integers(dtype, count, source):
    return torch.empty(count, dtype=dtype).random_(generator=source).tolist()


def steps_of(scale, values):
    """Floats as the integers of which they are multiples."""
    return [int(value * scale) for value in values.tolist()]


def one_generator(cases, seed):
    """Every kind of draw from a fresh generator."""
    several = {"seed": seed, "count": COUNT}
    for name, dtype in (("random_i64", torch.int64), ("random_i32", torch.int32)):
        cases.add(name, several, out=random_integers(dtype, COUNT, generator(seed)))
    for low, high in [(0, high) for high in HIGHS] + [(-5, 6)]:
        drawn = torch.randint(low, high, (COUNT,), generator=generator(seed))
        cases.add("randint", {"seed": seed, "low": low, "high": high, "count": COUNT},
                  out=drawn.tolist())
    single = torch.rand(COUNT, generator=generator(seed))
    cases.add("rand_f32_k", several, out=steps_of(2**24, single))
    double = torch.rand(COUNT, dtype=torch.float64, generator=generator(seed))
    cases.add("rand_f64_k", several, out=steps_of(2**53, double))
    cases.add("mixed", {"seed": seed}, out=mixed(generator(seed)))
    source = generator(seed)
    random_integers(torch.int64, SKIPPED, source)
    cases.add("random_i64_after_skip", {"seed": seed, "skip_i64": SKIPPED, "count": 5},
              out=random_integers(torch.int64, 5, source))


def mixed(source):
    """Different draws, one after the other, with their arguments."""
    def integers(high, count):
        return torch.randint(0, high, (count,), generator=source).tolist()

    def double():
        return torch.rand((), dtype=torch.float64, generator=source).item()

    return [["random_i64", draw_i64(source)],
            ["randperm", 5, torch.randperm(5, generator=source).tolist()],
            ["random_i64", draw_i64(source)],
            ["randint", 0, 7, 3, integers(7, 3)],
            ["randint", 0, 7, 0, integers(7, 0)],
            ["rand_f64_k", int(double() * 2**53)],
            ["random_i64", draw_i64(source)]]


def generator_cases(profile):
    cases = Cases("mt19937", GENERATOR_NOTES)
    for seed in profile.generator_seeds:
        one_generator(cases, seed)
    for base_seed in (0, 1, profile.base_seed, 2**63 - 1):
        for worker in range(4):
            cases.add("numpy_seed_state", {"base_seed": base_seed, "worker_id": worker},
                      out=_generate_state(base_seed, worker))
    return cases


def permutation_cases(profile):
    cases = Cases("randperm", PERMUTATION_NOTES)
    for seed in profile.permutation_seeds:
        for size in profile.permutation_sizes:
            source = generator(seed)
            order = torch.randperm(size, generator=source).tolist()
            cases.add("randperm", {"seed": seed, "n": size},
                      out={"perm": listed(order), "next_i64": draw_i64(source)})
    return cases
