"""The objects that python-digitalocean sees at a DigitalOcean: look.py <address> <token>; prints one JSON object."""

import json
import os
import sys

address, token = sys.argv[1:]
os.environ["DIGITALOCEAN_END_POINT"] = address

import digitalocean  # noqa: E402

manager = digitalocean.Manager(token=token)
print(
    json.dumps(
        {
            "droplets": [
                [str(one.id), one.name, one.status, one.size_slug, one.region["slug"], one.image["slug"], one.ip_address]
                for one in manager.get_all_droplets()
            ],
            "keys": [[one.name, one.fingerprint] for one in manager.get_all_sshkeys()],
        }
    )
)
