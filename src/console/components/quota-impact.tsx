/** Shows the impact of a new resource on quotas (services.md 7.5). */
import type { ComponentChildren, JSX } from 'preact';
import { type Item, itemsIn, textOf, uuidIn } from '../api/api.ts';
import type { FormField } from '../api/fields.ts';
import { useLinked } from '../api/reading.ts';
import { collections } from '../api/session.ts';
import { parseSize } from '../format/size.ts';
import { quotaAmountText, quotaTitle } from '../format/text.ts';
import { t } from '../i18n/words.ts';
import { ownValue } from '../item.ts';
import { Fact, Facts, Meter, shareOf } from './card.tsx';
import { Icon } from './icons.tsx';
import { nameOf } from './values.tsx';

/** Form input by field: links, and numbers as typed. */
export type Filled = Readonly<Record<string, string>>;

/** Amounts by quota name. */
type Amounts = Readonly<Record<string, number>>;

/** Returns the amounts of a virtual machine with the chosen flavor or size. */
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

/** Parses a size field to MiB; 0 if it has no valid size. */
const mib = (text: string | undefined): number => parseSize(text ?? '') ?? 0;

const app: Amounts = { nc_app_count: 1, nc_resource_count: 1, group_count: 1, project_count: 1 };

/** Functions that compute the quota amounts of a new resource, by list. */
const amounts: Readonly<Record<string, (filled: Filled, size: Item | undefined) => Amounts>> = {
  'digitalocean-droplets': (_, size) => machine(size),
  'aws-instances': (_, size) => machine(size),
  'openstack-instances': ({ system_volume_size, data_volume_size }, flavor) => {
    const count = data_volume_size ? 2 : 1;
    return {
      ...machine(flavor),
      ...volumes(count, mib(system_volume_size) + mib(data_volume_size)),
      nc_resource_count: 1 + count,
      instances: 1,
    };
  },
  'aws-volumes': ({ size }) => volumes(1, mib(size)),
  'openstack-volumes': ({ size }) => volumes(1, mib(size)),
  'openstack-tenants': () => ({ nc_private_cloud_count: 1, nc_resource_count: 1, tenant_count: 1 }),
  'gitlab-groups': () => ({ ...app, project_count: 0 }),
  'gitlab-projects': () => ({ ...app, group_count: 0 }),
  'jira-projects': () => app,
  'oracle-databases': () => app,
};

/** Computes the quota amounts of a new resource with this flavor or size. */
export const amountsOf = (list: string, filled: Filled, size: Item | undefined): Amounts =>
  ownValue(amounts, list)?.(filled, size) ?? {};

/** Objects linked in a form: the owners of the affected quotas, the flavor or size, and the provider account. */
export interface QuotaOwners {
  readonly owners: readonly Item[];
  /** The chosen flavor or size; undefined without one. */
  readonly size: Item | undefined;
  readonly settingsUuid: string;
  readonly projectUuid: string;
}

/** Reads the owners of affected quotas (none until a connection is chosen) and the chosen flavor or size. */
export function useQuotaOwners(filled: Filled): QuotaOwners {
  const tenant = useLinked(filled.tenant ?? '');
  // A private cloud belongs to one connection.
  const link = useLinked(filled.service_project_link ?? textOf(tenant ?? {}, 'service_project_link'));
  const service = useLinked(textOf(link ?? {}, 'service'));
  const project = useLinked(textOf(link ?? {}, 'project'));
  const customer = useLinked(textOf(project ?? {}, 'customer'));
  const size = useLinked(filled.flavor ?? (filled.size?.includes('/') ? filled.size : ''));
  const named = link && {
    ...link,
    name: t('{service} in {project}', { service: textOf(link, 'service_name'), project: textOf(link, 'project_name') }),
  };
  return {
    owners: [project, customer, named, service, tenant].filter((owner) => owner !== undefined),
    size,
    settingsUuid: textOf(service ?? {}, 'settings_uuid'),
    projectUuid: textOf(link ?? {}, 'project_uuid'),
  };
}

/** Limits the choices of a field to objects of the chosen connection and tenant. */
export function narrowChoices(
  field: FormField,
  filled: Filled,
  { settingsUuid, projectUuid }: Pick<QuotaOwners, 'settingsUuid' | 'projectUuid'>,
): FormField {
  if (field.members)
    return { ...field, members: field.members.map((one) => narrowChoices(one, filled, { settingsUuid, projectUuid })) };
  // These choices determine those of the other fields.
  const first = filled.service_project_link === undefined ? ['tenant'] : ['service_project_link'];
  if (field.kind !== 'link' || settingsUuid === '' || first.includes(field.name)) return field;
  const [path = '', query = ''] = field.list.split('?');
  const filters = collections.value.get(path.split('/')[2] ?? '')?.filters ?? [];
  const wanted: Filled = {
    settings_uuid: settingsUuid,
    service_settings_uuid: settingsUuid,
    project_uuid: projectUuid,
    tenant_uuid: uuidIn(filled.tenant ?? ''),
    region_uuid: uuidIn(filled.region ?? ''),
    region: uuidIn(filled.region ?? ''),
  };
  const parameters = new URLSearchParams(query);
  for (const { name } of filters) {
    const value = ownValue(wanted, name);
    if (value) parameters.set(name, value);
  }
  return { ...field, list: `${path}?${parameters}` };
}

/** A limit that the new resource counts towards. */
interface Impact {
  readonly owner: Item;
  readonly quota: Item;
  readonly amount: number;
  /** Used fraction of the limit after the creation; 0 without a limit. */
  readonly share: number;
}

/** Number of quotas to show before the user expands the list. */
const shownFirst = 5;

/**
 * The quotas that a new resource counts towards, with their usage after the creation. Shows only the owner with the tightest
 * limit of each quota, and the others on demand.
 */
export function QuotaImpact({
  list,
  filled,
  around,
  isByCloud,
}: {
  readonly list: string;
  readonly filled: Filled;
  readonly around: QuotaOwners;
  /** Whether the form asks for a private cloud, and not for its connection. */
  readonly isByCloud: boolean;
}): JSX.Element | null {
  const amountsByQuota = amountsOf(list, filled, around.size);
  const all = around.owners.flatMap((owner) =>
    itemsIn(owner.quotas)
      .map((quota): Impact => {
        const amount = amountsByQuota[textOf(quota, 'name')] ?? 0;
        const usage = Number(quota.usage) + amount;
        return { owner, quota, amount, share: shareOf({ limit: quota.limit, usage }) ?? 0 };
      })
      .filter(({ amount }) => amount > 0),
  );
  if (around.owners.length === 0) return <RequiredAmounts amounts={amountsByQuota} isByCloud={isByCloud} />;
  if (all.length === 0) return null;
  const limited = all.filter(({ quota }) => Number(quota.limit) >= 0).sort((a, b) => b.share - a.share);
  const tightest = [...new Map([...limited].reverse().map((impact) => [textOf(impact.quota, 'name'), impact])).values()]
    .sort((a, b) => b.share - a.share)
    .slice(0, shownFirst);
  const rest = all.filter((impact) => !tightest.includes(impact));
  return (
    <section class="card" aria-label={t('Quota impact')} aria-live="polite">
      <header>
        <h2>{t('Quota impact')}</h2>
      </header>
      {tightest.length > 0 && (
        <ImpactMeters impacts={tightest}>
          <p class="note">{t('Showing the tightest limit for each quota.')}</p>
        </ImpactMeters>
      )}
      {rest.length > 0 && (
        <details class="fold">
          <summary>
            <Icon name="next" /> {t('All {count} quotas', { count: all.length })}
          </summary>
          <ImpactMeters impacts={rest} />
        </details>
      )}
    </section>
  );
}

/** Amounts that are known before the project is chosen. */
const needed = ['nc_vm_count', 'nc_private_cloud_count', 'nc_app_count', 'vcpu', 'ram', 'storage'];

/** The amounts of a resource before its project, and so its limits, are known. Renders nothing for resources without quotas. */
function RequiredAmounts({
  amounts: all,
  isByCloud,
}: {
  readonly amounts: Amounts;
  readonly isByCloud: boolean;
}): JSX.Element | null {
  if (Object.keys(all).length === 0) return null;
  const known = needed.filter((name) => (ownValue(all, name) ?? 0) > 0);
  return (
    <section class="card" aria-label={t('Quota impact')} aria-live="polite">
      <header>
        <h2>{t('Quota impact')}</h2>
      </header>
      <div class="in stack">
        {known.length > 0 && (
          <Facts>
            {known.map((name) => (
              <Fact key={name} label={quotaTitle(name)}>
                <b>+ {quotaAmountText(name, all[name] ?? 0)}</b>
              </Fact>
            ))}
          </Facts>
        )}
        <p class="note">
          {isByCloud
            ? t('Choose a private cloud to see the limits.')
            : t('Choose a project connection to see the limits.')}
        </p>
      </div>
    </section>
  );
}

const ImpactMeters = ({
  impacts,
  children,
}: {
  readonly impacts: readonly Impact[];
  readonly children?: ComponentChildren;
}): JSX.Element => (
  <div class="in stack">
    {impacts.map(({ amount, owner, quota }) => {
      const excess = Number(quota.limit) >= 0 ? Number(quota.usage) + amount - Number(quota.limit) : 0;
      const name = textOf(quota, 'name');
      return (
        <Meter
          key={textOf(quota, 'url')}
          quota={{ ...quota, url: '' }}
          title={quotaTitle(name)}
          added={amount}
          sub={
            excess > 0
              ? t('{owner}: {amount} over the limit', { owner: nameOf(owner), amount: quotaAmountText(name, excess) })
              : t('Limit for {owner}', { owner: nameOf(owner) })
          }
        />
      );
    })}
    {children}
  </div>
);
