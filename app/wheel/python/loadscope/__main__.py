"""``python -m loadscope``: runs the program ``loadscope``. ``install`` and ``uninstall`` apply to this Python."""

import os
import signal
import subprocess
import sys

from ._binary import LoadscopeError, binary, environment


def main() -> int:
    arguments = sys.argv[1:]
    try:
        if arguments[:1] in (["install"], ["uninstall"]) and "-h" not in arguments and "--help" not in arguments:
            from . import _install

            return _install.main(arguments)
        program = binary()
    except LoadscopeError as error:
        print("loadscope: %s" % error, file=sys.stderr)
        return 2
    # A recorded program finds its libraries as it does without Loadscope.
    own = environment() if arguments[:1] not in (["record"], ["watch"], ["tune"]) else dict(os.environ)
    if os.name == "posix":
        # Python ignores these signals, and a program inherits that. subprocess restores them in the same way.
        for name in ("SIGPIPE", "SIGXFZ", "SIGXFSZ"):
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_DFL)
        # exec replaces this process, so signals and the exit code are those of the program.
        os.execve(program, [program, *arguments], own)
    return subprocess.call([program, *arguments], env=own)


if __name__ == "__main__":
    sys.exit(main())
