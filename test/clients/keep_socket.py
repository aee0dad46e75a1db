"""Holds a listening socket and runs a program on it again and again, as systemd does with a unit of
type socket. Prints the port, then the process id of each run. SIGTERM ends the run and this."""

import os
import signal
import socket
import sys

FIRST_DESCRIPTOR = 3

listener = socket.create_server(("127.0.0.1", 0), backlog=512)
print("port", listener.getsockname()[1], flush=True)
os.dup2(listener.fileno(), FIRST_DESCRIPTOR)
os.set_inheritable(FIRST_DESCRIPTOR, True)
run = 0
stopped = False


def stop(*_: object) -> None:
    global stopped
    stopped = True
    os.kill(run, signal.SIGTERM)


signal.signal(signal.SIGTERM, stop)
while not stopped:
    run = os.fork()
    if run == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
        os.execvp(sys.argv[1], sys.argv[1:])
    print("process", run, flush=True)
    status = os.waitstatus_to_exitcode(os.waitpid(run, 0)[1])
    if status != 0:
        sys.exit(f"the program ended with {status}")
