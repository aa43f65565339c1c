import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { pathOf, textOf } from '../api/api.ts';
import type { ControlProperties, FormField } from '../api/fields.ts';
import { usePage } from '../api/reading.ts';
import { collections } from '../api/session.ts';
import { t } from '../i18n/words.ts';
import { nameOf } from './values.tsx';

/** So many objects are offered at a time; of a longer list one refreshCount for the one that is meant. */
const maxOptions = 100;

/** Chooses the object that a link leads to out of its list. */
export function Picker({
  field,
  common,
  value,
  onInput,
}: {
  readonly field: FormField;
  readonly common: ControlProperties;
  readonly value: string;
  readonly onInput: (value: string) => void;
}): JSX.Element {
  const [sought, setSought] = useState('');
  const [list = '', query = ''] = field.list.split('?');
  const parameters = new URLSearchParams(query);
  parameters.set('page_size', String(maxOptions));
  const [, , name = ''] = list.split('/');
  const filters = collections.value.get(name)?.filters ?? [];
  const filter = [field.shownBy, 'name', 'full_name'].find((one) => filters.some((known) => known.name === one));
  if (sought !== '' && filter) parameters.set(filter, sought);
  const { value: page } = usePage(`${list}?${parameters}`);
  const present = pathOf(value);
  const offered = page?.items ?? [];
  const isOffered = offered.some((item) => pathOf(textOf(item, 'url')) === present);
  return (
    <>
      {filter && (sought !== '' || (page?.count ?? 0) > maxOptions) && (
        <input
          type="search"
          class="input"
          aria-label={t('Search for: {label}', { label: field.label })}
          placeholder={t('Part of the name')}
          value={sought}
          onChange={(event) => setSought(event.currentTarget.value)}
        />
      )}
      <select
        {...common}
        class="select"
        aria-busy={page === undefined}
        value={present}
        onInput={(event) => onInput(event.currentTarget.value)}
      >
        <option value="">{field.isRequired ? t('Choose…') : '–'}</option>
        {value !== '' && !isOffered && <option value={present}>{t('Current value')}</option>}
        {offered.map((item) => (
          <option key={textOf(item, 'url')} value={pathOf(textOf(item, 'url'))}>
            {labelOf(textOf(item, field.shownBy) || nameOf(item), item)}
          </option>
        ))}
      </select>
      {page?.count === 0 && sought === '' && <span class="help">{t('Nothing to choose from.')}</span>}
      {page?.problem && <span class="error">{page.problem}</span>}
    </>
  );
}

/** Names are not unique: their owners tell them apart. */
function labelOf(name: string, item: Readonly<Record<string, unknown>>): string {
  const owner = ['project_name', 'service_name', 'customer_name', 'full_name', 'settings_name'].map((key) =>
    textOf(item, key),
  );
  const others = owner.filter((text) => text !== '' && text !== name).slice(0, 2);
  return others.length > 0 ? `${name} (${others.join(', ')})` : name;
}
