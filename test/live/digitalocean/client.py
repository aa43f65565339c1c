"""The operations of our driver by python-digitalocean: client.py <address> <token> <key>; prints one JSON object."""

import json
import os
import sys
import time
from importlib.metadata import version

address, token, key = sys.argv[1:]
os.environ["DIGITALOCEAN_END_POINT"] = address

import digitalocean  # noqa: E402

manager = digitalocean.Manager(token=token)


def expect_error(call):
    """Returns the message of an expected error."""
    try:
        call()
    except digitalocean.Error as error:
        return str(error)
    raise AssertionError("the call did not fail")


def done(droplet):
    """Waits for the running action."""
    for _ in range(200):
        action = droplet.get_actions()[0]
        if action.status == "completed":
            droplet.load()
            return action.type
        assert action.status == "in-progress", action.status
        time.sleep(0.05)
    raise AssertionError("the action never ended")


def droplet(name, **fields):
    values = {"name": name, "region": "nyc3", "image": "debian-9-x64", "size_slug": "s-1vcpu-1gb", **fields}
    return digitalocean.Droplet(token=token, **values)


account = manager.get_account()
ssh_key = digitalocean.SSHKey(token=token, name="laptop", public_key=key)
ssh_key.create()
web = droplet("web", ssh_keys=[ssh_key.id], user_data="#cloud-config")
web.create()
assert web.get_action(web.action_ids[0]).type == "create"
busy = expect_error(web.shutdown)
actions = [done(web)]
assert (web.status, web.ip_address is not None, web.private_ip_address is not None) == ("active", True, True)
for order in (web.shutdown, lambda: web.resize("s-2vcpu-4gb", disk=True), web.power_on, web.reboot):
    order()
    actions.append(done(web))
assert (web.status, web.vcpus, web.memory, web.disk) == ("active", 2, 4096, 80), (web.vcpus, web.memory, web.disk)
others = [droplet("other-%d" % n) for n in range(6)]
for one in others:
    one.create()
names = sorted(one.name for one in manager.get_all_droplets())
assert names == ["other-%d" % n for n in range(6)] + ["web"], names
rejections = [
    busy,
    expect_error(ssh_key.create),
    expect_error(droplet("no name").create),
    expect_error(droplet("web", image="no-image").create),
    expect_error(droplet("web", size_slug="no-size").create),
    expect_error(droplet("web", region="no-region").create),
    expect_error(digitalocean.Manager(token="wrong").get_account),
    expect_error(digitalocean.Droplet(token="read-only", id=web.id).shutdown),
]
for one in [web, *others]:
    one.destroy()
ssh_key.destroy()
expect_error(web.load)

print(
    json.dumps(
        {
            "python-digitalocean": version("python-digitalocean"),
            "account": account.status,
            "regions": len(manager.get_all_regions()),
            "sizes": len(manager.get_all_sizes()),
            "images": len(manager.get_all_images()),
            "actions": ", ".join(actions),
            "droplets on pages of 3": len(names),
            "rejections": len(rejections),
            "left": len(manager.get_all_droplets()) + len(manager.get_all_sshkeys()),
        }
    )
)
