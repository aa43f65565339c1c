"""The objects that python-gitlab sees at a GitLab: look.py <address> <token>; prints one JSON object."""

import json
import sys

import gitlab

address, token = sys.argv[1:]
lab = gitlab.Gitlab(address, private_token=token)
groups = lab.groups.list(all_available=False)
projects = lab.projects.list(membership=True)


def members(item):
    return sorted(f"{member.username} {member.access_level}" for member in item.members.list())


print(
    json.dumps(
        {
            "groups": [[str(group.id), group.name, group.path, members(group)] for group in groups],
            "projects": [
                [str(project.id), project.name, project.visibility, members(project)] for project in projects
            ],
        }
    )
)
