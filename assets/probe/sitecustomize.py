"""Brings Loadscope's probe into the Python programs that `loadscope record` and `loadscope watch` start.

Its folder is first in PYTHONPATH. It leaves the path at once and ends as the import of the user's own sitecustomize ends,
also where there is none. It loads the probe only in programs that import torch.
"""


def _enter():  # pragma: no cover
    import os
    import sys

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if not p or os.path.abspath(p) != here]
    # The program may clear its environment before it imports torch.
    started_with = {name: value for name, value in os.environ.items() if name.startswith("LOADSCOPE_PROBE_")}
    source_loader = type(__spec__.loader)

    class Unlisted(source_loader):
        """Loads a module whose code has the name of no file, so that coverage tools leave it out."""

        def get_code(self, name):
            return _unlisted(super().get_code(name))

    class Waiting:
        """Loads the probe when torch is about to be imported."""

        def find_spec(self, name, path=None, target=None):
            if name == "torch":
                try:
                    sys.meta_path.remove(self)
                except ValueError:
                    # Another thread imports it, too.
                    return None
                if "loadscope_probe" not in sys.modules:
                    try:
                        load("loadscope_probe")
                    except Exception:
                        sys.modules.pop("loadscope_probe", None)

    def load(name):
        from importlib.util import module_from_spec, spec_from_file_location

        file = os.path.join(here, name + ".py")
        spec = spec_from_file_location(name, file, loader=Unlisted(name, file))
        module = sys.modules[name] = module_from_spec(spec)
        module.STARTED_WITH = started_with
        spec.loader.exec_module(module)

    sys.meta_path.insert(0, Waiting())
    sys.modules.pop(__name__, None)
    # An error of it is the program's. `site` passes over the one that says that there is none.
    import sitecustomize  # noqa: F401


def _unlisted(code):  # pragma: no cover
    """The same code, and the code inside it, with a name that Python's warnings and coverage tools pass over."""
    inner = tuple(_unlisted(one) if isinstance(one, type(code)) else one for one in code.co_consts)
    return code.replace(co_filename="<loadscope, passed over like importlib._bootstrap>", co_consts=inner)


def _beyond(tb):  # pragma: no cover
    """A traceback without its first frames that are of this file."""
    ours = (_beyond.__code__.co_filename, _unlisted(_beyond.__code__).co_filename)
    while tb is not None and tb.tb_frame.f_code.co_filename in ours:
        tb = tb.tb_next
    return tb


try:  # pragma: no cover
    for _one in (_unlisted, _enter):
        _one.__code__ = _unlisted(_one.__code__)
    _enter()
except BaseException as error:  # pragma: no cover
    error.__traceback__ = _beyond(error.__traceback__)
    raise
