"""Uses a simulated JIRA through the life cycle of a project: client.py <address> <username> <password>

Prints the observations as one JSON object; ends with a traceback when a check fails.
"""

import io
import json
import sys
import time

import jira
from jira import JIRA, JIRAError

address, username, password = sys.argv[1:]
seen = {"python-jira": jira.__version__}

site = JIRA(server=address, basic_auth=(username, password), max_retries=0)
assert site.myself()["name"] == username


def expect_error(code, call, *arguments, **named):
    """Expects an error with this status; returns its message."""
    try:
        call(*arguments, **named)
    except JIRAError as error:
        assert error.status_code == code, error
        return error.text
    except Exception as error:
        assert str(code) in str(error), error
        return str(error)
    raise AssertionError("the call did not fail")


wrong = JIRA(server=address, basic_auth=(username, "wrong"), max_retries=0, get_server_info=False)
expect_error(401, wrong.myself)

templates = site.templates()
seen["templates"] = len(templates)
assert templates["Task management"]["projectTypeKey"] == "business"
site.create_project("WEB", "Website", assignee=username)
expect_error(400, site.create_project, "WEB", "Another", assignee=username)
project = site.project("WEB")
assert project.name == "Website" and project.lead.name == username
assert [one.key for one in site.projects()] == ["WEB"]
assert {kind.name for kind in project.issueTypes} >= {"Task", "Sub-task"}
assert [one.name for one in site.priorities()][0] == "Highest"

fields = {"project": {"key": "WEB"}, "issuetype": {"name": "Task"}, "priority": {"name": "Low"}}
issues = [site.create_issue(fields={**fields, "summary": f"Issue {n}", "description": "Text"}) for n in range(7)]
assert issues[0].key == "WEB-1" and issues[0].fields.status.name == "To Do"
expect_error(400, site.create_issue, fields=fields)
expect_error(400, site.create_issue, fields={**fields, "summary": "x", "colour": "red"})
expect_error(400, site.create_issue, fields={**fields, "summary": "x", "issuetype": {"name": "Sub-task"}})
subtask = site.create_issue(
    fields={**fields, "summary": "Below", "issuetype": {"name": "Sub-task"}, "parent": {"key": "WEB-1"}}
)
expect_error(400, issues[0].delete)

time.sleep(0.4)
found = site.search_issues("project=WEB ORDER BY key ASC", maxResults=False)
assert [one.key for one in found] == [f"WEB-{n}" for n in range(1, 9)]
seen["issues on pages of 3"] = len(found)
expect_error(400, site.search_issues, "owner=nobody")

issue = issues[1]
issue.update(summary="Renamed", priority={"name": "High"})
assert site.issue("WEB-2").fields.summary == "Renamed" and issue.fields.priority.name == "High"

comment = site.add_comment("WEB-2", "First")
comment.update(body="Second")
assert [one.body for one in site.comments("WEB-2")] == ["Second"]
comment.delete()
assert site.comments("WEB-2") == []

attachment = site.add_attachment("WEB-2", io.BytesIO(b"knock knock"), filename="door.txt")
assert site.issue("WEB-2").fields.attachment[0].get() == b"knock knock"
attachment.delete()
assert site.issue("WEB-2").fields.attachment == []

subtask.delete()
for one in issues:
    one.delete()
expect_error(404, site.issue, "WEB-1")
site.delete_project("WEB")
assert site.projects() == []

print(json.dumps(seen))
