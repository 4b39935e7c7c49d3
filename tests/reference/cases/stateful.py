"""What torchdata's StatefulDataLoader makes of a program that is saved and resumed, beside PyTorch's program that is not interrupted."""

import logging
import warnings

from . import programs
from .record import let_go

try:
    from torchdata.stateful_dataloader import StatefulDataLoader
except ImportError:
    StatefulDataLoader = None

# It tells each time that it goes through a dataset again.
logging.getLogger("torchdata").setLevel(logging.ERROR)
ALIKE = "StatefulDataLoader resumes as the program that is not interrupted"
SEEDS = "StatefulDataLoader resumes with the same samples, in other workers or with other seeds"
OTHER = "StatefulDataLoader resumes with other samples"
END = "StatefulDataLoader, saved where an epoch ends, begins the next one"
RAISES = "StatefulDataLoader cannot resume"


def is_asked(program, said):
    """One in ten of those that are saved, go on with as many workers, and get an iterator in each epoch."""
    points = program.get("resume", [])
    if StatefulDataLoader is None or program["seed"] % 10 != 3 or not points or "out" not in said:
        return False
    return not any("workers" in point for point in points) and all(isinstance(epoch, list) for epoch in said["out"]["epochs"])


def is_at_an_end(program, epochs):
    """Whether it is saved where nothing more of an epoch follows."""
    return any(point["after"] is not None and point["after"] >= len(epochs[point["epoch"]]) for point in program["resume"])


def compared(program, said):
    """How the batches of the resumed program are beside what PyTorch said."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            epochs = resumed(program)
    except Exception as error:
        let_go(error)
        return RAISES
    uninterrupted = said["out"]["epochs"]
    if epochs == uninterrupted:
        return ALIKE
    if is_at_an_end(program, uninterrupted):
        return END
    return SEEDS if [samples_of(one) for one in epochs] == [samples_of(one) for one in uninterrupted] else OTHER


def samples_of(epoch):
    """The batches without who made them."""
    return [batch[0] if isinstance(batch, list) else batch for batch in epoch] if isinstance(epoch, list) else epoch


def resumed(program):
    parts, epochs = programs.Parts(program, False, StatefulDataLoader), []
    for number, most in enumerate(program["stops"]):
        points = [point["after"] for point in program["resume"] if point["epoch"] == number]
        came = []
        for after in [*(after for after in points if after is not None), None]:
            for sampler in parts.epochs:
                sampler.set_epoch(number)
            iterator = iter(parts.loader)
            until = min(count for count in (most, after, 200) if count is not None)
            came += programs.one_epoch(iterator, parts.shown(), max(0, until - len(came)))
            if after is not None:
                parts = again(program, parts, iterator)
            del iterator
        epochs.append(came)
        if None in points:
            parts = again(program, parts, None)
    return epochs


def again(program, parts, iterator):
    """Everything anew, as in another run of the program, and the state loaded."""
    state = parts.loader.state_dict()
    del iterator
    parts.loader = None
    new = programs.Parts(program, False, StatefulDataLoader)
    new.loader.load_state_dict(state)
    return new
