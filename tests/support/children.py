"""Processes that end with the test that started them, however it ends."""

import subprocess


def tied(command, by="KILL", user=None):
    """The command, such that it gets the signal when the thread that started it is gone, a killed test included. As
    another user, if one is named. By setpriv, which becomes the command: the test may have threads, and a
    preexec_fn must not be used then."""
    become = ["--reuid", user, "--regid", user, "--init-groups"] if user else []
    return ["setpriv", "--pdeathsig", by, *become, "--", *command]


def start(test, command, **how):
    """A child that is killed, with its pipes closed, when the test is over, unless it has ended before."""
    child = subprocess.Popen(tied(command), **how)

    def end():
        if child.poll() is None:
            child.kill()
        child.communicate()

    test.addCleanup(end)
    return child
