/** Columns of generic lists: name, status, and the fields that distinguish the objects. */
import type { ComponentChildren } from 'preact';
import { columnsOf, listOf } from '../api/columns.ts';
import { hrefOfLink } from '../api/route.ts';
import { iconOfList, kindOfType } from '../format/kinds.ts';
import { sizeText } from '../format/text.ts';
import { fieldLabel } from '../i18n/labels.ts';
import { numberText, serverText, t, titleOf } from '../i18n/words.ts';
import { addressOf, type Item, textOf } from '../item.ts';
import { StatusText } from './status.tsx';
import { type Column, NameCell } from './table.tsx';
import { isInstant, isObjectLink, isSentence, nameOf, ServerText, Time, Value } from './values.tsx';

/** The first column of any list. */
const nameColumn = (name: string, title: string, sort: string | undefined, isOfKind: boolean): Column => ({
  key: 'name',
  title,
  sort,
  class: 'name',
  cell: (item) => {
    const url = textOf(item, 'url');
    // Translate names that come from the API (quotas, monitoring items). Users choose other names, and settings appear verbatim.
    const own = textOf(item, name);
    const text = isQuota(item) ? nameOf(item) : isMeasurement(item) ? titleOf(own) : own;
    return (
      <NameCell
        icon={iconOf(item)}
        href={isObjectLink(url) ? hrefOfLink(url) : undefined}
        name={isInstant(text) ? <Time value={text} exact /> : (name === 'message' ? '' : text) || nameOf(item)}
        sub={subOf(item, isOfKind) === text ? '' : subOf(item, isOfKind)}
      />
    );
  },
});

const isQuota = (item: Item): boolean => 'limit' in item && 'usage' in item;

const isMeasurement = (item: Item): boolean => 'scope' in item && 'value' in item;

const iconOf = (item: Item): string | undefined => {
  const type = textOf(item, 'resource_type');
  return type === '' ? iconOfList(listOf(item)) : kindOfType(type).icon;
};

/** Returns the line below a name: the type or the owner of the object. */
function subOf(item: Item, isOfKind: boolean): ComponentChildren {
  const type = textOf(item, 'resource_type');
  if (type !== '' && !isOfKind) return t(kindOfType(type).word);
  if (listOf(item) === 'service-settings') return textOf(item, 'type');
  if (type === '' && textOf(item, 'full_name') !== '') return textOf(item, 'username');
  return textOf(item, 'project_name') === '' && type === '' ? textOf(item, 'customer_name') : '';
}

/** The size of a machine or volume in one column. */
const sizeColumn = (): Column => ({
  key: 'size',
  title: t('Size'),
  class: 'nowrap',
  cell: (item) => {
    const [cores, ram, size, disk] = ['cores', 'ram', 'size', 'disk'].map((name) => Number(item[name] ?? 0));
    if (cores) return t('{cores} vCPU · {memory}', { cores: numberText(cores), memory: sizeText(ram ?? 0) });
    const volume = size || disk;
    return volume ? sizeText(volume) : '–';
  },
});

/** The address of a machine, or the machine to which a volume is attached. */
export const addressColumn = (): Column => ({
  key: 'ip_address',
  title: titleOf('ip_address'),
  class: 'muted gone when-wide',
  cell: (item) =>
    addressOf(item) ||
    (textOf(item, 'instance_name') === '' ? '–' : t('on {machine}', { machine: textOf(item, 'instance_name') })),
});

const hasAddress = (item: Item): boolean => addressOf(item) !== '';

/** The status of an object, with the error message below. */
export const statusColumn = (sort?: string): Column => ({
  key: 'state',
  title: titleOf('state'),
  sort,
  class: 'state',
  cell: (item) => (
    <>
      <StatusText item={item} />
      {textOf(item, 'error_message') !== '' && (
        <small class="cut gone" title={serverText(textOf(item, 'error_message'))}>
          <ServerText text={textOf(item, 'error_message')} />
        </small>
      )}
    </>
  ),
});

/** The project, with the customer below. */
const projectColumn = (): Column => ({
  key: 'project',
  title: titleOf('project'),
  class: 'cut short',
  cell: (item) => (
    <>
      <Value name="project" value={item.project} item={item} />
      <small class="cut gone">{textOf(item, 'customer_name')}</small>
    </>
  ),
});

export const timeColumn = (name: string, sort?: string): Column => ({
  key: name,
  title: titleOf(name),
  sort,
  class: 'muted gone when-wide',
  cell: (item) => (textOf(item, name) === '' ? '–' : <Time value={textOf(item, name)} />),
});

/** Returns a column for an API field, rendered by its format. */
export function fieldColumn(name: string, sort?: string): Column {
  const format = fieldLabel(name)?.format ?? '';
  const isNumber = ['count', 'MiB', 'percent', 'as quota'].includes(format);
  if (format === 'time') return timeColumn(name, sort);
  return {
    key: name,
    title: titleOf(name),
    sort,
    class: isNumber
      ? 'num'
      : format === 'state' || format === 'level'
        ? 'state'
        : isSentence(name)
          ? 'cut'
          : 'cut short',
    cell: (item) => <Value name={name} value={item[name]} item={item} />,
  };
}

/** Selects the columns of a list by the fields of its objects. */
export function genericColumns(
  items: readonly Item[],
  orderings: readonly string[],
  isOfKind: boolean,
): readonly Column[] {
  const sortOf = (name: string): string | undefined => (orderings.includes(name) ? name : undefined);
  const isResource = items.some((item) => textOf(item, 'resource_type') !== '' && 'runtime_state' in item);
  if (isResource) {
    const usual = [
      nameColumn('name', titleOf('name'), sortOf('name'), isOfKind),
      statusColumn(sortOf('state')),
      ...(items.some((item) => item.cores || item.size || item.disk) ? [sizeColumn()] : []),
      ...(items.some(hasAddress) ? [addressColumn()] : []),
      projectColumn(),
      { ...timeColumn('created', sortOf('created')), order: '-created' },
    ];
    return [...usual, ...extraColumns(items, usual, sortOf)];
  }
  const [first = 'name', ...rest] = columnsOf(items, isOfKind);
  const usual = [
    nameColumn(first, titleOf(first), sortOf(first), isOfKind),
    ...rest
      .filter((name) => name !== 'runtime_state' && !(name === 'error_message' && rest.includes('state')))
      .map((name) => (name === 'state' ? statusColumn(sortOf(name)) : fieldColumn(name, sortOf(name)))),
  ];
  return [...usual, ...extraColumns(items, usual, sortOf)];
}

/** Formats whose values fit in a cell. */
const cellFormats = new Set([
  '',
  'with link',
  'count',
  'MiB',
  'percent',
  'time',
  'date',
  'code',
  'tags',
  'mail',
  'yes',
]);

/** Returns hidden columns for the remaining important fields. */
function extraColumns(
  items: readonly Item[],
  usual: readonly Column[],
  sortOf: (name: string) => string | undefined,
): readonly Column[] {
  const titles = new Set(usual.map(({ title }) => title));
  const names = new Set(items.flatMap((item) => Object.keys(item)));
  return [...names].flatMap((name) => {
    const label = fieldLabel(name);
    const title = titleOf(name);
    if (label?.placement !== 'shown' || !cellFormats.has(label.format) || titles.has(title)) return [];
    titles.add(title);
    return [{ ...fieldColumn(name, sortOf(name)), isExtra: true }];
  });
}
