"""``record``: a ``with`` block or a decorator that records a part of a program."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Union, overload

from ._options import Epochs, Size, Time
from ._recording import Recording, start

if TYPE_CHECKING:
    from typing import Generic, Protocol, TypeVar

    from typing_extensions import ParamSpec

    P = ParamSpec("P")
    R = TypeVar("R", covariant=True)

    class Recorded(Protocol, Generic[P, R]):
        """A decorated function. ``recording`` is its last recording, or ``None`` before the first call."""

        recording: Optional[Recording]

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...
        @overload
        def __get__(self, instance: None, owner: Any = None) -> "Recorded[P, R]": ...
        @overload
        def __get__(self, instance: object, owner: Any = None) -> Callable[..., R]: ...


class Recorder:
    """Arguments of :func:`start`, for a ``with`` block or as a decorator."""

    def __init__(self, arguments: Dict[str, Any]) -> None:
        self._arguments = arguments
        self._recordings: List[Recording] = []

    def __enter__(self) -> Recording:
        self._recordings.append(start(**self._arguments))
        return self._recordings[-1]

    def __exit__(self, *error: Any) -> None:
        self._recordings.pop().stop()

    def __call__(self, function: "Callable[P, R]") -> "Recorded[P, R]":
        return decorated(function, self._arguments)  # type: ignore[no-any-return]


@overload
def record(path: "Callable[P, R]") -> "Recorded[P, R]": ...
@overload
def record(
    path: "Union[str, os.PathLike[str], None]" = None,
    *,
    force: bool = False,
    previews: int = 0,
    live: bool = False,
    last: Optional[Time] = None,
    max_size: Optional[Size] = None,
    skip_first: int = 0,
    epochs: Optional[Epochs] = None,
) -> Recorder: ...
def record(path: Any = None, **arguments: Any) -> Any:
    """Records a part of a program, as ``with record() as run:`` or as the decorator ``@record`` or ``@record()``.

    A decorated function has its last recording in the attribute ``recording``. Generators, coroutines and asynchronous generators are recorded
    from their first step to their end. The arguments are those of :func:`start`.

    Raises:
        TypeError: if the decorated object is a class or a property, or an argument does not exist.
    """
    unknown = sorted(set(arguments) - NAMES)
    if unknown:
        raise TypeError("record() got an unexpected keyword argument %r. Valid: path, %s." % (unknown[0], ", ".join(sorted(NAMES))))
    if is_function(path):
        return decorated(path, arguments)
    return Recorder({"path": path, **arguments})


NAMES = set(inspect.signature(start).parameters) - {"path"}
record.__signature__ = inspect.signature(start).replace(return_annotation=inspect.Signature.empty)  # type: ignore[attr-defined]


def is_function(value: Any) -> bool:
    """True for whatever is decorated, false for a path."""
    if value is None or isinstance(value, (str, bytes, os.PathLike)):
        return False
    return callable(value) or isinstance(value, (staticmethod, classmethod, property, functools.cached_property))


def decorated(function: Any, arguments: Dict[str, Any]) -> Any:
    """The function that records its calls."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(decorated(function.__func__, arguments))
    if isinstance(function, type) or not callable(function):
        raise TypeError("@loadscope.record expects a function, not %s. Decorate the method that trains." % shown(function))
    return wrapped(function, arguments)


def shown(thing: Any) -> str:
    if isinstance(thing, type):
        return "the class %s" % thing.__qualname__
    return "a %s" % type(thing).__name__


def is_of(kind: Callable[[Any], bool], function: Any) -> bool:
    """True if a function, a method, or an object with such a method is of a kind."""
    return kind(function) or (not inspect.isroutine(function) and kind(getattr(type(function), "__call__", None)))


def wrapped(function: Any, arguments: Dict[str, Any]) -> Any:
    """The function that records each call. Of a generator it is one, of a coroutine function too."""
    wrapper: Any

    def recorded() -> Any:
        if wrapper.recording is not None and wrapper.recording.is_recording:
            # A call from within is part of the recording.
            return contextlib.nullcontext()
        wrapper.recording = start(**arguments)
        return wrapper.recording

    if is_of(inspect.iscoroutinefunction, function):

        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            with recorded():
                return await function(*args, **kwargs)

    elif is_of(inspect.isgeneratorfunction, function):

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with recorded():
                return (yield from function(*args, **kwargs))

    elif is_of(inspect.isasyncgenfunction, function):

        @functools.wraps(function)
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            with recorded():
                inner = function(*args, **kwargs)
                try:
                    step = inner.__anext__()
                    while True:
                        try:
                            value = await step
                        except StopAsyncIteration:
                            return
                        try:
                            step = inner.asend((yield value))
                        except GeneratorExit:
                            raise
                        except BaseException as error:
                            step = inner.athrow(error)
                finally:
                    await inner.aclose()

    else:

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with contextlib.ExitStack() as stack:
                stack.enter_context(recorded())
                return until_its_end(function(*args, **kwargs), stack)

    wrapper.recording = None
    return wrapper


def until_its_end(result: Any, stack: "contextlib.ExitStack") -> Any:
    """The result of a function. A generator or coroutine that another decorator hides is recorded to its end."""
    if inspect.isgenerator(result):
        rest: Any = rest_of_generator
    elif inspect.iscoroutine(result):
        rest = rest_of_coroutine
    else:
        return result
    recording = stack.pop_all()
    later = rest(result, recording)
    # One that is never started has no end of its own.
    weakref.finalize(later, recording.close)
    return later


def rest_of_generator(generator: Any, stack: "contextlib.ExitStack") -> Any:
    with stack:
        return (yield from generator)


async def rest_of_coroutine(coroutine: Any, stack: "contextlib.ExitStack") -> Any:
    with stack:
        return await coroutine
