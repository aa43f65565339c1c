/** Resolves concurrent edits, so that users do not overwrite changes that they have not seen. */
import type { JSX } from 'preact';
import { type Item, request, textOf } from '../api/api.ts';
import type { ApiResponse } from '../api/connection.ts';
import { type FormField, type InputValue, inputValueOf } from '../api/fields.ts';
import { useLinked } from '../api/reading.ts';
import { t, timeText } from '../i18n/words.ts';
import { Fact, Facts } from './card.tsx';
import { Icon } from './icons.tsx';
import { nameOf } from './values.tsx';

/** The version of an object that the editing user has seen. */
export interface Version {
  readonly item: Item;
  readonly etag: string | null;
}

/** A response to an edit. After a conflict, `changed` names the fields that another user changed. */
export type EditResponse = ApiResponse<unknown> & { readonly changed?: readonly string[] };

/** Reads the current version of an object; returns `before` if that fails. */
export async function currentVersion(path: string, before: Version): Promise<Version> {
  const response = await request<Item>('GET', path);
  // Rows have additional members.
  return response.isOk ? { item: { ...before.item, ...response.body }, etag: response.headers.get('ETag') } : before;
}

/** Returns the names of the fields that differ between two versions of an object. */
export const changedFields = (fields: readonly FormField[], before: Item, now: Item): readonly string[] =>
  fields
    .filter((field) => !isSame(inputValueOf(field, before[field.name]), inputValueOf(field, now[field.name])))
    .map(({ name }) => name);

const isSame = (one: InputValue | undefined, other: InputValue): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/**
 * Shows the values that another user has saved beside the input, and lets the user choose. `theirs` and `mine` return the value
 * of a field; `mine` returns undefined for a field that the user has not edited.
 */
export function Conflict({
  fields,
  message,
  theirs,
  mine,
  onUseTheirs,
}: {
  /** The fields that another user changed. */
  readonly fields: readonly FormField[];
  readonly message: string;
  readonly theirs: (field: FormField) => InputValue;
  readonly mine: (field: FormField) => InputValue | undefined;
  readonly onUseTheirs: () => void;
}): JSX.Element {
  const isMine = (field: FormField): boolean => mine(field) !== undefined && !isSame(mine(field), theirs(field));
  const isChoice = fields.some(isMine);
  return (
    <div class="callout warn" role="alert" tabIndex={-1}>
      <Icon name="warn" />
      <div class="words stack">
        <div>
          <b>{t('Someone else changed this')}</b>
          <p>{message}</p>
        </div>
        <Facts>
          {fields.flatMap((field) => [
            <Fact key={field.name} label={t('{label}, theirs', { label: field.label })}>
              <FieldText field={field} typed={theirs(field)} />
            </Fact>,
            isMine(field) && (
              <Fact key={`${field.name} mine`} label={t('{label}, yours', { label: field.label })}>
                <FieldText field={field} typed={mine(field) ?? ''} />
              </Fact>
            ),
          ])}
        </Facts>
        {isChoice ? (
          <div class="row">
            <button type="button" class="btn sm" onClick={onUseTheirs}>
              {t('Use theirs')}
            </button>
            <button type="submit" class="btn sm">
              {t('Keep mine')}
            </button>
          </div>
        ) : (
          <p>{t('Your changes are to other fields. Save again to keep both.')}</p>
        )}
      </div>
    </div>
  );
}

const maxTextLength = 80;

/** Renders the value of a field as readable text. */
function FieldText({ field, typed }: { readonly field: FormField; readonly typed: InputValue }): JSX.Element {
  const linked = useLinked(field.kind === 'link' && typeof typed === 'string' ? typed : '');
  const text = linked ? textOf(linked, field.nameMember) || nameOf(linked) : textOfTyped(field, typed);
  return <>{text.length > maxTextLength ? `${text.slice(0, maxTextLength)}…` : text}</>;
}

function textOfTyped(field: FormField, typed: InputValue): string {
  if (typeof typed === 'boolean') return typed ? t('Yes') : t('No');
  if (typed instanceof File) return typed.name;
  if (typed === '') return '–';
  if (field.kind === 'secret') return '•••';
  const labelOf = (value: string): string => field.choices.find((choice) => choice.value === value)?.label ?? value;
  if (typeof typed !== 'string') {
    const texts = typed.map((part) => (typeof part === 'string' ? labelOf(part) : Object.values(part).join(' ')));
    return texts.join(', ') || '–';
  }
  return field.kind === 'time' ? timeText(typed) : labelOf(typed);
}
