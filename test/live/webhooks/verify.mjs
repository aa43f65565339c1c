/**
 * Verifies messages by the public JavaScript library of Standard Webhooks, which is imported from the folder that the
 * first argument names: reads them from standard input, a JSON object a line, and prints a line for each: "accepted", or
 * why the library rejects it.
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
