#!/usr/bin/env python3
"""A client of Tenantry in Python, with the standard library only, and a check that tests a server with it.

    python3 check.py <base url> <username> <password> <lesser username> <lesser password>

Prints one JSON object per step. `Client` and `ApiError` are examples to read and to copy.
"""
import base64
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
import uuid


class ApiError(Exception):
    """An error response: `status`, and either `detail` or the messages by field."""

    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.detail = body.get("detail")
        self.fields = {} if "detail" in body else body
        super().__init__(f"{status}: {self.detail or self.fields}")


class Response:
    """A successful response: `status`, `headers`, and `body`: parsed JSON, other bytes, or None."""

    def __init__(self, status, headers, content):
        self.status = status
        self.headers = headers
        is_json = headers.get_content_type() == "application/json"
        self.body = json.loads(content) if is_json and content else content or None

    @property
    def links(self):
        """The addresses of the Link header by their relation: first, prev, next, last."""
        return {rel: url for url, rel in re.findall(r'<([^>]*)>; rel="(\w+)"', self.headers.get("Link", ""))}


class Client:
    """A caller of the API. Paths start with a slash; links from the server work, too."""

    def __init__(self, base, timeout=10):
        self.base = base.rstrip("/")
        self.timeout = timeout
        self.token = None

    def login(self, username, password):
        self.token = self.post("/api-auth/password/", {"username": username, "password": password}).body["token"]

    def logout(self):
        self.post("/api-auth/logout/")

    def get(self, path, etag=None, **parameters):
        """Reads; with the `etag` of an earlier response, None if nothing has changed since."""
        query = f"?{urllib.parse.urlencode(parameters, doseq=True)}" if parameters else ""
        return self.request("GET", path + query, headers={"If-None-Match": etag} if etag else {})

    def pages(self, path, **parameters):
        """Yields the pages of a list, each found by the link of the one before it."""
        page = self.get(path, **parameters)
        yield page
        while "next" in page.links:
            page = self.get(page.links["next"])
            yield page

    def post(self, path, fields=None):
        return self.write("POST", path, fields)

    def patch(self, path, fields):
        return self.write("PATCH", path, fields)

    def delete(self, path):
        return self.request("DELETE", path)

    def upload(self, path, field, filename, media_type, content):
        """Puts a file as the only part of a form."""
        boundary = uuid.uuid4().hex
        head = (
            f"--{boundary}\r\n"
            f'Content-Disposition: form-data; name="{field}"; filename="{filename}"\r\n'
            f"Content-Type: {media_type}\r\n\r\n"
        )
        body = head.encode() + content + f"\r\n--{boundary}--\r\n".encode()
        return self.request("PUT", path, body, {"Content-Type": f"multipart/form-data; boundary={boundary}"})

    def write(self, method, path, fields):
        body = None if fields is None else json.dumps(fields).encode()
        return self.request(method, path, body, {"Content-Type": "application/json"} if body else {})

    def request(self, method, path, body=None, headers=None):
        headers = dict(headers or {})
        url = urllib.parse.urljoin(self.base, path)
        if not url.startswith(self.base + "/"):
            raise ValueError(f"{url} is not of {self.base}, which alone may see the token")
        if self.token:
            headers["Authorization"] = f"Token {self.token}"
        request = urllib.request.Request(url, body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:
                return Response(response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 304:
                    return None
                raise ApiError(error.code, error.headers, json.loads(error.read())) from None


# The check: each step sends requests and returns their results.

TEXT = "Ünïcode & Söhne – 東京 🚀 \"'<b>\\"
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def error_of(call, *arguments):
    """Returns the error of a request that must fail."""
    try:
        call(*arguments)
    except ApiError as error:
        return {"status": error.status, "detail": error.detail, "fields": error.fields}
    raise AssertionError("the request did not fail")


def names(page):
    return [item["name"] for item in page.body]


def check_login(client, username, password):
    anonymous = Client(client.base)
    reported = {
        "without token": error_of(anonymous.get, "/api/customers/"),
        "wrong password": error_of(anonymous.login, username, "wrong" + password),
        "no password": error_of(anonymous.login, username, None),
    }
    client.login(username, password)
    me = client.get("/api/users/?current").body
    return {**reported, "token": client.token, "me": [user["username"] for user in me]}


def check_root(client):
    root = client.get("/api/").body
    return {
        "configuration": client.get("/api/configuration/").status,
        "version": client.get("/api/version/").body,
        "customers": root["customers"],
        "followed": client.get(root["customers"]).status,
    }


def check_paging(client):
    pages = list(client.pages("/api/customers/", name="Customer", o="name"))
    return {
        "names": [names(page) for page in pages],
        "counts": [page.headers["X-Result-Count"] for page in pages],
        "links": [page.links for page in pages],
        "by seven": [len(page.body) for page in client.pages("/api/customers/", page_size=7, name="Customer")],
        "beyond": error_of(client.get, "/api/customers/?page=99"),
    }


def check_lists(client):
    return {
        "descending": names(client.get("/api/customers/", o="-name", page_size=3)),
        "filtered": names(client.get("/api/customers/", name="mer 1", o="name")),
        "by customer": names(client.get("/api/projects/", customer=client.get("/api/customers/", name="Customer 01").body[0]["uuid"])),
        "nothing": client.get("/api/customers/", name="nobody").body,
        "only names": client.get("/api/customers/", field="name", page_size=2, o="name").body,
        "unknown order": error_of(client.get, "/api/customers/?o=colour"),
    }


def check_objects(client):
    made = client.post("/api/customers/", {"name": TEXT, "abbreviation": "日本", "agreement_number": 7})
    url = made.body["url"]
    first = client.get(url)
    etag = first.headers["ETag"]
    unchanged = client.get(url, etag)
    patched = client.patch(url, {"native_name": TEXT})
    again = client.get(url, etag)
    reported = {
        "created": made.status,
        "location": made.headers["Location"] == url,
        "read": first.body == made.body,
        "text": [made.body["name"] == TEXT, names(client.get("/api/customers/", name=TEXT)) == [TEXT], made.body["abbreviation"]],
        "unchanged": unchanged is None,
        "patched": [patched.status, patched.body == {**made.body, "native_name": TEXT}],
        "changed": again.body == patched.body and again.headers["ETag"] != etag,
    }
    deleted = client.delete(url)
    return {**reported, "deleted": [deleted.status, deleted.body], "gone": error_of(client.get, url), "twice": error_of(client.delete, url)}


def check_image(client):
    customer = client.get("/api/customers/", name="Customer 02").body[0]["url"]
    stored = client.upload(customer + "image/", "image", "löwe.png", "image/png", PIXEL)
    image = client.get(customer + "image/")
    return {
        "stored": stored.body == {"image": customer + "image/"},
        "type": image.headers["Content-Type"],
        "same": image.body == PIXEL,
        "no image": error_of(client.upload, customer + "image/", "image", "note.txt", "image/png", b"Hello."),
        "removed": client.delete(customer + "image/").status,
        "gone": error_of(client.get, customer + "image/"),
    }


def check_errors(client, lesser):
    full = client.get("/api/customers/", name="Customer 01").body[0]["url"]
    foreign = client.get("/api/customers/", name="Customer 02").body[0]["url"]
    own = lesser.get("/api/customers/").body[0]["url"]
    return {
        "fields": error_of(client.post, "/api/customers/", {"name": "", "email": "nowhere", "agreement_number": -1, "country": "XX"}),
        "missing": error_of(client.post, "/api/projects/", {}),
        "link": error_of(client.post, "/api/projects/", {"name": "Bridge", "customer": "/api/customers/" + "0" * 32 + "/"}),
        "syntax": error_of(client.request, "POST", "/api/customers/", b"[]", {"Content-Type": "application/json"}),
        "media type": error_of(client.request, "POST", "/api/customers/", b"name", {"Content-Type": "text/plain"}),
        "path": error_of(client.get, "/api/nothing/"),
        "method": error_of(client.delete, "/api/customers/"),
        "state": error_of(client.delete, full),
        "lesser sees": names(lesser.get("/api/customers/")),
        "lesser may not": error_of(lesser.patch, own, {"name": "Mine"}),
        "lesser does not see": error_of(lesser.get, foreign),
    }


def check_logout(client):
    client.logout()
    return {"after": error_of(client.get, "/api/customers/")}


def main(base, username, password, lesser_username, lesser_password):
    client, lesser = Client(base), Client(base)
    lesser.login(lesser_username, lesser_password)
    steps = {
        "login": lambda: check_login(client, username, password),
        "root": lambda: check_root(client),
        "paging": lambda: check_paging(client),
        "lists": lambda: check_lists(client),
        "objects": lambda: check_objects(client),
        "image": lambda: check_image(client),
        "errors": lambda: check_errors(client, lesser),
        "logout": lambda: check_logout(client),
    }
    for name, step in steps.items():
        print(json.dumps({"step": name, **step()}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
