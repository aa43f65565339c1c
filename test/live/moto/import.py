"""Creates an instance and a volume at EC2 without Tenantry: import.py <address> <access key> <secret key>"""

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
names = lambda kind, name: [{"ResourceType": kind, "Tags": [{"Key": "Name", "Value": name}]}]
image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
instance = ec2.run_instances(
    ImageId=image, InstanceType="t2.small", MinCount=1, MaxCount=1, TagSpecifications=names("instance", "foreign")
)["Instances"][0]["InstanceId"]
volume = ec2.create_volume(
    AvailabilityZone="eu-west-1a", Size=3, VolumeType="gp2", TagSpecifications=names("volume", "foreign-data")
)["VolumeId"]
print(json.dumps({"instance": instance, "volume": volume}))
