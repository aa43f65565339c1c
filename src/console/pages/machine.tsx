/** The Overview of a virtual machine: what it is, how to reach it, what it stores, how busy it is. */
import type { JSX } from 'preact';
import { type Item, itemsIn, textOf } from '../api/api.ts';
import { hrefOf, hrefOfLink, place } from '../api/route.ts';
import { Card, Fact, Facts, FieldFacts } from '../components/card.tsx';
import { Code, CopyButton } from '../components/copy.tsx';
import { Icon } from '../components/icons.tsx';
import { Listing } from '../components/listing.tsx';
import { StatusText } from '../components/status.tsx';
import { ObjectLink, Time } from '../components/values.tsx';
import { monthText, percentText, sizeText } from '../format/text.ts';
import { numberText, plural, t, titleOf } from '../i18n/words.ts';
import { EventTimeline } from './events.tsx';
import { SimulatorCard } from './simulator.tsx';
import { monitoringTitle } from './statistics.tsx';

/** Whether a resource is a virtual machine. */
export const isMachine = (item: Item): boolean => typeof item.cores === 'number' && 'internal_ips' in item;

/** The first address at which a machine can be reached. */
export const addressOf = (item: Item): string => {
  const addresses = [item.external_ips, item.internal_ips].flatMap((list) => (Array.isArray(list) ? list : []));
  return addresses.find((address): address is string => typeof address === 'string') ?? '';
};

/** vCPUs and memory, such as `2 vCPU · 4 GiB memory`. */
const sizeWords = (item: Item): string =>
  t('{cores} vCPU · {memory} memory', {
    cores: numberText(Number(item.cores ?? 0)),
    memory: sizeText(Number(item.ram ?? 0)),
  });

export function MachineOverview({ machine }: { readonly machine: Item }): JSX.Element {
  const volumes = itemsIn(machine.volumes);
  return (
    <div class="split">
      <div class="stack">
        <Configuration machine={machine} volumeCount={volumes.length} />
        {volumes.length > 0 && <Volumes volumes={volumes} />}
        <Network machine={machine} />
        <Listing
          title={t('Activity')}
          path="/events/"
          query={new URLSearchParams({ scope: textOf(machine, 'url') }).toString()}
          empty={t('Nothing has happened yet.')}
          lines={(events) => <EventTimeline events={events} />}
        />
      </div>
      <div class="stack">
        <Usage machine={machine} />
        <Availability machine={machine} />
        <Card title={t('Identifiers')}>
          <FieldFacts item={machine} names={['uuid', 'backend_id']} />
        </Card>
        <SimulatorCard resource={machine} />
      </div>
    </div>
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
  return (
    <Card title={t('Configuration')}>
      <div class="halves">
        <Facts>
          <Fact label={titleOf('flavor')}>
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
              <>
                {key} <CopyButton text={textOf(machine, 'key_fingerprint')} what={titleOf('key_fingerprint')} />
              </>
            )}
          </Fact>
          <Fact label={titleOf('tags')}>
            {tags.length > 0 &&
              tags.map((tag) => (
                <span key={tag} class="tag">
                  {tag}
                </span>
              ))}
          </Fact>
          <Fact label={titleOf('start_time')}>
            {textOf(machine, 'start_time') !== '' && <Time value={textOf(machine, 'start_time')} />}
          </Fact>
          <Fact label={titleOf('description')}>{textOf(machine, 'description')}</Fact>
        </Facts>
      </div>
    </Card>
  );
}

const Volumes = ({ volumes }: { readonly volumes: readonly Item[] }): JSX.Element => (
  <Card title={titleOf('volumes')} count={volumes.length} isFlush>
    <ul class="lines">
      {volumes.map((volume) => (
        <li key={textOf(volume, 'url')}>
          <Icon name="volume" />
          <span class="words">
            <ObjectLink item={volume} />
            <span class="sub">
              {[
                volume.bootable === true ? t('System · bootable') : t('Data'),
                sizeText(Number(volume.size ?? 0)),
                textOf(volume, 'device'),
              ]
                .filter((text) => text !== '')
                .join(' · ')}
            </span>
          </span>
          <span class="end">
            <StatusText item={volume} />
          </span>
        </li>
      ))}
    </ul>
  </Card>
);

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
                {[textOf(port, 'subnet_name'), textOf(port, 'subnet_cidr'), textOf(port, 'mac_address')]
                  .filter((text) => text !== '')
                  .join(' · ')}
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

/** The internal addresses of a machine whose type has no ports. */
const addressesOf = (machine: Item): Item[] =>
  (Array.isArray(machine.internal_ips) ? machine.internal_ips : []).map((address) => ({
    ip4_address: String(address),
    subnet_name: t('Internal address'),
  }));

/** The rules of a security group, such as `TCP 80 from 0.0.0.0/0`. */
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

/** The last measured shares; each leads to its history. */
function Usage({ machine }: { readonly machine: Item }): JSX.Element | null {
  const measured = Object.entries((machine.monitoring_items as Item | null) ?? {}).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  if (measured.length === 0) return null;
  return (
    <Card title={t('Monitoring')} more={[hrefOf(place.value.path, { tab: 'monitoring' }), t('History')]}>
      <div class="stack">
        {measured.map(([name, value]) => (
          <ShareMeter key={name} title={monitoringTitle(name)} value={value} isShare={name.endsWith('_usage')} />
        ))}
      </div>
    </Card>
  );
}

const [warns, isFull] = [80, 95];

function ShareMeter({
  title,
  value,
  isShare,
}: {
  readonly title: string;
  readonly value: number;
  readonly isShare: boolean;
}): JSX.Element {
  const tone = !isShare || value < warns ? '' : value < isFull ? 'warn' : 'bad';
  return (
    <div class={`meter ${tone}`}>
      <span class="line">
        <span>{title}</span>
        <span class="value">
          <b>{isShare ? percentText(value / 100, 1) : numberText(value)}</b>
        </span>
      </span>
      {isShare && (
        <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false">
          <rect x="0" y="0" width={Math.min(100, Math.max(0, value))} height="6" />
        </svg>
      )}
    </div>
  );
}

function Availability({ machine }: { readonly machine: Item }): JSX.Element | null {
  const sla = machine.sla as Item | null;
  if (!sla || typeof sla.value !== 'number') return null;
  const agreed = typeof sla.agreed_value === 'number' ? sla.agreed_value : undefined;
  const isMet = agreed === undefined || sla.value >= agreed;
  const period = textOf(sla, 'period');
  return (
    <Card title={t('Availability')} more={[hrefOf(place.value.path, { tab: 'monitoring' }), t('History')]}>
      <p>
        <b class={isMet ? 'good-ink' : 'bad-ink'}>{percentText(sla.value / 100, 2)}</b>{' '}
        <span class="muted small">
          {[
            /^\d{4}-\d\d$/.test(period) ? monthText(`${period}-15`, 'long') : period,
            ...(agreed === undefined ? [] : [t('agreed {share}', { share: percentText(agreed / 100, 2) })]),
          ].join(' · ')}
        </span>
      </p>
    </Card>
  );
}
