"""Programs that are simpler, to find the smallest that shows a difference."""


def templates(template):
    """Templates of samples that are parts of this one, or have fewer parts."""
    if not template:
        return
    parts = template.get("of", [])
    yield from parts
    if template["t"] != "point":
        yield from ({**template, "of": parts[:at] + parts[at + 1:]} for at in range(len(parts)))
    for at, part in enumerate(parts):
        yield from ({**template, "of": [*parts[:at], one, *parts[at + 1:]]} for one in templates(part))
    if template["t"] == "odd":
        yield from (template["is"], template["else"])
    for name in ("as", "ragged"):
        if name in template:
            yield {key: value for key, value in template.items() if key != name}


def inside(tree):
    """The datasets inside of one."""
    inner = tree.get("of", [])
    return inner if isinstance(inner, list) else [inner]


def without_more(program):
    """Without `init`, with fewer points at which it is saved."""
    if "init" in program:
        yield {key: value for key, value in program.items() if key != "init"}
    points = program.get("resume", [])
    for at, point in enumerate(points):
        rest = points[:at] + points[at + 1:]
        yield {**program, "resume": rest} if rest else {key: value for key, value in program.items() if key != "resume"}
        for fewer in {0, (point["after"] or 0) // 2, (point["after"] or 1) - 1} - {point["after"]}:
            if point["after"] is not None:
                yield {**program, "resume": [*points[:at], {**point, "after": fewer}, *points[at + 1:]]}


def smaller(program):
    """Programs that are simpler by one step."""
    def with_(**changed):
        return {**program, **changed}

    dataset, args = program["dataset"], program["args"]
    for name in ("sampler", "batch_sampler"):
        if name in program:
            yield {key: value for key, value in program.items() if key != name}
            for key, value in (("seed", None), ("num_samples", 1), ("indices", []), ("set_epoch", False), ("replacement", False)):
                if program[name].get(key, value) != value:
                    yield with_(**{name: {**program[name], key: value}})
    for name in args:
        if name != "num_workers":
            yield with_(args={key: value for key, value in args.items() if key != name})
    if args["num_workers"]:
        yield with_(args={**args, "num_workers": args["num_workers"] - 1})
    for name in ("concat", "subset", "tree", "chain", "length", "samples"):
        if name in dataset:
            yield with_(dataset={key: value for key, value in dataset.items() if key != name})
    for part in templates(dataset.get("samples")):
        yield with_(dataset={**dataset, "samples": part})
    if "tree" in dataset:
        for part in inside(dataset["tree"]):
            yield with_(dataset={**dataset, "tree": part})
    yield from without_more(program)
    if dataset["fails"] is not None:
        yield with_(dataset={**dataset, "fails": None})
    if dataset["n"] > 0 and "subset" not in dataset:
        for size in {dataset["n"] // 2, dataset["n"] - 1}:
            yield with_(dataset={**dataset, "n": size})
    points = program.get("resume", [])
    if len(program["stops"]) > 1:
        earlier = [{**point, "epoch": point["epoch"] - 1} for point in points if point["epoch"] > 0]
        yield with_(stops=program["stops"][1:], resume=earlier)
        # Between two epochs needs both.
        last = len(program["stops"]) - 1
        yield with_(stops=program["stops"][:-1],
                    resume=[point for point in points if point["epoch"] + (point["after"] is None) < last])
    if any(stop is not None for stop in program["stops"]):
        yield with_(stops=[None] * len(program["stops"]))
    if program["rng"] == "default":
        yield with_(rng="generator")
    if program["seed"]:
        yield with_(seed=0)
