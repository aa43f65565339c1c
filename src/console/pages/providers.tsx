/** Provider accounts: their problems, their customers, and a guide that adds one. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Item, itemsIn, type Page, pathOf, problemOf, request, textOf } from '../api/api.ts';
import { type ApiResponse, api } from '../api/connection.ts';
import { type FormField, formFieldsOf } from '../api/fields.ts';
import { useGet, useList, usePage, useRequest } from '../api/reading.ts';
import { go, hrefOf, hrefOfLink, place } from '../api/route.ts';
import { scope } from '../api/scope.ts';
import { collections, isOperator, isStaff, roles } from '../api/session.ts';
import { Callout, Card, Loading } from '../components/card.tsx';
import { statusColumn } from '../components/columns.tsx';
import { Creation, creationNotice, type Description } from '../components/creation.tsx';
import { Form } from '../components/form.tsx';
import { Icon } from '../components/icons.tsx';
import { ListPage } from '../components/list.tsx';
import { Listing } from '../components/listing.tsx';
import { Options, Steps } from '../components/options.tsx';
import { PageHeader } from '../components/page.tsx';
import { SimulatedBadge } from '../components/status.tsx';
import { type Column, NameCell } from '../components/table.tsx';
import { Check, Checks } from '../components/timeline.tsx';
import { notify } from '../components/toast.tsx';
import { ObjectLink, Time, Value } from '../components/values.tsx';
import { serverText, t, titleOf } from '../i18n/words.ts';
import { ownValue } from '../own.ts';
import { works } from './attention.tsx';
import { Import } from './import.tsx';
import { maker } from './resources.tsx';
import { Usage } from './usage.tsx';

/** The providers of the guide, below `/add-provider/`. */
export const guide = '/add-provider/';

/** All credentials; each type uses some of them. */
const credentials = new Set(['backend_url', 'username', 'password', 'token', 'certificate', 'domain']);

/** The credentials that a type uses (providers.md 1.2); an unlisted type may use any. */
const used: Readonly<Record<string, readonly string[]>> = {
  OpenStack: ['backend_url', 'username', 'password', 'domain', 'certificate'],
  DigitalOcean: ['backend_url', 'token'],
  Amazon: ['backend_url', 'username', 'token'],
  JIRA: ['backend_url', 'username', 'password', 'certificate'],
  GitLab: ['backend_url', 'token', 'username', 'password', 'certificate'],
  Oracle: ['backend_url', 'username', 'password', 'certificate'],
};

/** Addresses of public providers (providers.md 1.2). */
const publicAddresses: Readonly<Record<string, string>> = {
  DigitalOcean: 'https://api.digitalocean.com/v2',
  Amazon: 'https://ec2.amazonaws.com',
  GitLab: 'https://gitlab.com',
};

/** The vendors' terms for the credentials of a type. */
const calledBy = (type: string): Readonly<Record<string, string>> =>
  type === 'Amazon' ? { username: t('Access key ID'), token: t('Secret access key') } : {};

/** The first fields: the name and the owner of the account. */
const first = ['name', 'customer', 'project', 'available_for_all'];

/** The fields of the guide for a type, ordered by importance; the simulator needs no credentials. */
function guided(fields: readonly FormField[], type: string, isSimulated: boolean): readonly FormField[] {
  const wanted = isSimulated ? [] : (ownValue(used, type) ?? [...credentials]);
  const order = [...first, ...wanted];
  const rank = ({ name }: FormField): number => {
    const place = order.indexOf(name);
    return place < 0 ? order.length : place;
  };
  const names = calledBy(type);
  return fields
    .filter(({ name }) => name !== 'settings' && (!credentials.has(name) || wanted.includes(name)))
    .sort((a, b) => rank(a) - rank(b))
    .map((field) => ({
      ...field,
      label: ownValue(names, field.name) ?? field.label,
      isRequired: field.isRequired || field.name === 'backend_url',
      isFolded: rank(field) === order.length,
    }));
}

/** Whether the guide offers anything to the user. */
export const mayAddAccounts = (): boolean => isStaff.value || roles.value.has('owner');

export function ProviderGuide({ type }: { readonly type: string }): JSX.Element {
  const { value: response } = useGet(() => api.GET('/api/service-metadata/'));
  const types = response?.isOk ? response.body : {};
  const chosen = ownValue(types, type);
  const list = chosen ? (pathOf(chosen.url).split('/')[2] ?? '') : '';
  return (
    <>
      <PageHeader
        crumbs={[
          [hrefOf('/service-settings/'), titleOf('service-settings')],
          ...(chosen ? [[hrefOf(guide), t('Add provider account')] as const] : []),
        ]}
        title={chosen ? t('Add an account at {type}', { type }) : t('Add provider account')}
      />
      <Steps steps={[t('Provider'), t('Credentials')]} current={chosen ? 1 : 0} />
      {!response && <Loading />}
      {!chosen && (
        <ul class="options two">
          {Object.keys(types).map((name) => (
            <li key={name}>
              <a class="option" href={hrefOf(`${guide}${name}/`, place.value.query)}>
                <Icon name="service-settings" />
                <b>{name}</b>
              </a>
            </li>
          ))}
        </ul>
      )}
      {list !== '' && <GuidedForm key={type} type={type} list={list} />}
    </>
  );
}

const rejection = (body: Item): ApiResponse<Item> => ({ status: 400, headers: new Headers(), isOk: false, body });

/** Without an address the server would use its simulator. */
const noAddress = (): ApiResponse<Item> => rejection({ backend_url: [serverText('This field is required.')] });

/** A body without credentials is only rejected where the simulator is switched off. */
const withoutAccount = (response: ApiResponse<Item>): ApiResponse<Item> =>
  problemOf(response.body) === serverText('Either service settings or credentials must be supplied.')
    ? rejection({ detail: serverText('Simulation is switched off.') })
    : response;

function GuidedForm({ type, list }: { readonly type: string; readonly list: string }): JSX.Element {
  const path = `/api/${list}/`;
  const { value: response } = useRequest<Description>('OPTIONS', path);
  const [isSimulated, setSimulated] = useState(false);
  const [test, setTest] = useState<ConnectionTest>();
  const { value: customers } = usePage('/api/customers/?field=url&page_size=1');
  if (!response || !customers) return <Loading />;
  const post = response.isOk ? response.body.actions?.POST : undefined;
  if (!post) return <Callout tone="warn">{t('Only staff can add provider accounts here.')}</Callout>;
  const only = customers.count === 1 ? textOf(customers.items[0] ?? {}, 'url') : '';
  const customer = scope.value.customer?.url ?? only;
  const presets = Object.fromEntries(
    ['customer', 'project'].flatMap((name) => {
      const link = place.value.query.get(name);
      return link === null ? [] : [[name, link]];
    }),
  );
  return (
    <div class="split">
      <Card title={t('Account')}>
        <div class="form">
          <Options
            label={t('Where the resources are')}
            options={[
              { value: 'real', title: type, sub: t('The credentials are tested before the account is saved.') },
              {
                value: 'simulated',
                title: t('Simulator'),
                sub: t('Runs on this server and needs no credentials. Its resources cost nothing.'),
              },
            ]}
            value={isSimulated ? 'simulated' : 'real'}
            isWide
            onInput={(value) => {
              setSimulated(value === 'simulated');
              setTest(undefined);
            }}
          />
          <Form
            fields={guided(formFieldsOf(post, collections.value.get(list)), type, isSimulated)}
            given={{
              available_for_all: true,
              backend_url: ownValue(publicAddresses, type) ?? '',
              customer,
              ...presets,
            }}
            button={isSimulated ? t('Add account') : t('Test and add')}
            send={async (body) => {
              const address = body instanceof FormData ? body.get('backend_url') : body.backend_url;
              if (!isSimulated && (address ?? '') === '') return noAddress();
              if (!isSimulated) {
                setTest('running');
                const tested = await request<Item>('POST', `${path}test/`, { body });
                setTest(tested.isOk ? itemsIn(tested.body.checks) : undefined);
                if (!tested.isOk) return withoutAccount(tested);
                const failed = itemsIn(tested.body.checks).find(({ status }) => status === 'failed');
                if (failed) return rejection({ detail: testFailure(failed) });
              }
              const created = await request<Item>('POST', path, { body });
              if (created.isOk) {
                notify(creationNotice(created.body));
                go(hrefOfLink(textOf(created.body, 'settings')).slice(1));
              }
              return withoutAccount(created);
            }}
          />
        </div>
      </Card>
      <div class="stack">
        {!isSimulated && <ConnectionChecks test={test} />}
        <Card title={t('What happens next')}>
          <p class="note">
            {t('Tenantry reads flavors, images and existing resources of the account. Then projects can use it.')}
          </p>
        </Card>
      </div>
    </div>
  );
}

/** The checks of a connection test as the server returns them (services.md 4.3). */
type ConnectionTest = 'running' | readonly Item[] | undefined;

const checkTitles = (): readonly (readonly [name: string, title: string])[] => [
  ['endpoint', t('Endpoint is reachable')],
  ['certificate', t('Certificate is trusted')],
  ['authentication', t('Credentials are accepted')],
  ['inventory', t('Resources can be read')],
];

const checkStates: Readonly<Record<string, 'good' | 'bad'>> = { passed: 'good', failed: 'bad' };

const testFailure = (check: Item): string =>
  t('Connection test failed: {check}. {message}', {
    check: checkTitles().find(([name]) => name === check.name)?.[1] ?? textOf(check, 'name'),
    message: serverText(textOf(check, 'message')),
  });

/** Which parts of the connection work, so that users know which field to correct. */
function ConnectionChecks({ test }: { readonly test: ConnectionTest }): JSX.Element {
  const checks = typeof test === 'object' ? test : [];
  return (
    <Card title={t('Connection test')}>
      <Checks>
        {checkTitles().map(([name, title]) => {
          const check = checks.find((one) => one.name === name);
          const status = textOf(check ?? {}, 'status');
          return (
            <Check key={name} state={ownValue(checkStates, status) ?? 'wait'} title={title}>
              {test === 'running'
                ? t('Testing…')
                : status === 'skipped'
                  ? t('Not checked')
                  : serverText(textOf(check ?? {}, 'message'))}
            </Check>
          );
        })}
      </Checks>
    </Card>
  );
}

/** The accounts at providers. Owners of a customer add one with the guide; staff also add accounts without a customer. */
export function AccountsPage(): JSX.Element {
  const list = 'service-settings';
  const collection = collections.value.get(list);
  return (
    <ListPage
      path={`/${list}/`}
      title={titleOf(list)}
      collection={collection}
      columns={columns}
      actions={
        <>
          {isStaff.value && collection && <Creation collection={collection} button={t('New shared account')} />}
          {mayAddAccounts() && (
            <a class="btn primary" href={hrefOf(guide)}>
              <Icon name="create" />
              {t('Add provider account')}
            </a>
          )}
        </>
      }
    />
  );
}

const columns = (): readonly Column[] => [
  {
    key: 'name',
    title: titleOf('name'),
    sort: 'name',
    class: 'name',
    cell: (account) => (
      <NameCell
        icon="service-settings"
        href={hrefOfLink(textOf(account, 'url'))}
        name={textOf(account, 'name')}
        sub={textOf(account, 'type')}
      />
    ),
  },
  statusColumn('state'),
  {
    key: 'customer',
    title: titleOf('customer'),
    class: 'cut',
    cell: (account) =>
      account.shared === true ? t('Shared') : <Value name="customer" value={account.customer} item={account} />,
  },
  {
    key: 'simulated',
    title: '',
    class: 'when-roomy',
    cell: (account) => account.is_simulated === true && <SimulatedBadge />,
  },
];

/** The Overview of an account: its resources, those to import, and its usage; customers and projects beside them. */
export function AccountOverview({ settings }: { readonly settings: Item }): JSX.Element {
  const uuid = textOf(settings, 'uuid');
  const query = { settings_uuid: uuid, page_size: 10 };
  const { value: services } = useList(() => api.GET('/api/services/', { params: { query } }), [uuid]);
  // Only staff may import from shared accounts, one customer at a time.
  const [service] = settings.shared === true ? [] : (services?.items ?? []);
  return (
    <div class="split">
      <div class="stack">
        <Listing
          title={t('Resources')}
          path="/resources/"
          query={`service_settings_uuid=${uuid}`}
          empty={t('No resources yet.')}
          actions={
            works() && (
              <a class="btn sm" href={hrefOf(maker)}>
                <Icon name="create" />
                {t('Create')}
              </a>
            )
          }
        />
        {isOperator.value && <Usage uuid={uuid} />}
        {service && <Import service={service} />}
      </div>
      <Services uuid={uuid} page={services} />
    </div>
  );
}

/** The time of the last synchronisation; read again when the state changes. */
export function LastSync({ state, uuid }: { readonly state: string; readonly uuid: string }): JSX.Element | null {
  const { reload, value: response } = useGet(
    () => api.GET('/api/service-settings/{key}/sync/', { params: { path: { key: uuid } } }),
    [uuid],
  );
  const seen = useRef(state);
  useEffect(() => {
    if (seen.current !== state) void reload();
    seen.current = state;
  }, [state, reload]);
  const last = response?.isOk ? textOf(response.body, 'last_sync') : '';
  if (last === '') return null;
  return (
    <span>
      {titleOf('last_sync')} <Time value={last} />
    </span>
  );
}

/** The customers that use an account, each with its projects. */
function Services({ uuid, page }: { readonly uuid: string; readonly page: Page | undefined }): JSX.Element {
  return (
    <Card
      title={t('Customers and projects')}
      problem={page?.problem}
      isLoading={page === undefined}
      empty={page?.count === 0 ? t('Not used yet.') : undefined}
      more={page && page.count > 10 ? hrefOf('/services/', { settings_uuid: uuid }) : undefined}
      isFlush
    >
      <ul class="lines">
        {page?.items.map((service) => (
          <ServiceLine key={textOf(service, 'url')} service={service} />
        ))}
      </ul>
    </Card>
  );
}

/** A customer, the projects that are connected, and a button to connect another. */
function ServiceLine({ service }: { readonly service: Item }): JSX.Element {
  const url = textOf(service, 'url');
  const collection = collections.value.get(`${pathOf(url).split('/')[2] ?? ''}-service-project-link`);
  const projects = itemsIn(service.projects);
  return (
    <li>
      <span class="words">
        <ObjectLink item={{ ...service, name: textOf(service, 'customer_name') }} />
        <span class="sub">
          <span class="row">
            {projects.length === 0
              ? t('No projects yet.')
              : projects.map((project) => <ObjectLink key={textOf(project, 'url')} item={project} />)}
          </span>
        </span>
        {collection && (
          <Creation
            collection={collection}
            given={{ service: url }}
            button={t('Connect project')}
            isQuiet
            onCreated={async () => undefined}
          />
        )}
      </span>
    </li>
  );
}
