"""Verifies messages by the public Python library of Standard Webhooks.

Reads them from standard input, a JSON object a line, and prints a line for each: "accepted", or why the library
rejects it.
"""

import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError

for line in sys.stdin:
    message = json.loads(line)
    try:
        Webhook(message["key"]).verify(message["body"], message["headers"], json_parse=False)
        print("accepted")
    except WebhookVerificationError as error:
        print(error)
