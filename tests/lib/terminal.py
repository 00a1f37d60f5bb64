"""Runs a command on a terminal of its own and types when it has printed something.

    terminal.py [TEXT KEYS]... -- COMMAND ARG...

Once the output since the last keys contains TEXT, KEYS are typed ("^C", "^\\" or as they are).  Prints what the command
printed, and ends with its exit status.
"""
import os
import pty
import sys

KEYS = {"^C": b"\x03", "^\\": b"\x1c"}


def main() -> int:
    at = sys.argv.index("--")
    script = [(sys.argv[i].encode(), KEYS.get(sys.argv[i + 1], sys.argv[i + 1].encode())) for i in range(1, at, 2)]
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[at + 1], sys.argv[at + 1:])
    seen = b""
    while True:
        try:
            piece = os.read(fd, 4096)
        except OSError:
            break
        if not piece:
            break
        sys.stdout.buffer.write(piece.replace(b"\r\n", b"\n"))
        seen += piece
        if script and script[0][0] in seen:
            os.write(fd, script.pop(0)[1])
            seen = b""
    sys.stdout.flush()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) % 256


sys.exit(main())
