/** The sentences of events, alerts and notifications by type, with links to the objects. */
import sentences from '../i18n/sentences.json' with { type: 'json' };
import { changesText, phrase, serverText, t } from '../i18n/words.ts';
import { firstText, type Item, isItem, ownValue, pathOf, textOf } from '../item.ts';
import { listOfType } from './kinds.ts';
import { exactTime, lifetimeText, percentText, quotaTitle } from './text.ts';

/** The name of an object in a sentence. `path` is its page in the console, if it has one. */
interface NamePart {
  readonly text: string;
  readonly path: string | undefined;
}

type Naming = (context: Item) => string | NamePart | undefined;

/** Takes the name of an object from the first existing member of the context, and its page from its uuid. */
const object =
  (list: string, uuid: string, ...names: readonly string[]): Naming =>
  (context) => {
    const text = firstText(context, ...names);
    const key = textOf(context, uuid);
    return text === '' ? undefined : { text, path: list === '' || key === '' ? undefined : `/${list}/${key}/` };
  };

const word =
  (name: string, format: (text: string) => string = String): Naming =>
  (context) =>
    textOf(context, name) === '' ? undefined : format(textOf(context, name));

const customer = object('customers', 'customer_uuid', 'customer_name');
const project = object('projects', 'project_uuid', 'project_name');
const account = object('service-settings', 'settings_uuid', 'service_name');
const settings = object('service-settings', 'settings_uuid', 'settings_name');
const resource: Naming = (context) =>
  object(listOfType(textOf(context, 'resource_type')) ?? '', 'resource_uuid', 'resource_name')(context);

/** Values for sentences from a context (events.md 1.3, 4.1, 8.1). */
const namings: Readonly<Record<string, Naming>> = {
  customer,
  project,
  place: (context) => (textOf(context, 'structure_type') === 'project' ? project : customer)(context),
  user: object('users', 'user_uuid', 'user_full_name', 'user_username'),
  person: object('users', 'affected_user_uuid', 'affected_user_full_name', 'affected_user_username'),
  account,
  resource,
  settings,
  // The most specific object with the quota.
  owner: (context) => [resource, project, account, customer, settings].map((name) => name(context)).find(Boolean),
  scope: (context) => {
    const link = textOf(context, 'scope');
    const text = textOf(context, 'scope_name');
    return text === '' ? undefined : { text, path: link === '' ? undefined : pathOf(link).slice('/api'.length) };
  },
  username: word('username'),
  key: word('ssh_key_name'),
  organization: word('affected_organization'),
  role: word('role_name', t),
  quota: word('quota_name', quotaTitle),
  percent: word('percent', (percent) => percentText(Number(percent) / 100)),
  expiry: word('expiration_time', exactTime),
  // An unlimited lifetime is absent.
  lifetime: (context) => {
    const seconds = textOf(context, 'affected_user_token_lifetime');
    return seconds === '' ? t('unlimited') : lifetimeText(Number(seconds));
  },
};

/** Returns the parts of a sentence; undefined if the context lacks one of its values. */
function partsOf(sentence: string | undefined, context: Item): readonly (string | NamePart)[] | undefined {
  if (sentence === undefined) return undefined;
  const values: Record<string, string | NamePart> = {};
  for (const [, name = ''] of sentence.matchAll(/\{(\w+)\}/g)) {
    const value = ownValue(namings, name)?.(context);
    if (value === undefined) return undefined;
    values[name] = value;
  }
  return phrase<string | NamePart>(sentence, values);
}

/** Returns the context of an alert or notification, including the link of the alert's object. */
const contextOf = (item: Item): Item => ({ ...(isItem(item.context) ? item.context : {}), scope: item.scope });

/**
 * Returns the sentence of an event, alert or notification in parts: text and object names. Undefined for unknown types and
 * messages written by users, which use the message from the server.
 */
export function sentenceOf(item: Item): readonly (string | NamePart)[] | undefined {
  if ('context' in item) {
    const context = contextOf(item);
    // A notification about an alert has the alert type in its context.
    const alertType = textOf(item, 'alert_type') || textOf(context, 'alert_type');
    return alertType === ''
      ? partsOf(ownValue(sentences.notifications, textOf(item, 'kind')), context)
      : partsOf(ownValue(sentences.alerts, alertType), context);
  }
  const type = textOf(item, 'event_type');
  const parts = partsOf(ownValue(sentences.events, type), item);
  // A deleted object has no page.
  if (!/^(customer|project|resource|user)_deletion_succeeded$/.test(type)) return parts;
  return parts?.map((part) => (typeof part === 'string' ? part : { ...part, path: undefined }));
}

/** Returns the sentence of an event, alert or notification as text. Falls back to the message from the server. */
export const sentenceText = (item: Item): string =>
  sentenceOf(item)
    ?.map((part) => (typeof part === 'string' ? part : part.text))
    .join('') ?? serverText(textOf(item, 'message'));

/** Returns the fields that an update changed, with their old and new values; empty if the event does not list them. */
export function changesOf(event: Item): string {
  const name = textOf(event, 'resource_full_name') || `Project ${textOf(event, 'project_name')}`;
  const start = `${name} has been updated. `;
  const message = textOf(event, 'message');
  return message.startsWith(start) ? changesText(message.slice(start.length - 1)).trim() : '';
}

/** Returns the page on which to fix the cause of an alert, and the fix; undefined if there is none. */
export function fixOf(alert: Item): { readonly title: string; readonly path: string } | undefined {
  const context = contextOf(alert);
  const to = (title: string, name: string): { readonly title: string; readonly path: string } | undefined => {
    const value = ownValue(namings, name)?.(context);
    return typeof value === 'object' && value.path !== undefined ? { title, path: value.path } : undefined;
  };
  const quota = textOf(context, 'quota_uuid');
  switch (textOf(alert, 'alert_type')) {
    case 'threshold_exceeded':
    case 'customer_project_count_exceeded':
    case 'customer_service_count_exceeded':
    case 'customer_resource_count_exceeded':
      return quota === '' ? undefined : { title: t('View quota'), path: `/quotas/${quota}/` };
    case 'customer_has_zero_projects':
      return to(t('Create project'), 'customer');
    case 'customer_has_zero_services':
      return to(t('Add provider account'), 'customer');
    case 'customer_has_zero_resources':
      return to(t('View customer'), 'customer');
    case 'service_unavailable':
      return to(t('Check account'), 'account');
    case 'service_has_unmanaged_resources':
      return to(t('Import'), 'account');
    case 'resource_disappeared_from_backend':
      return to(t('Review'), 'resource');
    default:
      return undefined;
  }
}
