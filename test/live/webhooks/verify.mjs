/**
 * Verifies messages with the public JavaScript library of Standard Webhooks, imported from the folder in the first argument.
 * Reads one JSON object per line from standard input. Prints a line for each: "accepted", or the library's error.
 */
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const { Webhook, WebhookVerificationError } = createRequire(`${process.argv[2]}/`)('standardwebhooks');

for await (const line of createInterface(process.stdin)) {
  const { body, headers, key } = JSON.parse(line);
  try {
    new Webhook(key).verify(body, headers, { jsonParse: false });
    console.log('accepted');
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    console.log(error.message);
  }
}
