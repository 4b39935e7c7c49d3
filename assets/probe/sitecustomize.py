"""Brings Loadscope's probe into the Python programs that `loadscope record` and `loadscope watch` start.

Its folder stands first in PYTHONPATH. It leaves the path again at once, lets the user's own sitecustomize run as if this
one did not exist, and loads the probe only in programs that import torch.
"""


def _enter():
    import os
    import sys

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if not p or os.path.abspath(p) != here]

    class Waiting:
        """Hears that torch is about to be imported."""

        def find_spec(self, name, path=None, target=None):
            if name == "torch":
                try:
                    sys.meta_path.remove(self)
                except ValueError:
                    # Another thread imports it, too.
                    return None
                if "loadscope_probe" not in sys.modules:
                    sys.path.insert(0, here)
                    try:
                        import loadscope_probe  # noqa: F401
                    except Exception:
                        pass
                    finally:
                        if here in sys.path:
                            sys.path.remove(here)

    sys.meta_path.insert(0, Waiting())
    ours = sys.modules.pop(__name__, None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        # The import system wants to find something under this name.
        sys.modules.setdefault(__name__, ours)


_enter()
