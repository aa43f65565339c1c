"""The objects that python-jira sees at a JIRA: look.py <address> <username> <password>; prints one JSON object."""

import json
import sys

from jira import JIRA

address, username, password = sys.argv[1:]
site = JIRA(server=address, basic_auth=(username, password), max_retries=0)
issues = [
    site.issue(issue.key)
    for project in site.projects()
    for issue in site.search_issues(f"project={project.key} ORDER BY key ASC", maxResults=False)
]

print(
    json.dumps(
        {
            "projects": [[project.key, project.name] for project in site.projects()],
            "issues": [
                [
                    issue.key,
                    issue.fields.summary,
                    issue.fields.issuetype.name,
                    issue.fields.priority.name,
                    getattr(issue.fields, "parent", None) and issue.fields.parent.key,
                    [comment.body for comment in issue.fields.comment.comments],
                    [[file.filename, file.get().decode()] for file in issue.fields.attachment],
                ]
                for issue in issues
            ],
        }
    )
)
