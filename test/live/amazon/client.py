"""Uses a simulated EC2 through the life cycle of a machine: client.py <address> <access key> <secret key>

Prints the observations as one JSON object; ends with a traceback when a check fails.
"""

import json
import sys
import time

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

address, access_key, secret_key = sys.argv[1:]
seen = {"boto3": boto3.__version__}


def client(region="eu-west-1", secret=secret_key):
    return boto3.client(
        "ec2",
        region_name=region,
        endpoint_url=address,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret,
        config=Config(retries={"max_attempts": 1}),
    )


ec2 = client()


def expect_error(code, call, **arguments):
    """Expects an error with this code."""
    try:
        call(**arguments)
    except ClientError as error:
        assert error.response["Error"]["Code"] == code, error
        seen["rejected"] = seen.get("rejected", 0) + 1
        return
    raise AssertionError(f"{code} was expected")


def until(what, ask):
    """Repeats the request until the response is the expected one, for ten seconds."""
    deadline = time.monotonic() + 10
    while (found := ask()) != what:
        assert time.monotonic() < deadline, f"{found} instead of {what}"
        time.sleep(0.1)


def state(instance):
    found = ec2.describe_instances(InstanceIds=[instance])
    return found["Reservations"][0]["Instances"][0]["State"]["Name"]


def volume_state(volume):
    return ec2.describe_volumes(VolumeIds=[volume])["Volumes"][0]["State"]


# Offers
assert ec2.describe_key_pairs()["KeyPairs"] == []
zones = ec2.describe_availability_zones(Filters=[{"Name": "state", "Values": ["available"]}])
zone = sorted(found["ZoneName"] for found in zones["AvailabilityZones"])[0]
images = ec2.describe_images(
    Owners=["amazon", "aws-marketplace"],
    Filters=[
        {"Name": "virtualization-type", "Values": ["hvm"]},
        {"Name": "architecture", "Values": ["x86_64"]},
    ],
)["Images"]
linux = next(found for found in images if found["Name"].startswith("amzn2"))
types = ec2.describe_instance_types(InstanceTypes=["t2.micro"])["InstanceTypes"]
assert types[0]["VCpuInfo"]["DefaultVCpus"] == 1
seen["images"] = len(images)

# A key and a machine
key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE0JAKUgbN1mfyzIT1M6DW2dGUSJYnLJ1qDnQ6ykbGf7 bob"
ec2.import_key_pair(KeyName="laptop", PublicKeyMaterial=key.encode())
expect_error("InvalidKeyPair.Duplicate", ec2.import_key_pair, KeyName="laptop", PublicKeyMaterial=key.encode())
order = dict(
    ImageId=linux["ImageId"],
    InstanceType="t2.micro",
    MinCount=1,
    MaxCount=1,
    ClientToken="token-1",
    KeyName="laptop",
    UserData="#cloud-config",
    Placement={"AvailabilityZone": zone},
    BlockDeviceMappings=[
        {
            "DeviceName": linux["RootDeviceName"],
            "Ebs": {"VolumeSize": 8, "VolumeType": "gp2", "DeleteOnTermination": True},
        }
    ],
    TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": "web & <shop>"}]}],
)
instance = ec2.run_instances(**order)["Instances"][0]["InstanceId"]
assert ec2.run_instances(**order)["Instances"][0]["InstanceId"] == instance
expect_error("IdempotentParameterMismatch", ec2.run_instances, **{**order, "InstanceType": "t2.small"})
assert state(instance) == "pending"
ec2.get_waiter("instance_running").wait(InstanceIds=[instance], WaiterConfig={"Delay": 1})
found = ec2.describe_instances(Filters=[{"Name": "client-token", "Values": ["token-1"]}])
running = found["Reservations"][0]["Instances"][0]
assert running["PublicIpAddress"] and running["PrivateIpAddress"]
assert running["Tags"] == [{"Key": "Name", "Value": "web & <shop>"}], running["Tags"]
root = running["BlockDeviceMappings"][0]["Ebs"]["VolumeId"]
seen["machine"] = "pending, running"

# A volume
volume = ec2.create_volume(
    AvailabilityZone=zone,
    Size=10,
    VolumeType="io1",
    Iops=100,
    TagSpecifications=[{"ResourceType": "volume", "Tags": [{"Key": "tenantry:uuid", "Value": "1"}]}],
)["VolumeId"]
expect_error("MissingParameter", ec2.create_volume, AvailabilityZone=zone, Size=10, VolumeType="io1")
until("available", lambda: volume_state(volume))
tagged = ec2.describe_volumes(Filters=[{"Name": "tag:tenantry:uuid", "Values": ["1"]}])["Volumes"]
assert [one["VolumeId"] for one in tagged] == [volume]
ec2.attach_volume(VolumeId=volume, InstanceId=instance, Device="/dev/sdf")
expect_error("VolumeInUse", ec2.attach_volume, VolumeId=volume, InstanceId=instance, Device="/dev/sdg")
until(
    "attached",
    lambda: ec2.describe_volumes(VolumeIds=[volume])["Volumes"][0]["Attachments"][0]["State"],
)
expect_error("VolumeInUse", ec2.delete_volume, VolumeId=volume)
seen["volume"] = "creating, available, in-use"

# Stop, resize, start, restart
expect_error(
    "IncorrectInstanceState",
    ec2.modify_instance_attribute,
    InstanceId=instance,
    InstanceType={"Value": "c4.large"},
)
ec2.stop_instances(InstanceIds=[instance])
ec2.get_waiter("instance_stopped").wait(InstanceIds=[instance], WaiterConfig={"Delay": 1})
ec2.modify_instance_attribute(InstanceId=instance, InstanceType={"Value": "c4.large"})
ec2.modify_volume(VolumeId=root, Size=16)
expect_error("VolumeModificationRateExceeded", ec2.modify_volume, VolumeId=root, Size=17)
until(
    "optimizing",
    lambda: ec2.describe_volumes_modifications(Filters=[{"Name": "volume-id", "Values": [root]}])[
        "VolumesModifications"
    ][0]["ModificationState"],
)
ec2.start_instances(InstanceIds=[instance])
ec2.get_waiter("instance_running").wait(InstanceIds=[instance], WaiterConfig={"Delay": 1})
ec2.reboot_instances(InstanceIds=[instance])
resized = ec2.describe_instances(InstanceIds=[instance])["Reservations"][0]["Instances"][0]
assert resized["InstanceType"] == "c4.large"
seen["actions"] = "stop, resize, start, restart"

# Pages
for n in range(20):
    ec2.create_volume(AvailabilityZone=zone, Size=1, VolumeType="gp2", ClientToken=f"page-{n}")
pages = list(ec2.get_paginator("describe_volumes").paginate(PaginationConfig={"PageSize": 5}))
assert len({one["VolumeId"] for page in pages for one in page["Volumes"]}) == 22
seen["pages of 22 volumes"] = len(pages)
assert client("us-east-1").describe_volumes()["Volumes"] == []

# Deletion
ec2.detach_volume(VolumeId=volume)
until("available", lambda: volume_state(volume))
ec2.delete_volume(VolumeId=volume)
ec2.get_waiter("volume_deleted").wait(VolumeIds=[volume], WaiterConfig={"Delay": 1})
ec2.terminate_instances(InstanceIds=[instance])
ec2.get_waiter("instance_terminated").wait(InstanceIds=[instance], WaiterConfig={"Delay": 1})
expect_error("InvalidVolume.NotFound", ec2.describe_volumes, VolumeIds=[root])
ec2.delete_key_pair(KeyName="laptop")

# Rejections
expect_error("AuthFailure", client(secret="wrong").describe_key_pairs)
expect_error("InvalidInstanceID.NotFound", ec2.describe_instances, InstanceIds=["i-00000000000000000"])
expect_error("InvalidParameterValue", ec2.describe_instances, Filters=[{"Name": "colour", "Values": ["red"]}])
expect_error("InvalidAction", ec2.describe_spot_price_history)
expect_error("UnknownParameter", ec2.describe_key_pairs, IncludePublicKey=True)

print(json.dumps(seen))
