"""Programs that were not written for us: PyTorch's examples, and the trainers of the libraries that people train with.

They run on small data that is made here, as they are, with their random numbers seeded where they offer it. What is not at hand is reported as missing:
`examples` is a checkout of github.com/pytorch/examples; the libraries are those of the interpreter and of PYTHONPATH.
"""

import os
import pathlib
import re

from recording import HERE, Missing, Recording, check_joined, must, recorded, run, steady

# Figures that measure time and speed, and names that are drawn anew each time.
RESTLESS = (
    # imagenet: "Time  0.512 ( 0.690)"; dcgan prints none.
    (r"(Time|Data)\s+[\d.]+ \(\s*[\d.]+\)", r"\1"),
    # transformers: "'train_runtime': '2.318'", also without the inner quotes.
    (r"'(\w+_runtime|\w+_per_second)': '?[\d.]+'?", r"\1"),
    (r"\d+(\.\d+)?\s*(it/s|s/it|ms|seconds)\b", "…"),
    # Lightning gives another piece of advice each time.
    (r"💡.*", "…"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,\d]*|[WE]\d{4} \d\d:\d\d:\d\d\.\d+ \d+", "…"),
    (r"(127\.0\.0\.1|localhost|\[?::1\]?):\d+|torchelastic_\w+|/tmp/\S+", "…"),
)


def settled(text, sort):
    for pattern, instead in RESTLESS:
        text = re.sub(pattern, instead, text)
    lines = steady(text)
    return sorted(lines) if sort else lines


def same_with_and_without(loadscope, command, folder, sort=False, keeps=()):
    """Runs it in two folders. `sort`: its processes write at the same time. `keeps`: files whose content is the same, too."""
    came, files = [], []
    log = os.path.join(folder, "log.jsonl")
    for who in ("bare", "recorded"):
        place = os.path.join(folder, who)
        os.makedirs(place)
        # Compiled files must not make the second one different.
        more = {"cwd": place, "env": {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}}
        came.append(run(command, **more) if who == "bare" else recorded(loadscope, log, command, **more))
        if came[0].returncode == 42:
            raise Missing((came[0].stderr.strip().splitlines() or ["a library is missing"])[-1])
        files.append([contents(command[0], os.path.join(place, name)) for name in keeps])
    bare, other = came
    must(bare.returncode == 0, "the bare program fails: " + bare.stderr[-700:])
    must(other.returncode == 0, "the exit code is %d: %s" % (other.returncode, other.stderr[-700:]))
    for name in ("stdout", "stderr"):
        one, two = settled(getattr(bare, name), sort), settled(getattr(other, name), sort)
        # Processes that write at the same time write into each other's lines.
        same = one == two or (sort and sorted("".join(one)) == sorted("".join(two)))
        must(same, "%s differs: %s" % (name, [line for line in two if line not in one] or [line for line in one if line not in two]))
    must(files[0] == files[1], "the results differ: %s" % (files,))
    recording = Recording(log)
    recording.whole()
    batches = sum(check_joined(events, "loader %d" % run)[0] for run, events in recording.runs.items())
    must(batches, "no batch was seen")
    return recording, "%d loaders, %d batches" % (len(recording.runs), batches)


# Weights, whatever else is in the file.
SUMS = """import hashlib, sys, torch
saved = torch.load(sys.argv[1], map_location="cpu", weights_only=True)
whole = hashlib.sha256()
for name, values in sorted(saved.get("state_dict", saved).items()):
    whole.update(name.encode() + values.numpy().tobytes())
print(whole.hexdigest())
"""


def contents(python, path):
    came = run([python, "-c", SUMS, path])
    must(came.returncode == 0, came.stderr[-500:])
    return came.stdout


def has(python, *modules):
    came = run([python, "-c", "import " + ", ".join(modules)])
    if came.returncode != 0:
        raise Missing(came.stderr.strip().splitlines()[-1])


def pictures(python, folder, count):
    """A folder of pictures in two classes, for training and for validation."""
    root = os.path.join(folder, "pictures")
    script = (
        "import os, random, sys\nfrom PIL import Image\nrandom.seed(1)\n"
        "for part in ('train', 'val'):\n"
        "    for kind in ('first', 'second'):\n"
        "        place = os.path.join(sys.argv[1], part, kind)\n"
        "        os.makedirs(place)\n"
        "        for number in range(int(sys.argv[2])):\n"
        "            color = tuple(random.randrange(256) for _ in range(3))\n"
        "            Image.new('RGB', (280, 260), color).save(os.path.join(place, '%d.jpg' % number))\n"
    )
    made = run([python, "-c", script, root, str(count)])
    must(made.returncode == 0, made.stderr[-500:])
    return root


def example(options, *parts):
    if not options.examples:
        raise Missing("no checkout of pytorch/examples was given")
    path = pathlib.Path(options.examples, *parts)
    if not path.exists():
        raise Missing("%s is not there" % path)
    return str(path.resolve())


def check_imagenet(loadscope, python, folder, options):
    script = example(options, "imagenet", "main.py")
    has(python, "torchvision", "PIL")
    command = [python, script, pictures(python, folder, 8), "-a", "squeezenet1_1", "--epochs", "2", "-b", "4", "-j", "2", "--seed", "1", "-p", "1"]
    return same_with_and_without(loadscope, command, folder, keeps=["checkpoint.pth.tar"])[1]


def check_imagenet_ranks(loadscope, python, folder, options):
    """Under torchrun, four ranks over gloo."""
    script = example(options, "imagenet", "main.py")
    has(python, "torchvision", "PIL")
    launch = [python, "-m", "torch.distributed.run", "--nproc_per_node", "4", "--standalone"]
    more = ["-a", "squeezenet1_1", "--epochs", "1", "-b", "2", "-j", "1", "--seed", "1", "--dist-url", "env://", "--dist-backend", "gloo"]
    command = [*launch, script, pictures(python, folder, 8), *more]
    recording, said = same_with_and_without(loadscope, command, folder, sort=True)
    ranks = sorted(recording.info(run)["rank"] for run in recording.runs)
    must(ranks == [0, 0, 1, 1, 2, 2, 3, 3], "ranks %s" % ranks)
    return "4 ranks, " + said


def check_dcgan(loadscope, python, folder, options):
    """It leaves its loader in the middle of an epoch."""
    script = example(options, "dcgan", "main.py")
    has(python, "torchvision")
    command = [python, script, "--dataset", "fake", "--dry-run", "--workers", "2", "--batchSize", "8", "--manualSeed", "1", "--ngf", "8", "--ndf", "8"]
    return same_with_and_without(loadscope, command, folder, keeps=["netG_epoch_0.pth"])[1]


def check_trainer(loadscope, python, folder, options):
    return same_with_and_without(loadscope, [python, str(HERE / "with_transformers.py")], folder)[1]


def check_accelerate(loadscope, python, folder, options):
    """`accelerate launch` starts it; the trainer's loaders are those of accelerate anyway."""
    has(python, "accelerate")
    launch = [python, "-m", "accelerate.commands.launch", "--cpu", "--num_processes", "1", "--num_machines", "1"]
    launch += ["--mixed_precision", "no", "--dynamo_backend", "no"]
    return same_with_and_without(loadscope, [*launch, str(HERE / "with_transformers.py")], folder)[1]


def check_lightning(loadscope, python, folder, options):
    return same_with_and_without(loadscope, [python, str(HERE / "with_lightning.py")], folder)[1]


CHECKS = {
    "pytorch/examples: imagenet": check_imagenet,
    "pytorch/examples: imagenet, torchrun": check_imagenet_ranks,
    "pytorch/examples: dcgan": check_dcgan,
    "transformers: Trainer": check_trainer,
    "transformers: Trainer, accelerate launch": check_accelerate,
    "Lightning: Trainer": check_lightning,
}


def checks(options):
    for name, check in CHECKS.items():
        yield "fork", name, lambda loadscope, python, start, folder, check=check: check(loadscope, python, folder, options)
