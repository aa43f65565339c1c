/** What a resource that is not there yet would take of which quota (services.md 7.5). */
import type { JSX } from 'preact';
import { type Item, itemsIn, pathOf, textOf } from '../api/api.ts';
import type { FormField } from '../api/fields.ts';
import { useLinked } from '../api/reading.ts';
import { collections } from '../api/session.ts';
import { numberText, t, titleOf } from '../i18n/words.ts';
import { ownValue } from '../own.ts';
import { nameOf } from './shown.tsx';

/** What is filled in so far, by field: links, and numbers as they were typed. */
export type Filled = Readonly<Record<string, string>>;

/** Amounts by the name of the quota. */
type Amounts = Readonly<Record<string, number>>;

/** A virtual machine of a size, which is of the flavor or size that was chosen. */
const machine = (size: Item | undefined): Amounts => ({
  nc_vm_count: 1,
  nc_resource_count: 1,
  droplet_count: 1,
  instance_count: 1,
  vcpu: Number(size?.cores ?? 0),
  ram: Number(size?.ram ?? 0),
  storage: Number(size?.disk ?? 0),
});

const volumes = (count: number, size: number): Amounts => ({
  nc_storage_count: count,
  nc_resource_count: count,
  nc_volume_count: count,
  nc_volume_size: size,
  volume_count: count,
  volumes: count,
  volumes_size: size,
  storage: size,
});

const app: Amounts = { nc_app_count: 1, nc_resource_count: 1, group_count: 1, project_count: 1 };

/** The amounts that a resource of a list takes, of those quotas that there are. */
const amounts: Readonly<Record<string, (filled: Filled, size: Item | undefined) => Amounts>> = {
  'digitalocean-droplets': (_, size) => machine(size),
  'aws-instances': (_, size) => machine(size),
  'openstack-instances': ({ system_volume_size, data_volume_size }, flavor) => {
    const count = data_volume_size ? 2 : 1;
    return {
      ...machine(flavor),
      ...volumes(count, Number(system_volume_size ?? 0) + Number(data_volume_size ?? 0)),
      nc_resource_count: 1 + count,
      instances: 1,
    };
  },
  'aws-volumes': ({ size }) => volumes(1, Number(size ?? 0)),
  'openstack-volumes': ({ size }) => volumes(1, Number(size ?? 0)),
  'openstack-tenants': () => ({ nc_private_cloud_count: 1, nc_resource_count: 1, tenant_count: 1 }),
  'gitlab-groups': () => ({ ...app, project_count: 0 }),
  'gitlab-projects': () => ({ ...app, group_count: 0 }),
  'jira-projects': () => app,
  'oracle-databases': () => app,
};

/** Everything that the link of a form leads to: whose quotas are taken of, and whose account it is. */
interface Around {
  readonly owners: readonly Item[];
  readonly settingsUuid: string;
  readonly projectUuid: string;
}

/** Reads what is around the link that was chosen; empty until one is. */
export function useAround(filled: Filled): Around {
  const link = useLinked(filled.service_project_link ?? '');
  const service = useLinked(textOf(link ?? {}, 'service'));
  const project = useLinked(textOf(link ?? {}, 'project'));
  const customer = useLinked(textOf(project ?? {}, 'customer'));
  const tenant = useLinked(filled.tenant ?? '');
  const named = link && {
    ...link,
    name: t('{service} in {project}', { service: textOf(link, 'service_name'), project: textOf(link, 'project_name') }),
  };
  return {
    owners: [project, customer, named, service, tenant].filter((owner) => owner !== undefined),
    settingsUuid: textOf(service ?? {}, 'settings_uuid'),
    projectUuid: textOf(link ?? {}, 'project_uuid'),
  };
}

/** The field with no more to choose from than what belongs to the link, and to the tenant, that were chosen. */
export function narrowed(
  field: FormField,
  filled: Filled,
  { settingsUuid, projectUuid }: Pick<Around, 'settingsUuid' | 'projectUuid'>,
): FormField {
  if (field.members)
    return { ...field, members: field.members.map((one) => narrowed(one, filled, { settingsUuid, projectUuid })) };
  if (field.kind !== 'link' || settingsUuid === '' || field.name === 'service_project_link') return field;
  const [path = '', query = ''] = field.list.split('?');
  const filters = collections.value.get(path.split('/')[2] ?? '')?.filters ?? [];
  const wanted: Filled = {
    settings_uuid: settingsUuid,
    service_settings_uuid: settingsUuid,
    project_uuid: projectUuid,
    tenant_uuid: pathOf(filled.tenant ?? '').split('/')[3] ?? '',
    region_uuid: pathOf(filled.region ?? '').split('/')[3] ?? '',
    region: pathOf(filled.region ?? '').split('/')[3] ?? '',
  };
  const parameters = new URLSearchParams(query);
  for (const { name } of filters) {
    const value = ownValue(wanted, name);
    if (value) parameters.set(name, value);
  }
  return { ...field, list: `${path}?${parameters}` };
}

/** The quotas that the resource takes of, with what they would be. */
export function Takes({
  list,
  filled,
  around,
}: {
  readonly list: string;
  readonly filled: Filled;
  readonly around: Around;
}): JSX.Element | null {
  const size = useLinked(filled.flavor ?? (filled.size?.includes('/') ? filled.size : ''));
  const taken = ownValue(amounts, list)?.(filled, size) ?? {};
  const rows = around.owners.flatMap((owner) =>
    itemsIn(owner.quotas)
      .map((quota) => ({ owner, quota, amount: taken[textOf(quota, 'name')] ?? 0 }))
      .filter(({ amount }) => amount > 0),
  );
  if (rows.length === 0) return null;
  return (
    <section class="part takes" aria-label={t('What it takes')} aria-live="polite">
      <header>
        <h2>{t('What it takes')}</h2>
      </header>
      <ul class="quotas">
        {rows.map(({ owner, quota, amount }) => (
          <Taken key={textOf(quota, 'url')} owner={nameOf(owner)} quota={quota} amount={amount} />
        ))}
      </ul>
    </section>
  );
}

function Taken({
  owner,
  quota,
  amount,
}: {
  readonly owner: string;
  readonly quota: Item;
  readonly amount: number;
}): JSX.Element {
  const limit = Number(quota.limit);
  const after = Number(quota.usage) + amount;
  const title = `${owner}: ${titleOf(textOf(quota, 'name'))}`;
  const words =
    limit < 0
      ? t('{usage} + {amount}', { usage: Number(quota.usage), amount })
      : t('{usage} + {amount} of {limit}', { usage: Number(quota.usage), amount, limit });
  const isTooMuch = limit >= 0 && after > limit;
  return (
    <li class={isTooMuch ? 'problem' : ''}>
      <span>{title}</span>
      <span>{words}</span>
      {limit >= 0 && (
        <progress aria-label={`${title}: ${words}`} max={1} value={limit === 0 ? 1 : Math.min(1, after / limit)} />
      )}
      {isTooMuch && <span>{t('That is {amount} too much.', { amount: numberText(after - limit) })}</span>}
    </li>
  );
}
