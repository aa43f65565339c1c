/** Edits by two users at once: none overwrites a change that its author has not seen. */
import { type Item, problemOf, request, textOf } from '../api/api.ts';
import type { ApiResponse } from '../api/connection.ts';
import { type FormField, typedOf } from '../api/fields.ts';
import { t, timeText } from '../i18n/words.ts';

/** An object as the user who edits it has seen it. */
export interface Version {
  readonly item: Item;
  readonly etag: string | null;
}

/** Reads the current version of an object; returns `before` if that fails. */
export async function currentVersion(path: string, before: Version): Promise<Version> {
  const response = await request<Item>('GET', path);
  // A row has its own names beside the fields of the object.
  return response.isOk ? { item: { ...before.item, ...response.body }, etag: response.headers.get('ETag') } : before;
}

/** Returns a rejection with the changes of the other user in words. */
export function conflictResponse(
  response: ApiResponse<unknown>,
  fields: readonly FormField[],
  before: Item,
  now: Item,
) {
  const changes = fields
    .map((field) => [field.label, wordsOf(field, before), wordsOf(field, now)] as const)
    .filter(([, was, is]) => was !== is)
    .map(([label, was, is]) => t('{label} is now “{is}”, it was “{was}”.', { label, is, was }));
  const rest = t('What you have typed is still here: send it again to have it so.');
  return { ...response, body: { detail: [problemOf(response.body), ...changes, rest].join(' ') } };
}

const maxValueLength = 80;

/** Returns the value of a field as readable text. */
function wordsOf(field: FormField, item: Item): string {
  const typed = typedOf(field, item[field.name]);
  if (typeof typed === 'boolean') return typed ? t('Yes') : t('No');
  if (typed instanceof File || typed === '') return '–';
  const labelOf = (value: string): string => field.choices.find((choice) => choice.value === value)?.label ?? value;
  if (typeof typed !== 'string') {
    const texts = typed.map((part) => (typeof part === 'string' ? labelOf(part) : Object.values(part).join(' ')));
    return texts.join(', ') || '–';
  }
  if (field.kind === 'time') return timeText(typed);
  const text = field.kind === 'link' ? textOf(item, `${field.name}_name`) || typed : labelOf(typed);
  return text.length > maxValueLength ? `${text.slice(0, maxValueLength)}…` : text;
}
