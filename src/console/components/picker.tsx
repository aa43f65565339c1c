import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Item, itemsIn, pathOf, textOf } from '../api/api.ts';
import type { ControlProperties, FormField, Row } from '../api/fields.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf } from '../api/route.ts';
import { collections } from '../api/session.ts';
import { joinedText, sizeText } from '../format/text.ts';
import { t } from '../i18n/words.ts';
import { Retry } from './button.tsx';
import { useLatest } from './chooser.tsx';
import { Options } from './options.tsx';
import { nameOf } from './values.tsx';

/** Maximum number of choices in a select. A longer list is searchable instead. */
const maxOptions = 100;

/** Splits the path of a list into the list and its parameters, which include a page size. */
function splitPath(path: string, pageSize: number): readonly [list: string, parameters: URLSearchParams] {
  const [list = '', query = ''] = path.split('?');
  const parameters = new URLSearchParams(query);
  parameters.set('page_size', String(pageSize));
  return [list, parameters];
}

/** Chooses the linked object from its list. */
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
  const [searchText, setSearchText] = useState('');
  const [list, parameters] = splitPath(field.list, maxOptions);
  const [, , name = ''] = list.split('/');
  const filters = collections.value.get(name)?.filters ?? [];
  const filter = [field.nameMember, 'name', 'full_name'].find((one) => filters.some((known) => known.name === one));
  if (searchText !== '' && filter) parameters.set(filter, searchText);
  const { value: page, reload } = usePage(`${list}?${parameters}`);
  const currentPath = pathOf(value);
  const offered = page?.items ?? [];
  const isOffered = offered.some((item) => pathOf(textOf(item, 'url')) === currentPath);
  const isUnset = field.isRequired && value === '' && searchText === '';
  const only = isUnset && page?.count === 1 ? pathOf(textOf(offered[0] ?? {}, 'url')) : '';
  useEffect(() => {
    // Preselect the only choice.
    if (only !== '') onInput(only);
  }, [only]);
  return (
    <>
      {filter && (searchText !== '' || (page?.count ?? 0) > maxOptions) && (
        <input
          type="search"
          class="input"
          aria-label={t('Search for: {label}', { label: field.label })}
          placeholder={t('Part of the name')}
          value={searchText}
          onChange={(event) => setSearchText(event.currentTarget.value)}
        />
      )}
      <select
        {...common}
        class="select"
        aria-busy={page === undefined || only !== ''}
        value={currentPath}
        onInput={(event) => onInput(event.currentTarget.value)}
      >
        <option value="">{field.isRequired ? t('Choose…') : '–'}</option>
        {value !== '' && !isOffered && <option value={currentPath}>{t('Current value')}</option>}
        {offered.map((item) => (
          <option key={textOf(item, 'url')} value={pathOf(textOf(item, 'url'))}>
            {labelOf(textOf(item, field.nameMember) || nameOf(item), item)}
          </option>
        ))}
      </select>
      {page?.count === 0 && !page.problem && searchText === '' && (
        <span class="help">
          {t('Nothing to choose from.')} {name === 'keys' && <a href={hrefOf('/keys/')}>{t('Add SSH key')}</a>}
          {name === 'openstack-tenants' && (
            <a href={hrefOf('/new-resource/openstack-tenants/')}>{t('Create a private cloud')}</a>
          )}
        </span>
      )}
      {page?.problem && (
        <span class="error">
          {page.problem} <Retry onClick={reload} />
        </span>
      )}
    </>
  );
}

/** Above this number of objects, use a select instead of cards. */
const maxCards = 12;

/** Chooses an object, such as a flavor or image, from cards with their properties, or from a select if there are many. */
export function CardPicker({
  field,
  common,
  value,
  problem,
  onInput,
}: {
  readonly field: FormField;
  readonly common: ControlProperties;
  readonly value: string;
  readonly problem: string;
  readonly onInput: (value: string) => void;
}): JSX.Element {
  const [list, parameters] = splitPath(field.list, maxCards + 1);
  // Keep the choices until those of the new connection are loaded.
  const page = useLatest(usePage(`${list}?${parameters}`).value);
  if (!page)
    return (
      <div class="options" aria-busy="true">
        {Array.from({ length: 5 }, (_, index) => (
          <span key={index} class="option hollow" />
        ))}
      </div>
    );
  if (page.count === 0 || page.count > maxCards || page.problem)
    return (
      <>
        <label for={common.id}>
          {field.label} {field.isRequired && <span aria-hidden="true">*</span>}
        </label>
        <Picker field={field} common={common} value={value} onInput={onInput} />
      </>
    );
  return (
    <Options
      label={field.label}
      isRequired={field.isRequired}
      // The requirements of an image need more space than a size.
      isWide={field.name === 'image'}
      value={pathOf(value)}
      problem={problem}
      options={[...page.items]
        .sort(bySize)
        .map((item) => ({
          value: pathOf(textOf(item, 'url')),
          title: nameOf(item),
          sub: capacityOf(item),
          reason: field.reasonOf?.(item),
        }))}
      onInput={onInput}
    />
  );
}

/**
 * Check boxes for a short list of links to objects, such as the security groups of a private cloud. Renders `children` for other
 * lists.
 */
export function LinkBoxes({
  field,
  rows,
  describedBy,
  onInput,
  children,
}: {
  readonly field: FormField;
  readonly rows: readonly Row[];
  readonly describedBy: string | undefined;
  readonly onInput: (rows: readonly Row[]) => void;
  readonly children: JSX.Element;
}): JSX.Element {
  const [member, ...others] = field.members ?? [];
  const isOfLinks = member?.kind === 'link' && others.length === 0;
  const [list, parameters] = splitPath(member?.list ?? '', maxCards + 1);
  // Without a connection, the list would contain the objects of all projects.
  const isNarrowed = parameters.size > 1;
  const page = useLatest(usePage(isOfLinks && isNarrowed ? `${list}?${parameters}` : '').value);
  if (!isOfLinks || !isNarrowed || !page || page.count === 0 || page.count > maxCards || page.problem) return children;
  const chosen = new Set(rows.map((row) => pathOf(String(row[member.name]))));
  return (
    <fieldset class="field" aria-describedby={describedBy}>
      <legend>{field.label}</legend>
      <div class="choices">
        {page.items.map((item) => {
          const link = pathOf(textOf(item, 'url'));
          return (
            <label key={link} class="check">
              <input
                type="checkbox"
                checked={chosen.has(link)}
                onInput={(event) =>
                  onInput([
                    ...rows.filter((row) => pathOf(String(row[member.name])) !== link),
                    ...(event.currentTarget.checked ? [{ [member.name]: link }] : []),
                  ])
                }
              />
              <span>
                {nameOf(item)} <span class="muted small">{textOf(item, 'description')}</span>
              </span>
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}

const sizesOf = (item: Item): readonly number[] => ['cores', 'ram', 'disk'].map((name) => Number(item[name] ?? 0));

/** Smaller flavors first; others by name. */
function bySize(one: Item, other: Item): number {
  const sizes = sizesOf(one);
  const others = sizesOf(other);
  const differing = sizes.findIndex((size, index) => size !== others[index]);
  return differing === -1
    ? nameOf(one).localeCompare(nameOf(other))
    : (sizes[differing] ?? 0) - (others[differing] ?? 0);
}

/** Formats the known sizes, such as `2 vCPU`, `4 GiB memory` and `40 GiB disk`. */
const sizeTexts = (cores: number | undefined, ram: number | undefined, disk: number | undefined): readonly string[] => [
  ...(cores === undefined ? [] : [t('{cores} vCPU', { cores })]),
  ...(ram === undefined ? [] : [t('{size} memory', { size: sizeText(ram) })]),
  ...(disk === undefined ? [] : [t('{size} disk', { size: sizeText(disk) })]),
];

/** Returns the capacity of a flavor, or the requirements of an image. */
function capacityOf(item: Item): string {
  const positive = (name: string): number | undefined => (Number(item[name]) > 0 ? Number(item[name]) : undefined);
  if (typeof item.cores === 'number') return joinedText(sizeTexts(item.cores, Number(item.ram), positive('disk')));
  if (typeof item.min_disk !== 'number' && typeof item.min_ram !== 'number') return '';
  const needs = sizeTexts(undefined, positive('min_ram'), positive('min_disk'));
  return needs.length > 0 ? t('needs {sizes}', { sizes: needs.join(', ') }) : t('no minimum');
}

/** Adds the owner to a name, because names are not unique. */
function labelOf(name: string, item: Readonly<Record<string, unknown>>): string {
  const owner = ['project_name', 'service_name', 'customer_name', 'full_name', 'settings_name'].map((key) =>
    textOf(item, key),
  );
  const others = owner.filter((text) => text !== '' && text !== name).slice(0, 2);
  return joinedText([others.length > 0 ? `${name} (${others.join(', ')})` : name, remainingOf(item)]);
}

/** Returns what the limits of a private cloud or connection leave; empty without limits. */
function remainingOf(item: Item): string {
  const rest = (name: string): number | undefined => {
    const quota = itemsIn(item.quotas).find((one) => one.name === name);
    return quota && Number(quota.limit) >= 0 ? Math.max(0, Number(quota.limit) - Number(quota.usage)) : undefined;
  };
  const remainders = sizeTexts(rest('vcpu'), rest('ram'), rest('storage'));
  return remainders.length > 0 ? t('{sizes} left', { sizes: remainders.join(', ') }) : '';
}
