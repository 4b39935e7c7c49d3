"""The numbers that go into the cases: those of the bundled files, and others of the same shapes."""

import dataclasses
import random
import zlib


@dataclasses.dataclass(frozen=True)
class Profile:
    """Seeds, sizes and parameters for every area."""

    generator_seeds: list  # for single draws
    permutation_seeds: list
    permutation_sizes: list
    sampler_seeds: list
    random_samplers: list  # (size, num_samples or None)
    weighted_seeds: list
    weighted_sizes: list  # one below, one above 100
    distributed_sizes: list  # three below 100, one above
    distributed_seeds: list
    loaders: list  # (size of the dataset, batch size): the first small, the second of 20 to 40
    loader_seeds: list  # one for each of `loaders`
    iterable_sizes: list  # one up to 20, one above
    shards: list  # samples of each worker
    splits: list  # (size, lengths or fractions)
    split_seeds: list
    concatenated: list  # sizes of the members
    slow: list  # samples that take long; the first at most 5
    base_seed: int  # of a worker, 63 bits
    shift: int  # added to numbers in batches to collate
    is_default: bool = False  # only then a worker dies and a batch times out


DEFAULT = Profile(
    generator_seeds=[0, 1, 42, 2**31, 2**32 + 5, 2**63 - 1],
    permutation_seeds=[0, 7, 42, 2**32 + 5],
    permutation_sizes=[0, 1, 2, 10, 100, 1000, 70000],
    sampler_seeds=[0, 42],
    random_samplers=[(10, None), (10, 4), (10, 10), (10, 25), (10, 30), (33, 32), (33, 100),
                     (1, 5), (1000, None)],
    weighted_seeds=[0, 42],
    weighted_sizes=[10, 1000],
    distributed_sizes=[3, 10, 23, 101],
    distributed_seeds=[0, 7],
    loaders=[(10, 4), (23, 5)],
    loader_seeds=[42, 7],
    iterable_sizes=[10, 23],
    shards=[[3, 8, 5], [1, 7], [6, 0, 2]],
    splits=[(10, [3, 7]), (30, [0.3, 0.3, 0.4]), (10, [0.5, 0.5]), (101, [0.3, 0.3, 0.4]),
            (7, [0.9, 0.1]), (20, [20]), (5, [0.1, 0.1, 0.8]), (100, [1.0])],
    split_seeds=[0, 42],
    concatenated=[[3, 5, 2], [1], [4, 0, 6]],
    slow=[1, 5],
    base_seed=1234567890123456789,
    shift=0,
    is_default=True,
)


def named(name):
    """The default profile, or the one of the seed that the name is hashed to."""
    return DEFAULT if name == "default" else derived(zlib.crc32(name.encode()))


def derived(seed):
    """A profile of the same shapes with other numbers, the same for the same seed."""
    source = random.Random(seed)
    between = source.randint

    def seeds(count):
        # Small ones, ones of 32 bits and ones of which only the low half counts.
        return [between(1, 2 ** source.choice((8, 16, 32, 48, 63)) - 1) for _ in range(count)]

    size, larger = between(6, 15), between(20, 60)
    return Profile(
        generator_seeds=seeds(6),
        permutation_seeds=seeds(4),
        permutation_sizes=[0, 1, 3, between(4, 30), between(50, 300), between(900, 3000),
                           between(20_000, 90_000)],
        sampler_seeds=seeds(2),
        random_samplers=[(size, None), (size, between(1, size - 1)), (size, size),
                         (size, 2 * size + between(1, size - 1)), (size, 3 * size),
                         (larger, 32), (larger, 2 * larger + between(1, 40)),
                         (1, between(2, 9)), (between(900, 1500), None)],
        # The weights are drawn from seed * 1000 + size.
        weighted_seeds=[between(1, 2**31) for _ in range(2)],
        weighted_sizes=[between(6, 20), between(300, 900)],
        distributed_sizes=[between(1, 5), between(8, 16), between(17, 60), between(101, 150)],
        distributed_seeds=seeds(2),
        loaders=[(between(8, 16), between(2, 5)), (between(21, 35), between(3, 7))],
        loader_seeds=seeds(2),
        iterable_sizes=[between(7, 16), between(21, 34)],
        shards=[[between(1, 9) for _ in range(3)], [between(1, 3), between(4, 9)],
                [between(3, 9), 0, between(1, 4)]],
        splits=splits(between),
        split_seeds=seeds(2),
        concatenated=[[between(1, 6) for _ in range(3)], [between(1, 4)],
                      [between(1, 5), 0, between(1, 7)]],
        slow=[between(0, 4), between(6, 12)],
        base_seed=between(2**40, 2**63 - 1),
        shift=between(1, 30),
    )


def splits(between):
    """Lengths that add up, and fractions whose rest has to be handed round."""
    size, part = between(9, 20), between(2, 7)
    return [(size, [part, size - part]), (between(20, 60), [0.3, 0.3, 0.4]),
            (between(5, 30), [0.5, 0.5]), (between(90, 140), [0.25, 0.35, 0.4]),
            (between(5, 12), [0.9, 0.1]), (size, [size]), (between(4, 8), [0.1, 0.1, 0.8]),
            (between(40, 120), [1.0])]
