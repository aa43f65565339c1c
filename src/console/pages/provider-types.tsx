/** Facts about each provider for the guide: credentials, their labels, and the rights that they need. */
import type { JSX } from 'preact';
import { type Item, itemsIn, rankIn, textOf } from '../api/api.ts';
import { type FormField, isOfSimulator } from '../api/fields.ts';
import { Card } from '../components/card.tsx';
import { Icon } from '../components/icons.tsx';
import { Badge } from '../components/status.tsx';
import { Check, Checks } from '../components/timeline.tsx';
import { listText, plainLabel } from '../format/text.ts';
import { serverText, t } from '../i18n/words.ts';
import { ownValue } from '../item.ts';

/** All credentials; each type uses some of them. */
const credentials = ['backend_url', 'username', 'password', 'token', 'certificate', 'domain'] as const;

interface Vendor {
  /** The credentials that it uses, in order (providers.md 1.2). */
  readonly used: readonly string[];
  /** The address of a public provider (providers.md 1.2). */
  readonly address?: string;
  /** The vendor's names for its credentials. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly helps?: Readonly<Record<string, string>>;
  /** The rights that the credentials need. */
  readonly rights: string;
}

/** A function, because the language may change. */
const vendors = (): Readonly<Record<string, Vendor>> => ({
  OpenStack: {
    used: ['backend_url', 'username', 'password', 'domain', 'tenant_name', 'certificate'],
    labels: { backend_url: t('Keystone URL'), tenant_name: t('OpenStack project') },
    helps: {
      backend_url: t('The address of the identity service (Keystone v3). It must end in /v3.'),
      domain: t('Defaults to “Default”.'),
      tenant_name: t('Defaults to “admin”.'),
    },
    rights: t(
      'The admin role in the OpenStack project. It lets this service list all projects, create projects and users in the domain, and assign itself the role in them.',
    ),
  },
  DigitalOcean: {
    used: ['backend_url', 'token'],
    address: 'https://api.digitalocean.com/v2',
    rights: t('A personal access token with read and write access.'),
  },
  Amazon: {
    used: ['backend_url', 'username', 'token'],
    address: 'https://ec2.amazonaws.com',
    labels: { username: t('Access key ID'), token: t('Secret access key') },
    rights: t('An access key of an IAM user with the policy in the manual.'),
  },
  JIRA: {
    used: ['backend_url', 'username', 'password', 'certificate'],
    labels: { backend_url: t('Site URL') },
    rights: t('A JIRA administrator who can create, edit and delete issues, comments and attachments in the projects.'),
  },
  GitLab: {
    used: ['backend_url', 'token', 'username', 'password', 'certificate'],
    address: 'https://gitlab.com',
    labels: { backend_url: t('Site URL') },
    helps: { token: t('Or a username and a password, if the site accepts them.') },
    rights: t(
      'A token with the api scope of a user who can create groups. An administrator’s token (scopes api and admin_mode) can also find people by email and create accounts for them.',
    ),
  },
  Oracle: {
    used: ['backend_url', 'username', 'password', 'certificate'],
    labels: { backend_url: t('Enterprise Manager URL') },
    helps: { backend_url: 'https://host:7802/em' },
    rights: t('A self-service user (role EM_SSA_USER) with the zones and the service templates for databases.'),
  },
});

/** An unknown type may use any credential. */
const vendorOf = (type: string): Vendor => ownValue(vendors(), type) ?? { used: credentials, rights: '' };

/** Returns the URL of a public provider; empty for others. */
export const addressOfProvider = (type: string): string => vendorOf(type).address ?? '';

/** The first fields: name and owner of the account. */
export const firstFields = ['name', 'customer'];

/** Fields for a later step, or only for programs. */
const later = new Set(['project', 'available_for_all', 'scope', 'settings']);

/**
 * Returns the fields for a type, ordered by importance. The simulator needs no credentials; a real provider has none of the
 * simulator's options.
 */
export function guidedFields(fields: readonly FormField[], type: string, isSimulated: boolean): readonly FormField[] {
  const { helps = {}, labels = {}, used } = vendorOf(type);
  const wanted = isSimulated ? [] : used;
  const order = [...firstFields, ...wanted];
  const rank = ({ name }: FormField): number => rankIn(order, name);
  const isOther = (name: string): boolean =>
    (!isSimulated && isOfSimulator(name)) || (!wanted.includes(name) && [...credentials, ...used].includes(name));
  return fields
    .filter(({ name }) => !later.has(name) && !isOther(name))
    .sort((a, b) => rank(a) - rank(b))
    .map((field) => ({
      ...field,
      label: ownValue(labels, field.name) ?? field.label,
      help:
        ownValue(helps, field.name) ??
        (field.name === 'certificate'
          ? t('Needed only if the server’s certificate is not signed by a public CA.')
          : field.help),
      isRequired: field.isRequired || field.name === 'backend_url',
      isHalf: field.kind === 'text' && field.name !== 'backend_url',
      isFolded: rank(field) === order.length,
    }));
}

/** Explains which rights the credentials of a type need. */
export function RequiredRights({ type, isOpen }: { readonly type: string; readonly isOpen: boolean }): JSX.Element {
  const { rights } = vendorOf(type);
  return (
    <>
      <p class="note">{t('The credentials are stored encrypted and never shown again.')}</p>
      {rights !== '' && (
        <details class="fold" open={isOpen}>
          <summary>
            <Icon name="next" />
            {t('Required permissions')}
          </summary>
          <p class="note">
            {rights}{' '}
            <a href="docs/manual/providers/#what-each-type-supports" target="_blank" rel="noreferrer">
              {t('More in the manual')}
            </a>
          </p>
        </details>
      )}
    </>
  );
}

/** The checks of a connection test (services.md 4.3). */
export type ConnectionTest = 'running' | readonly Item[] | undefined;

/** The checks in order, with the texts for success and failure. */
const checks = (type: string): readonly (readonly [name: string, title: string, failure: string])[] => [
  ['endpoint', t('Endpoint is reachable'), t('{type} does not respond at this address.', { type })],
  ['certificate', t('Certificate is trusted'), t('The certificate of {type} is not trusted.', { type })],
  ['authentication', t('Credentials are accepted'), t('{type} rejected the credentials.', { type })],
  [
    'inventory',
    t('Resources can be read'),
    t('The account has no permission to read its resources at {type}.', { type }),
  ],
];

/** Returns the failed check of a test; undefined if all passed. */
export const failedCheck = (test: ConnectionTest): Item | undefined =>
  test === 'running' ? undefined : test?.find(({ status }) => status === 'failed');

/** Converts a failed check to a rejection that marks the field to correct. */
export function rejectionOf(type: string, check: Item, labelOf: (name: string) => string): Item {
  const { used } = vendorOf(type);
  const name = textOf(check, 'name');
  const failure = checks(type).find(([own]) => own === name)?.[2] ?? '';
  const detail = [failure, serverText(textOf(check, 'message')), t('Nothing was saved.')].filter(Boolean).join(' ');
  const logins = used.filter((own) => ['username', 'password', 'token', 'domain'].includes(own));
  if (name === 'endpoint') return { detail, backend_url: [t('Check the address.')] };
  if (name === 'certificate')
    return {
      detail,
      [used.includes('certificate') ? 'certificate' : 'backend_url']: [
        t('Choose the certificate of the CA that signed the server’s certificate.'),
      ],
    };
  const [first = 'backend_url'] = logins;
  if (name === 'authentication')
    return {
      detail,
      [first]: [t('Check: {fields}.', { fields: listText(logins.map((own) => plainLabel(labelOf(own)))) })],
    };
  return { detail };
}

const checkStates: Readonly<Record<string, 'good' | 'bad'>> = { passed: 'good', failed: 'bad' };

/** Shows which parts of the connection work, so that users know which field to correct. */
export function ConnectionChecks({
  type,
  test,
}: {
  readonly type: string;
  readonly test: ConnectionTest;
}): JSX.Element {
  const results = itemsIn(test);
  const isFailed = failedCheck(test) !== undefined;
  return (
    <Card
      title={t('Connection test')}
      note={
        results.length > 0 && <Badge tone={isFailed ? 'bad' : 'good'}>{isFailed ? t('Failed') : t('Passed')}</Badge>
      }
    >
      <Checks>
        {checks(type).map(([name, title]) => {
          const check = results.find((one) => one.name === name);
          const status = textOf(check ?? {}, 'status');
          return (
            <Check key={name} state={ownValue(checkStates, status) ?? 'wait'} title={title}>
              {test === 'running' ? (
                <span class="sub">{t('Testing…')}</span>
              ) : status === 'skipped' ? (
                <span class="sub">{t('Not checked')}</span>
              ) : (
                textOf(check ?? {}, 'message') !== '' && (
                  <span class="sub">{serverText(textOf(check ?? {}, 'message'))}</span>
                )
              )}
            </Check>
          );
        })}
      </Checks>
    </Card>
  );
}
