"""Uses a simulated GitLab through the life cycle of a group: client.py <address> <token> <username> <password>

Prints the observations as one JSON object; ends with a traceback when a check fails.
"""

import json
import sys
import time

import gitlab

address, token, username, password = sys.argv[1:]
seen = {"python-gitlab": gitlab.__version__}

lab = gitlab.Gitlab(address, private_token=token, per_page=3)
lab.auth()
assert lab.user.username == username


def expect_error(code, call, *arguments, **named):
    """Expects an error with this status."""
    try:
        call(*arguments, **named)
    except gitlab.exceptions.GitlabError as error:
        assert error.response_code == code, error
        return error.error_message
    raise AssertionError("the call did not fail")


expect_error(401, gitlab.Gitlab(address, private_token="wrong").auth)

group = lab.groups.create({"name": "Rockets", "path": "rockets", "description": "All"})
assert "already been taken" in expect_error(400, lab.groups.create, {"name": "Rockets", "path": "rockets"})
assert "path is missing" in expect_error(400, lab.http_post, "/groups", post_data={"name": "Rockets"})
assert "colour is invalid" in expect_error(400, lab.groups.create, {"name": "R", "path": "r", "colour": "red"})

projects = [
    lab.projects.create(
        {
            "name": f"engine-{n}",
            "namespace_id": group.id,
            "visibility": "internal",
            "wiki_enabled": False,
        }
    )
    for n in range(7)
]
listed = lab.projects.list(membership=True, get_all=True)
assert [project.id for project in listed] == [project.id for project in projects]
seen["projects on pages of 3"] = len(listed)
assert listed[0].visibility == "internal" and listed[0].wiki_enabled is False
expect_error(404, lab.projects.get, 1)

bob = lab.users.create(
    {"email": "bob@example.com", "username": "bob", "name": "Bob", "reset_password": True}
)
expect_error(409, lab.users.create, {"email": "bob@example.com", "username": "bobby", "name": "Bob", "reset_password": True})
assert [user.id for user in lab.users.list(search="bob@example.com")] == [bob.id]
group.members.create({"user_id": bob.id, "access_level": gitlab.const.AccessLevel.DEVELOPER})
expect_error(409, group.members.create, {"user_id": bob.id, "access_level": 30})
assert [member.username for member in group.members.list()] == [username, "bob"]
group.members.delete(bob.id)
assert [member.username for member in group.members.list()] == [username]

for project in projects:
    project.delete()
group.delete()
for _ in range(100):
    if not lab.groups.list(all_available=False):
        break
    time.sleep(0.05)
assert lab.groups.list(all_available=False) == []
expect_error(404, lab.groups.get, group.id)

session = gitlab.Gitlab(address)
response = session.http_post(
    f"{address}/oauth/token",
    post_data={"grant_type": "password", "username": username, "password": password},
)
bearer = gitlab.Gitlab(address, oauth_token=response["access_token"])
bearer.auth()
seen["token of a password"] = bearer.user.username

print(json.dumps(seen))
