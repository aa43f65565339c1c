/** Configuration, addresses and volumes of a virtual machine. */
import type { JSX } from 'preact';
import { type Item, itemsIn, textOf } from '../api/api.ts';
import { usePage } from '../api/reading.ts';
import { hrefOfLink } from '../api/route.ts';
import { rowActions } from '../components/actions.tsx';
import { Callout, Card, Fact, Facts } from '../components/card.tsx';
import { fieldColumn, statusColumn } from '../components/columns.tsx';
import { Code, CopyButton } from '../components/copy.tsx';
import { Icon } from '../components/icons.tsx';
import { type Column, NameCell, Table } from '../components/table.tsx';
import { nameOf, ObjectLink, Time } from '../components/values.tsx';
import { joinedText, percentText, sizeText } from '../format/text.ts';
import { numberText, plural, t, titleOf } from '../i18n/words.ts';
import { addressOf } from '../item.ts';

/** Whether a resource is a virtual machine. */
export const isMachine = (item: Item): boolean => typeof item.cores === 'number' && 'internal_ips' in item;

/** Whether a resource exists or existed at its provider, or is being created. */
const wasCreated = (resource: Item): boolean =>
  textOf(resource, 'backend_id') !== '' || textOf(resource, 'state') !== 'Erred';

/** The title of the time when a resource was created, or only requested. */
export const creationTitle = (resource: Item): string => (wasCreated(resource) ? titleOf('created') : t('Requested'));

/** Formats vCPUs and memory, such as `2 vCPU · 4 GiB memory`. */
export const sizeWords = (item: Item): string =>
  t('{cores} vCPU · {memory} memory', {
    cores: numberText(Number(item.cores ?? 0)),
    memory: sizeText(Number(item.ram ?? 0)),
  });

/** Cards with configuration, volumes and network of a machine. */
export function MachineParts({ machine }: { readonly machine: Item }): JSX.Element {
  const volumes = itemsIn(machine.volumes);
  return (
    <>
      <Configuration machine={machine} volumeCount={volumes.length} />
      {volumes.length > 0 && <Volumes machine={machine} volumes={volumes} />}
      {wasCreated(machine) && <Network machine={machine} />}
    </>
  );
}

const linkTo = (item: Item, name: string): JSX.Element | undefined =>
  textOf(item, `${name}_name`) === '' ? undefined : (
    <a href={hrefOfLink(textOf(item, name))}>{textOf(item, `${name}_name`)}</a>
  );

function Configuration({
  machine,
  volumeCount,
}: {
  readonly machine: Item;
  readonly volumeCount: number;
}): JSX.Element {
  const tags = Array.isArray(machine.tags) ? machine.tags.filter((tag) => typeof tag === 'string') : [];
  const key = textOf(machine, 'key_name');
  const groups = itemsIn(machine.security_groups);
  return (
    <Card title={wasCreated(machine) ? t('Configuration') : t('Requested configuration')}>
      <div class="halves">
        <Facts>
          <Fact label={textOf(machine, 'flavor_name') === '' ? t('Size') : titleOf('flavor')}>
            {textOf(machine, 'flavor_name') !== '' && <b>{textOf(machine, 'flavor_name')} </b>}
            <span class="muted">{sizeWords(machine)}</span>
          </Fact>
          <Fact label={titleOf('image_name')}>{textOf(machine, 'image_name')}</Fact>
          {Number(machine.disk) > 0 && (
            <Fact label={titleOf('disk')}>
              {sizeText(Number(machine.disk))}{' '}
              {volumeCount > 1 && (
                <span class="muted">{plural(volumeCount, 'on {count} volume', 'on {count} volumes')}</span>
              )}
            </Fact>
          )}
          <Fact label={titleOf('tenant')}>{linkTo(machine, 'tenant')}</Fact>
          <Fact label={titleOf('region')}>{textOf(machine, 'region_name')}</Fact>
        </Facts>
        <Facts>
          <Fact label={titleOf('key_name')}>
            {key !== '' && (
              <span class="copyable">
                <span>{key}</span>
                <CopyButton text={textOf(machine, 'key_fingerprint')} what={titleOf('key_fingerprint')} />
              </span>
            )}
          </Fact>
          <Fact label={titleOf('security_groups')}>
            {groups.length > 0 &&
              groups.map((group) => (
                <a key={textOf(group, 'url')} class="tag" href={hrefOfLink(textOf(group, 'url'))}>
                  {nameOf(group)}
                </a>
              ))}
          </Fact>
          <Fact label={titleOf('tags')}>
            {tags.length > 0 &&
              tags.map((tag) => (
                <span key={tag} class="tag">
                  {tag}
                </span>
              ))}
          </Fact>
          <Fact label={creationTitle(machine)}>
            <Time value={textOf(machine, 'created')} />
          </Fact>
          <Fact label={titleOf('description')}>{textOf(machine, 'description')}</Fact>
        </Facts>
      </div>
    </Card>
  );
}

/** The volumes of a machine. Their provider states come from the volume list, because the machine does not embed them. */
function Volumes({ machine, volumes }: { readonly machine: Item; readonly volumes: readonly Item[] }): JSX.Element {
  const query = { instance_uuid: textOf(machine, 'uuid'), page_size: '300' };
  const { value: page } = usePage(`/api/openstack-volumes/?${new URLSearchParams(query)}`);
  const live = new Map((page?.items ?? []).map((volume) => [textOf(volume, 'uuid'), volume]));
  return (
    <Card title={titleOf('volumes')} count={volumes.length} isFlush>
      <Table
        items={volumes.map((volume) => live.get(textOf(volume, 'uuid')) ?? volume)}
        columns={volumeColumns()}
        actions={rowActions}
      />
    </Card>
  );
}

const volumeColumns = (): readonly Column[] => [
  {
    key: 'name',
    title: titleOf('name'),
    class: 'name',
    cell: (volume) => (
      <NameCell
        href={hrefOfLink(textOf(volume, 'url'))}
        name={nameOf(volume)}
        sub={volume.bootable === true ? t('System · bootable') : t('Data')}
      />
    ),
  },
  { ...fieldColumn('size'), class: 'num nowrap' },
  {
    key: 'device',
    title: titleOf('device'),
    class: 'gone',
    cell: (volume) => <code>{textOf(volume, 'device') || '–'}</code>,
  },
  statusColumn(),
];

function Network({ machine }: { readonly machine: Item }): JSX.Element {
  const ports = itemsIn(machine.internal_ips_set);
  const groups = itemsIn(machine.security_groups);
  const floating = itemsIn(machine.floating_ips).map((ip) => textOf(ip, 'address'));
  const external = Array.isArray(machine.external_ips) ? machine.external_ips.map(String) : [];
  const isEmpty = ports.length + groups.length + external.length === 0 && addressOf(machine) === '';
  return (
    <Card title={t('Network')} empty={isEmpty ? t('No addresses yet.') : undefined} isFlush>
      <ul class="lines">
        {(ports.length > 0 ? ports : addressesOf(machine)).map((port) => (
          <li key={textOf(port, 'ip4_address')}>
            <Icon name="network" />
            <span class="words">
              <Code text={textOf(port, 'ip4_address')} what={titleOf('ip_address')} />
              <span class="sub">
                {joinedText(['subnet_name', 'subnet_cidr', 'mac_address'].map((name) => textOf(port, name)))}
              </span>
            </span>
          </li>
        ))}
        {[...new Set([...external, ...floating])].map((address) => (
          <li key={address}>
            <Icon name="external" />
            <span class="words">
              <Code text={address} what={titleOf('public_ips')} />
              <span class="sub">{t('Public address')}</span>
            </span>
          </li>
        ))}
        {groups.map((group) => (
          <li key={textOf(group, 'url')}>
            <Icon name="shield" />
            <span class="words">
              <ObjectLink item={group} />
              <span class="sub">{rulesOf(group)}</span>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Returns the internal addresses of a machine type without ports. */
const addressesOf = (machine: Item): Item[] =>
  (Array.isArray(machine.internal_ips) ? machine.internal_ips : []).map((address) => ({
    ip4_address: String(address),
    subnet_name: t('Internal address'),
  }));

/** Formats the rules of a security group, such as `TCP 80 from 0.0.0.0/0`. */
const rulesOf = (group: Item): string =>
  itemsIn(group.rules)
    .map((rule) => {
      const [from, to] = [rule.from_port, rule.to_port];
      const ports = from === -1 || from === null ? '' : from === to ? ` ${from}` : ` ${from}–${to}`;
      return t('{protocol} from {network}', {
        protocol: `${textOf(rule, 'protocol').toUpperCase()}${ports}`,
        network: textOf(rule, 'cidr'),
      });
    })
    .join(' · ') || t('No rules');

/** Disk usage from which the page warns, in percent. */
const fullDisk = 90;

/** Warns about a nearly full disk and names the volume to extend. */
export function machineProblem(machine: Item): JSX.Element | undefined {
  const measured = (machine.monitoring_items as Item | null)?.disk_usage;
  if (typeof measured !== 'number' || measured < fullDisk) return undefined;
  const volume = [...itemsIn(machine.volumes)].sort((a, b) => Number(b.size) - Number(a.size))[0];
  return (
    <Callout
      tone="warn"
      title={t('Disk is {share} full', { share: percentText(measured / 100) })}
      action={
        volume && (
          <a class="btn sm" href={hrefOfLink(textOf(volume, 'url'))}>
            {t('Open volume')}
          </a>
        )
      }
    >
      {volume
        ? t('The largest volume is {name} with {size}. Stop the machine to extend it.', {
            name: nameOf(volume),
            size: sizeText(Number(volume.size ?? 0)),
          })
        : t('Change to a larger size, or delete files.')}
    </Callout>
  );
}
