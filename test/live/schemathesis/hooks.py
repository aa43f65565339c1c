"""What Schemathesis has to know of the server that it examines: how to log in, and which objects there are.

It reads from the environment TENANTRY_URL, TENANTRY_USERNAME and TENANTRY_PASSWORD of a staff user, and TENANTRY_EXPLAINED,
the file that gets the number of findings for each explanation of explained.py.
"""

import atexit
import collections
import itertools
import json
import os
import re

import requests
import schemathesis
from schemathesis.checks import CHECKS
from schemathesis.core.failures import Failure

import explained

url = os.environ["TENANTRY_URL"]
credentials = {"username": os.environ["TENANTRY_USERNAME"], "password": os.environ["TENANTRY_PASSWORD"]}
session = requests.Session()


def log_in():
    response = session.post(f"{url}/api-auth/password/", json=credentials)
    response.raise_for_status()
    return response.json()["token"]


@schemathesis.auth()
class Token:
    """Logs in again when a request has ended the session, as a logout does."""

    def get(self, case, context):
        return log_in()

    def set(self, case, data, context):
        case.headers = {**(case.headers or {}), "Authorization": f"Token {data}"}


class Objects:
    """Keys of objects by the paths of their collections, read again after so many requests."""

    requests_between_reads = 500

    def __init__(self):
        self.keys = {}
        self.count = itertools.count()
        self.token = log_in()
        [self.own] = self.read(f"{url}/api/users/?current")

    def read(self, address):
        response = session.get(address, headers={"Authorization": f"Token {self.token}"})
        if response.status_code == 401:
            self.token = log_in()
            return self.read(address)
        found = response.json() if response.ok else []
        return found if isinstance(found, list) else []

    def some(self, collection):
        """Returns the keys of some objects of a collection, never that of the user who is logged in."""
        turn = next(self.count) // self.requests_between_reads
        known = self.keys.get(collection)
        if known is None or known[0] != turn:
            found = self.read(f"{url}{collection}?page_size=20")
            keys = [str(one.get("uuid") or one.get("pk")) for one in found if isinstance(one, dict)]
            known = self.keys[collection] = (turn, [key for key in keys if key != self.own["uuid"]])
        return known[1]


objects = Objects()
request_count = itertools.count()
# Most deletions go to missing objects, or soon nothing would be left.
deletions_of_real_objects = 20
example_link = re.compile(r"^https://tenantry\.example\.com(/api/[a-z0-9-]+/)[0-9a-f]{32}/$")


def live_link(collection):
    """Returns a link to an object of a collection; None of an empty one."""
    keys = objects.some(collection)
    return f"{url}{collection}{keys[next(request_count) % len(keys)]}/" if keys else None


def live(value):
    """Returns a body in which the links of the document's examples name objects of the server."""
    if isinstance(value, dict):
        return {name: live(member) for name, member in value.items()}
    if isinstance(value, list):
        return [live(item) for item in value]
    link = example_link.match(value) if isinstance(value, str) else None
    return link and live_link(link[1]) or value


def collections_of(operation):
    """Returns the collections that the fields of an operation's body link to."""
    content = operation.definition.raw.get("requestBody", {}).get("content", {})
    schema = next(iter(content.values()), {}).get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    fields = operation.schema.raw_schema["components"]["schemas"].get(name, schema).get("properties", {})
    links = {field: example_link.match(str(shape.get("examples", [""])[0])) for field, shape in fields.items()}
    return {field: link[1] for field, link in links.items() if link}


@schemathesis.hook
def before_call(context, case, kwargs):
    turn = next(request_count)
    key = str((case.path_parameters or {}).get("key", ""))
    if key == objects.own["uuid"] and case.method != "GET":
        # Without its user the examination would end here.
        case.path_parameters["key"] = "0" * 32
    elif re.fullmatch(r"[0-9A-Fa-f]{32}|\d+", key) and case.meta and case.meta.phase.name.value != "stateful":
        keys = objects.some(re.split(r"\{key\}", case.operation.path)[0])
        if keys and (turn % deletions_of_real_objects == 0 if case.method == "DELETE" else turn % 2 == 0):
            case.path_parameters["key"] = keys[turn % len(keys)]
    if isinstance(case.body, (dict, list)):
        case.body = live(case.body)
    if case.operation.path == "/api/sessions/confirm/" and isinstance(case.body, dict):
        # Wrong passwords and codes lock the user.
        right = {"password": credentials["password"]}
        case.body = right if any(isinstance(value, str) for value in case.body.values()) else case.body
    # Texts that Schemathesis makes up lead nowhere: most of them become links to objects, too.
    if isinstance(case.body, dict) and case.meta and case.meta.generation.mode.is_positive and turn % 8 != 0:
        for field, collection in collections_of(case.operation).items():
            if isinstance(case.body.get(field), str) and not case.body[field].startswith(url):
                case.body[field] = live_link(collection) or case.body[field]


counts = collections.Counter()


def explaining(name):
    """Replaces a check by one that lets pass what explained.py explains."""
    original = CHECKS.get_one(name)

    def check(ctx, response, case):
        try:
            return original(ctx, response, case)
        except Failure as failure:
            reason = explained.reason_of(name, case, response, failure)
            if reason is None:
                raise
            counts[reason] += 1
            return None

    check.__name__ = f"unexplained_{name}"
    schemathesis.check(check)


for name in explained.checks:
    explaining(name)


@atexit.register
def report():
    # Schemathesis may import this module more than once, and checks by the last copy.
    if not counts:
        return
    with open(os.environ["TENANTRY_EXPLAINED"], "w") as file:
        json.dump(counts, file)
