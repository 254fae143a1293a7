"""Stand for a program that the prefork server runs: `python relay.py CONTROL script.py …` or `… -m module …`.

The server behind the socket CONTROL is asked for the program, with the streams, the folder and the environment of this
process. This process ends as the program does; if it is killed, the server sees its connection close, and ends the
program.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

NOT_RUN = 70  # the exit code where the server has died while it ran the program


def main() -> int:
    """Ask for the program, wait for it, and return its exit code; a signal that has ended it ends this process too."""
    words = sys.argv[2:]
    for number in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    request = {"words": words, "cwd": os.getcwd(), "environment": dict(os.environ)}
    with socket.socket(fileno=int(sys.argv[1])) as control:
        ours, theirs = socket.socketpair()
        try:
            socket.send_fds(control, [b"r"], [theirs.fileno(), 1, 2])
        except OSError:  # the server is gone
            os.execv(sys.executable, [sys.executable, *words])
        theirs.close()
    response = b""
    try:
        ours.sendall(json.dumps(request).encode() + b"\n")
        while data := ours.recv(4096):
            response += data
    except OSError:
        pass
    word, number_text = (*response.decode().split(), "", "")[:2]
    if word == "exit":
        return int(number_text)
    if word == "signal":
        signal.signal(int(number_text), signal.SIG_DFL)
        os.kill(os.getpid(), int(number_text))
    return NOT_RUN


if __name__ == "__main__":
    sys.exit(main())
