"""A Tenantry in memory for tests, as a separate process. Standard library only."""

import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request


class ApiError(Exception):
    """An error response: its status and text."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body}")
        self.status = status
        self.body = body


def send(method, url, authorization, body=None):
    """Sends a request and returns the parsed JSON of the response."""
    request = urllib.request.Request(url, method=method, headers={"Authorization": authorization})
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.loads(response.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            raise ApiError(error.code, error.read().decode()) from None


class Tenantry:
    """Arguments: the command that runs it, a file with a seed, and the time at which its clock stops. Must be closed."""

    def __init__(self, *command, seed=None, clock=None):
        words = [*command, "serve", "--ephemeral", "--control", "--port", "0", "--log-level", "silent"]
        words += ["--seed", seed] if seed else []
        words += ["--clock", clock] if clock else []
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        line = self._process.stdout.readline()
        if not line:
            self._process.stdout.close()
            raise RuntimeError(f"it ended with {self._process.wait()}")
        ready = json.loads(line)
        self.url = ready["url"]
        self.token = ready["token"]
        self._control = ready["control"]

    def close(self):
        self._process.terminate()
        self._process.wait()
        self._process.stdout.close()

    def control(self, method, path, body=None):
        return send(method, self._control["url"] + path, f"Bearer {self._control['secret']}", body)

    def reset(self):
        self.control("POST", "/reset")

    def snapshot(self, name):
        self.control("POST", f"/snapshots/{urllib.parse.quote(name, safe='')}")

    def restore(self, name):
        self.control("POST", f"/snapshots/{urllib.parse.quote(name, safe='')}/restore")

    def advance(self, duration):
        self.control("POST", "/advance", {"duration": duration})

    def fail_next(self, kind, operation, message):
        self.control("POST", "/fail-next", {"kind": kind, "operation": operation, "message": message})

    def events(self):
        return self.control("GET", "/events")

    def mails(self):
        return self.control("GET", "/mails")

    def seeded(self, name):
        return self.control("GET", f"/seeded/{urllib.parse.quote(name, safe='')}")

    def get_as(self, username, path):
        """Returns a response to a user, who is authenticated by a new token."""
        token = self.control("POST", f"/tokens/{urllib.parse.quote(username, safe='')}")["token"]
        return send("GET", self.url + path, f"Token {token}")
