"""``python -m loadscope``: the program ``loadscope``, and ``install`` and ``uninstall``, which are about this Python."""

import os
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
    # A program that it records finds its libraries as it would have without us.
    own = environment() if arguments[:1] not in (["record"], ["watch"], ["tune"]) else dict(os.environ)
    if os.name == "posix":
        # It takes our place, so that signals and the exit code are its own.
        os.execve(program, [program, *arguments], own)
    return subprocess.call([program, *arguments], env=own)


if __name__ == "__main__":
    sys.exit(main())
