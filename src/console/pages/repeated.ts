/** Prefills the form that recreates a resource, such as one whose creation failed. */
import { type Item, isItem, itemsIn, pathOf, readPage, request, textOf } from '../api/api.ts';
import type { FormField } from '../api/fields.ts';
import { useReading } from '../api/reading.ts';
import { isEmptyValue } from '../components/card.tsx';
import { isObjectLink } from '../components/values.tsx';

/** Members with the names of linked objects, where they differ from the form fields. */
const nameMembers: Readonly<Record<string, string>> = { ssh_public_key: 'key_name' };

const sizes = ['cores', 'ram', 'disk'] as const;

/** Whether an object is the one that a resource uses, by name and region or, for a size, by amounts. */
function isSame(field: FormField, offered: Item, resource: Item): boolean {
  const name = textOf(resource, nameMembers[field.name] ?? `${field.name}_name`);
  if (name === '')
    return field.name === 'size' && sizes.every((amount) => Number(offered[amount]) === Number(resource[amount]));
  const region = isItem(offered.region) ? textOf(offered.region, 'name') : '';
  return textOf(offered, 'name') === name && (region === '' || region === textOf(resource, 'region_name'));
}

/** Finds the object for a link field. Resources only name some objects without linking to them. */
async function linkOf(field: FormField, resource: Item): Promise<string> {
  const own = textOf(resource, field.name);
  if (isObjectLink(own)) return own;
  const [list = '', query = ''] = field.list.split('?');
  const parameters = new URLSearchParams(query);
  parameters.set('page_size', '300');
  if (field.name !== 'ssh_public_key') parameters.set('settings_uuid', textOf(resource, 'service_settings_uuid'));
  const { items } = await readPage(`${list}?${parameters}`);
  return textOf(items.find((item) => isSame(field, item, resource)) ?? {}, 'url');
}

/** Selects the volume of a machine whose size a form field sets. */
const volumeSizes: Readonly<Record<string, (volume: Item) => boolean>> = {
  system_volume_size: ({ bootable }) => bootable === true,
  data_volume_size: ({ bootable }) => bootable !== true,
};

async function valueFor(field: FormField, resource: Item): Promise<unknown> {
  if (field.kind === 'link') return await linkOf(field, resource);
  const isVolume = volumeSizes[field.name];
  if (isVolume) return itemsIn(resource.volumes).find(isVolume)?.size;
  return resource[field.name];
}

async function read(path: string, fields: readonly FormField[]): Promise<Item> {
  const { body, isOk } = await request<Item>('GET', path);
  if (!isOk) return {};
  const values = await Promise.all(fields.map(async (field) => [field.name, await valueFor(field, body)] as const));
  return Object.fromEntries(values.filter(([, value]) => !isEmptyValue(value)));
}

/** Reads the form values of a resource. Undefined until loaded, none for an empty path. */
export function useCopiedValues(path: string, fields: readonly FormField[]): Item | undefined {
  const names = fields.map(({ name }) => name).join(' ');
  return useReading(`repeated ${path} ${names}`, async () => (path === '' ? {} : await read(pathOf(path), fields)))
    .value;
}
