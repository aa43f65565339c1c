/** The section `webhooks` of the OpenAPI document: the requests to web hooks. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { catalogue, eventTypes } from '../../../src/activity/events/catalogue.ts';
import { hookKinds } from '../../../src/activity/notifications/catalogue.ts';
import { openApi } from '../../../src/app/docs/openapi.ts';
import { endpoints, catalogue as types } from '../../support/catalogue.ts';
import { checkDelivery } from '../../support/contract.ts';

const webhooks = suite('webhooks of the documentation');
// biome-ignore lint/suspicious/noExplicitAny: a document is any JSON
const document = openApi(endpoints, types) as any;

const headers = {
  'content-type': 'application/json',
  'webhook-id': '0'.repeat(32),
  'webhook-timestamp': '1515127624',
  'webhook-signature': `v1,${'A'.repeat(43)}=`,
};
const message = {
  timestamp: '2018-01-05T04:47:04.982123',
  message: 'User alice has been activated.',
  type: 'user_activated',
  context: {
    affected_user_uuid: 'a'.repeat(32),
    affected_user_username: 'alice',
    affected_user_full_name: '',
    affected_user_native_name: '',
  } as Record<string, string>,
  levelname: 'INFO',
};

webhooks('has an entry for each event type and kind of notification, and marks those that no operation causes', () => {
  assert.equal(Object.keys(document.webhooks), [...eventTypes, ...hookKinds.map((kind) => `notification.${kind}`)]);
  assert.is(eventTypes.length, 45);
  assert.equal(
    Object.keys(document.webhooks).filter((name) => document.webhooks[name].post['x-never-emitted']),
    ['customer_price_limit_updated', 'project_price_limit_updated'],
  );
});

webhooks('closes the body and its context, and requires what the message of the type names', () => {
  for (const type of eventTypes) {
    const { schema } = document.webhooks[type].post.requestBody.content['application/json'];
    const { context } = schema.properties;
    assert.equal([schema.additionalProperties, context.additionalProperties], [false, false], type);
    const named = [...catalogue[type].message.matchAll(/\{(\w+)\}/g)].map(([, key]) => key as string);
    const [unknown] = named.filter((key) => !context.required.includes(key) && !Object.hasOwn(context.properties, key));
    // Only the message has these.
    assert.ok([undefined, 'message', 'structure_name'].includes(unknown), `${type} names ${unknown}`);
  }
});

webhooks('accepts a delivery as sent', () => {
  checkDelivery(headers, JSON.stringify(message));
  const context = { ip_address: '192.0.2.7', ...message.context };
  checkDelivery(headers, JSON.stringify({ ...message, context }));
});

webhooks('rejects a body or a header that differs from the document', () => {
  const { affected_user_uuid: _, ...fewer } = message.context;
  const wrong: readonly object[] = [
    { ...message, context: fewer },
    { ...message, context: { ...message.context, is_staff: 'true' } },
    { ...message, timestamp: '2018-01-05T04:47:04Z' },
    { ...message, levelname: 'ERROR' },
    { ...message, extra: 1 },
  ];
  for (const body of wrong) assert.throws(() => checkDelivery(headers, JSON.stringify(body)), /a delivery/);
  for (const header of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    assert.throws(
      () => checkDelivery({ ...headers, [header]: 'v2,x y' }, JSON.stringify(message)),
      /does not match the document/,
    );
});

webhooks.run();
