"""Prints the objects of an account at EC2 in one region as JSON: look.py <address> <access key> <secret key>"""

import json
import sys

import boto3

address, access_key, secret_key = sys.argv[1:]
ec2 = boto3.client(
    "ec2",
    region_name="eu-west-1",
    endpoint_url=address,
    aws_access_key_id=access_key,
    aws_secret_access_key=secret_key,
)


def name(tagged):
    return next((tag["Value"] for tag in tagged.get("Tags", []) if tag["Key"] == "Name"), "")


instances = [
    [one["InstanceId"], name(one), one["State"]["Name"], one["InstanceType"]]
    for found in ec2.describe_instances()["Reservations"]
    for one in found["Instances"]
]
volumes = [
    [one["VolumeId"], name(one), one["State"], one["Size"], *[each["Device"] for each in one["Attachments"]]]
    for one in ec2.describe_volumes()["Volumes"]
]
print(
    json.dumps(
        {
            "instances": sorted(instances, key=lambda one: one[1]),
            "volumes": sorted(volumes, key=lambda one: one[1]),
            "keys": [key["KeyName"] for key in ec2.describe_key_pairs()["KeyPairs"]],
        }
    )
)
