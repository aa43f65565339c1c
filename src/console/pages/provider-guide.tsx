/** The guide that adds an account at a provider in four steps. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Item, itemsIn, pathOf, problemOf, readPage, request, textOf } from '../api/api.ts';
import { type ApiResponse, api } from '../api/connection.ts';
import { type FormField, formFieldsOf } from '../api/fields.ts';
import { useGet, useObject, usePage, useRepeated, useRequest } from '../api/reading.ts';
import { go, hrefOf, hrefOfLink, place } from '../api/route.ts';
import { scope } from '../api/scope.ts';
import { collections, isStaff, roles } from '../api/session.ts';
import { Callout, Card, Loading } from '../components/card.tsx';
import { creationNotice, type Description } from '../components/creation.tsx';
import { Form } from '../components/form.tsx';
import { Icon } from '../components/icons.tsx';
import { Options, Steps } from '../components/options.tsx';
import { PageHeader } from '../components/page.tsx';
import { Check, Checks } from '../components/timeline.tsx';
import { notify } from '../components/toast.tsx';
import { nameOf } from '../components/values.tsx';
import { isTransient } from '../format/status.ts';
import { serverText, t, titleOf } from '../i18n/words.ts';
import { ownValue } from '../own.ts';
import { Import } from './import.tsx';

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
const first = ['name', 'customer'];

/** Fields that a later step sets. */
const later = new Set(['project', 'available_for_all']);

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
    .filter(({ name }) => name !== 'settings' && !later.has(name) && (!credentials.has(name) || wanted.includes(name)))
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

const steps = (): readonly string[] => [t('Provider'), t('Credentials'), titleOf('projects'), t('Import')];

/** The guide: the provider, its credentials, the projects, and what exists there already. `account` in the address is the new one. */
export function ProviderGuide({ type }: { readonly type: string }): JSX.Element {
  const { value: response } = useGet(() => api.GET('/api/service-metadata/'));
  const [isChoosing, setChoosing] = useState(false);
  const types = response?.isOk ? response.body : {};
  const chosen = ownValue(types, type);
  const list = chosen ? (pathOf(chosen.url).split('/')[2] ?? '') : '';
  const account = place.value.query.get('account') ?? '';
  return (
    <>
      <PageHeader
        crumbs={[
          [hrefOf('/service-settings/'), titleOf('service-settings')],
          ...(chosen ? [[hrefOf(guide), t('Add provider account')] as const] : []),
        ]}
        title={chosen ? t('Add an account at {type}', { type }) : t('Add provider account')}
      />
      <Steps steps={steps()} current={chosen ? (account === '' ? (isChoosing ? 2 : 1) : 3) : 0} />
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
      {list !== '' &&
        (account === '' ? (
          <GuidedForm key={type} type={type} list={list} onChoosing={setChoosing} />
        ) : (
          <ExistingResources uuid={account} />
        ))}
    </>
  );
}

const rejection = (body: Item): ApiResponse<Item> => ({ status: 400, headers: new Headers(), isOk: false, body });

const noAddress = (): ApiResponse<Item> => rejection({ backend_url: [serverText('This field is required.')] });

/** A body without credentials is only rejected where the simulator is switched off. */
const withoutAccount = (response: ApiResponse<Item>): ApiResponse<Item> =>
  problemOf(response.body) === serverText('Either service settings or credentials must be supplied.')
    ? rejection({ detail: serverText('Simulation is switched off.') })
    : response;

/** The value of a body, which is a form where it has a file. */
const valueIn = (body: Item | FormData, name: string): string => {
  const value = body instanceof FormData ? body.get(name) : body[name];
  return typeof value === 'string' ? value : '';
};

/** Which projects of the customer use a new account. */
interface ChosenProjects {
  readonly isAll: boolean;
  /** The links of the others. */
  readonly urls: readonly string[];
}

/** The question which projects use the account; `onAnswer` gets undefined for a way back. */
interface ProjectQuestion {
  readonly projects: readonly Item[];
  readonly onAnswer: (chosen: ChosenProjects | undefined) => void;
}

/** Creates the account at a path and connects it to the chosen projects. */
async function createAccount(
  path: string,
  body: Item | FormData,
  { isAll, urls }: ChosenProjects,
): Promise<ApiResponse<Item>> {
  if (body instanceof FormData) body.set('available_for_all', String(isAll));
  const whole = body instanceof FormData ? body : { ...body, available_for_all: isAll };
  const created = await request<Item>('POST', path, { body: whole });
  if (!created.isOk) return withoutAccount(created);
  const links = path.replace(/\/$/, '-service-project-link/');
  for (const project of isAll ? [] : urls) {
    const linked = await request<Item>('POST', links, { body: { service: textOf(created.body, 'url'), project } });
    if (!linked.isOk) notify(problemOf(linked.body), { tone: 'bad' });
  }
  notify(creationNotice(created.body));
  return created;
}

function GuidedForm({
  type,
  list,
  onChoosing,
}: {
  readonly type: string;
  readonly list: string;
  /** Called when the projects are chosen, and when they no longer are. */
  readonly onChoosing: (isChoosing: boolean) => void;
}): JSX.Element {
  const path = `/api/${list}/`;
  const { value: response } = useRequest<Description>('OPTIONS', path);
  const [isSimulated, setSimulated] = useState(false);
  const [test, setTest] = useState<ConnectionTest>();
  const [question, setQuestion] = useState<ProjectQuestion>();
  const { value: customers } = usePage('/api/customers/?field=url&page_size=1');
  useEffect(() => onChoosing(question !== undefined), [question]);
  if (!response || !customers) return <Loading />;
  const post = response.isOk ? response.body.actions?.POST : undefined;
  if (!post) return <Callout tone="warn">{t('Only staff can add provider accounts here.')}</Callout>;
  const only = customers.count === 1 ? textOf(customers.items[0] ?? {}, 'url') : '';
  const { query } = place.value;

  /** Sends the credentials to the provider. Returns the rejection, if there is one. */
  async function tested(body: Item | FormData): Promise<ApiResponse<Item> | undefined> {
    // Without an address the server would use its simulator.
    if (valueIn(body, 'backend_url') === '') return noAddress();
    setTest('running');
    const result = await request<Item>('POST', `${path}test/`, { body });
    setTest(result.isOk ? itemsIn(result.body.checks) : undefined);
    if (!result.isOk) return withoutAccount(result);
    const failed = itemsIn(result.body.checks).find(({ status }) => status === 'failed');
    return failed && rejection({ detail: testFailure(failed) });
  }

  async function send(body: Item | FormData): Promise<ApiResponse<Item>> {
    const rejected = isSimulated ? undefined : await tested(body);
    if (rejected) return rejected;
    const customer = pathOf(valueIn(body, 'customer')).split('/')[3] ?? '';
    const { items: projects } = await readPage(
      `/api/projects/?customer=${customer}&field=url&field=name&page_size=300`,
    );
    const answer =
      customer !== '' && projects.length > 1
        ? await new Promise<ChosenProjects | undefined>((onAnswer) => setQuestion({ projects, onAnswer }))
        : { isAll: true, urls: [] };
    setQuestion(undefined);
    // Back at the credentials, nothing was saved.
    if (!answer) return { status: 0, headers: new Headers(), isOk: true, body: {} };
    const created = await createAccount(path, body, answer);
    if (!created.isOk) return created;
    const settings = textOf(created.body, 'settings');
    // The simulator has nothing to import; its page offers the rest.
    if (created.body.is_simulated === true) go(hrefOfLink(settings).slice(1));
    else go(`${guide}${type}/`, { account: pathOf(settings).split('/')[3] ?? '' });
    return created;
  }

  return (
    <>
      {question && <ProjectChoice {...question} preset={query.get('project') ?? ''} />}
      <div class="stack" hidden={question !== undefined}>
        <div class="card">
          <div class="in">
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
          </div>
        </div>
        <Form
          fields={guided(formFieldsOf(post, collections.value.get(list)), type, isSimulated)}
          given={{
            backend_url: ownValue(publicAddresses, type) ?? '',
            customer: query.get('customer') ?? scope.value.customer?.url ?? only,
          }}
          button={isSimulated ? t('Add account') : t('Test and continue')}
          sectionOf={({ name }) => (first.includes(name) ? t('Account') : t('Credentials'))}
          send={send}
        >
          {!isSimulated && <ConnectionChecks test={test} />}
          <Card title={t('What happens next')}>
            <p class="note">
              {t('Tenantry reads flavors, images and existing resources of the account. Then projects can use it.')}
            </p>
          </Card>
        </Form>
      </div>
    </>
  );
}

/** The step that chooses the projects: all, or some. Nothing is saved before. */
function ProjectChoice({
  projects,
  onAnswer,
  preset,
}: ProjectQuestion & {
  /** The link of the project that the address names. */
  readonly preset: string;
}): JSX.Element {
  const [isAll, setAll] = useState(preset === '');
  const [urls, setUrls] = useState<readonly string[]>(preset === '' ? [] : [preset]);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer({ isAll, urls });
      }}
    >
      <Card title={titleOf('projects')}>
        <div class="form">
          <Options
            label={t('Projects that can use the account')}
            options={[
              { value: 'all', title: t('All projects'), sub: t('Also those that are created later.') },
              { value: 'some', title: t('Selected projects') },
            ]}
            value={isAll ? 'all' : 'some'}
            isWide
            onInput={(value) => setAll(value === 'all')}
          />
          {!isAll && (
            <div class="choices">
              {projects.map((project) => {
                const url = textOf(project, 'url');
                return (
                  <label key={url} class="check">
                    <input
                      type="checkbox"
                      checked={urls.includes(url)}
                      onInput={(event) =>
                        setUrls(event.currentTarget.checked ? [...urls, url] : urls.filter((other) => other !== url))
                      }
                    />
                    {nameOf(project)}
                  </label>
                );
              })}
            </div>
          )}
        </div>
      </Card>
      <footer class="form-foot">
        <button type="button" class="btn" onClick={() => onAnswer(undefined)}>
          {t('Back')}
        </button>
        <button type="submit" class="btn primary">
          {t('Add account')}
        </button>
      </footer>
    </form>
  );
}

/** The state of an account that has been read. */
const inSync = 'In Sync';

/** The last step: what exists at the provider and can be imported, once the account has been read. */
function ExistingResources({ uuid }: { readonly uuid: string }): JSX.Element {
  const { value: response, reload } = useObject(`/api/service-settings/${uuid}/`);
  const settings: Item = response?.isOk ? response.body : {};
  const state = textOf(settings, 'state');
  useRepeated(reload, isTransient(state));
  const { value: services } = usePage(state === inSync ? `/api/services/?settings_uuid=${uuid}&page_size=1` : '');
  const [service] = services?.items ?? [];
  if (!response) return <Loading />;
  return (
    <div class="stack">
      {response.isOk ? (
        <Callout tone={state === inSync ? 'good' : state === 'Erred' ? 'bad' : 'busy'} title={nameOf(settings)}>
          {state === inSync
            ? t('The account was read.')
            : serverText(textOf(settings, 'error_message')) || t('The account is being read.')}
        </Callout>
      ) : (
        <Callout tone="bad">{problemOf(response.body)}</Callout>
      )}
      {service && <Import service={service} empty={t('Nothing at the provider is left to import.')} />}
      <div class="form-foot">
        <a class="btn primary" href={hrefOf(`/service-settings/${uuid}/`)}>
          {t('Open the account')}
        </a>
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
