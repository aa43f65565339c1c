/** The guide that adds a provider account in four steps. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, isItem, itemsIn, listIn, problemOf, readPage, request, textOf, uuidIn } from '../api/api.ts';
import { type ApiResponse, api } from '../api/connection.ts';
import { formFieldsOf } from '../api/fields.ts';
import { useGet, useObject, usePage, usePolling, useRequest } from '../api/reading.ts';
import { go, hrefOf, hrefOfLink, place } from '../api/route.ts';
import { scope } from '../api/scope.ts';
import { collections, isStaff, roles } from '../api/session.ts';
import { Callout, Card, Loading } from '../components/card.tsx';
import { creationNotice, type Description } from '../components/creation.tsx';
import { Form } from '../components/form.tsx';
import { Icon } from '../components/icons.tsx';
import { Options } from '../components/options.tsx';
import { PageHeader } from '../components/page.tsx';
import { Steps } from '../components/steps.tsx';
import { Checks } from '../components/timeline.tsx';
import { notify } from '../components/toast.tsx';
import { nameOf } from '../components/values.tsx';
import { iconOfProvider } from '../format/kinds.ts';
import { isTransient } from '../format/status.ts';
import { listText, plainLabel, plainTitle } from '../format/text.ts';
import { serverText, t, titleOf } from '../i18n/words.ts';
import { ownValue } from '../item.ts';
import { Import } from './import.tsx';
import {
  addressOfProvider,
  ConnectionChecks,
  type ConnectionTest,
  failedCheck,
  firstFields,
  guidedFields,
  RequiredRights,
  rejectionOf,
} from './provider-types.tsx';

/** Base path of the guide. */
export const guide = '/add-provider/';

/** Whether the user may add accounts. */
export const mayAddAccounts = (): boolean => isStaff.value || roles.value.has('owner');

const steps = (): readonly string[] => [t('Provider'), t('Credentials'), titleOf('projects'), t('Import')];

/** The guide: provider, credentials, projects, and existing resources. `account` in the address is the new account. */
export function ProviderGuide({ type }: { readonly type: string }): JSX.Element {
  const { value: response } = useGet(() => api.GET('/api/service-metadata/'));
  const types = response?.isOk ? response.body : {};
  const chosen = ownValue(types, type);
  const list = chosen ? listIn(chosen.url) : '';
  const account = place.value.query.get('account') ?? '';
  const isAllowed = account !== '' || mayAddAccounts();
  return (
    <>
      <PageHeader
        crumbs={[
          [hrefOf('/service-settings/'), titleOf('service-settings')],
          ...(chosen ? [[hrefOf(guide), t('Add provider account')] as const] : []),
        ]}
        title={chosen ? t('Add an account at {type}', { type }) : t('Add provider account')}
      />
      {!isAllowed && <Callout tone="warn">{t('You cannot add provider accounts.')}</Callout>}
      {isAllowed && (!chosen || account !== '') && <Steps steps={steps()} current={chosen ? 3 : 0} />}
      {!response && <Loading />}
      {isAllowed && !chosen && (
        <ul class="options two">
          {Object.entries(types).map(([name, { resources }]) => (
            <li key={name}>
              <a class="option" href={hrefOf(`${guide}${name}/`, place.value.query)}>
                <span class="kind">
                  <Icon name={iconOfProvider(name)} />
                </span>
                <span class="words">
                  <b>{name}</b>
                  <small>{kindsOf(resources)}</small>
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
      {isAllowed &&
        list !== '' &&
        (account === '' ? <GuidedForm key={type} type={type} list={list} /> : <ExistingResources uuid={account} />)}
    </>
  );
}

/** Lists the kinds of resources that users can create at a provider. */
const kindsOf = (resources: unknown): string => {
  const [first = '', ...others] = Object.values(isItem(resources) ? resources : {})
    .map((link) => listIn(String(link)))
    .filter((list) => collections.value.get(list)?.isCreatable)
    .map(plainTitle);
  return listText([first, ...others.map(plainLabel)]);
};

const rejection = (body: Item): ApiResponse<Item> => ({ status: 400, headers: new Headers(), isOk: false, body });

const noAddress = (): ApiResponse<Item> => rejection({ backend_url: [serverText('This field is required.')] });

/** Rewrites a rejection of missing credentials, which occurs only if the simulator is off. */
const withoutAccount = (response: ApiResponse<Item>): ApiResponse<Item> =>
  problemOf(response.body) === serverText('Either service settings or credentials must be supplied.')
    ? rejection({ detail: serverText('Simulation is switched off.') })
    : response;

/** Returns a member of a body, which is form data if it has a file. */
const valueIn = (body: Item | FormData, name: string): string => {
  const value = body instanceof FormData ? body.get(name) : body[name];
  return typeof value === 'string' ? value : '';
};

/** The projects that may use a new account. */
interface ChosenProjects {
  readonly isAll: boolean;
  /** Links of the chosen projects. */
  readonly urls: readonly string[];
}

/** The choice of projects. `onAnswer` receives undefined if the user goes back. */
interface ProjectQuestion {
  readonly projects: readonly Item[];
  readonly onAnswer: (chosen: ChosenProjects | undefined) => void;
}

/** Creates an account and connects it to the chosen projects. */
async function createAccount(
  path: string,
  body: Item | FormData,
  { isAll, urls }: ChosenProjects,
): Promise<ApiResponse<Item>> {
  if (body instanceof FormData) body.set('available_for_all', String(isAll));
  const service = body instanceof FormData ? body : { ...body, available_for_all: isAll };
  const created = await request<Item>('POST', path, { body: service });
  if (!created.isOk) return withoutAccount(created);
  const links = path.replace(/\/$/, '-service-project-link/');
  for (const project of isAll ? [] : urls) {
    const linked = await request<Item>('POST', links, { body: { service: textOf(created.body, 'url'), project } });
    if (!linked.isOk) notify(problemOf(linked.body), { tone: 'bad' });
  }
  notify(creationNotice(created.body));
  return created;
}

/** The second and third step: the account, and the projects that use it. */
function GuidedForm({ type, list }: { readonly type: string; readonly list: string }): JSX.Element {
  const [question, setQuestion] = useState<ProjectQuestion>();
  const ask = async (projects: readonly Item[]): Promise<ChosenProjects | undefined> => {
    const answer = await new Promise<ChosenProjects | undefined>((onAnswer) => setQuestion({ projects, onAnswer }));
    setQuestion(undefined);
    return answer;
  };
  return (
    <>
      <Steps steps={steps()} current={question ? 2 : 1} />
      {question && <ProjectChoice {...question} preset={place.value.query.get('project') ?? ''} />}
      <div class="stack" hidden={question !== undefined}>
        <AccountForm type={type} list={list} ask={ask} />
      </div>
    </>
  );
}

function AccountForm({
  type,
  list,
  ask,
}: {
  readonly type: string;
  readonly list: string;
  /** Asks which of these projects use the account; undefined for a way back. */
  readonly ask: (projects: readonly Item[]) => Promise<ChosenProjects | undefined>;
}): JSX.Element {
  const path = `/api/${list}/`;
  const { value: response } = useRequest<Description>('OPTIONS', path);
  const [isSimulated, setSimulated] = useState(false);
  const [test, setTest] = useState<ConnectionTest>();
  const { value: customers } = usePage('/api/customers/?field=url&page_size=1');
  if (!response || !customers) return <Loading />;
  const post = response.isOk ? response.body.actions?.POST : undefined;
  if (!post) return <Callout tone="warn">{t('Only staff can add provider accounts here.')}</Callout>;
  const only = customers.count === 1 ? textOf(customers.items[0] ?? {}, 'url') : '';
  const { query } = place.value;
  const fields = guidedFields(formFieldsOf(post, collections.value.get(list)), type, isSimulated);

  /** Tests the credentials at the provider. Returns the rejection, if any. */
  async function testCredentials(body: Item | FormData): Promise<ApiResponse<Item> | undefined> {
    // Without an address, the server would use its simulator.
    if (valueIn(body, 'backend_url') === '') return noAddress();
    setTest('running');
    const result = await request<Item>('POST', `${path}test/`, { body });
    setTest(result.isOk ? itemsIn(result.body.checks) : undefined);
    if (!result.isOk) return withoutAccount(result);
    const failed = failedCheck(itemsIn(result.body.checks));
    const labelOf = (name: string): string => fields.find((field) => field.name === name)?.label ?? titleOf(name);
    return failed && rejection(rejectionOf(type, failed, labelOf));
  }

  async function send(body: Item | FormData): Promise<ApiResponse<Item>> {
    const rejected = isSimulated ? undefined : await testCredentials(body);
    if (rejected) return rejected;
    const customer = uuidIn(valueIn(body, 'customer'));
    const { items: projects } = await readPage(
      `/api/projects/?customer=${customer}&field=url&field=name&page_size=300`,
    );
    const answer = customer !== '' && projects.length > 1 ? await ask(projects) : { isAll: true, urls: [] };
    // Back at the credentials, nothing was saved.
    if (!answer) return { status: 0, headers: new Headers(), isOk: true, body: {} };
    const created = await createAccount(path, body, answer);
    if (!created.isOk) return created;
    const settings = textOf(created.body, 'settings');
    // The simulator has nothing to import, so go straight to the account's page.
    if (created.body.is_simulated === true) go(hrefOfLink(settings).slice(1));
    else go(`${guide}${type}/`, { account: uuidIn(settings) });
    return created;
  }

  return (
    <>
      <BackendChoice
        type={type}
        isSimulated={isSimulated}
        onChoose={(chosen) => {
          setSimulated(chosen);
          setTest(undefined);
        }}
      />
      <Form
        fields={fields}
        initialValues={{
          backend_url: addressOfProvider(type),
          customer: query.get('customer') ?? scope.value.customer?.url ?? only,
        }}
        button={isSimulated ? t('Add account') : t('Test and continue')}
        sectionOf={({ name }) => (firstFields.includes(name) ? t('Account') : t('Credentials'))}
        sectionNotes={{
          [t('Account')]: <p class="note">{t('Users see this name when they create resources.')}</p>,
          [t('Credentials')]: <RequiredRights type={type} isOpen={failedCheck(test)?.name === 'inventory'} />,
        }}
        cancel={t('Back')}
        onCancel={() => go(guide, query)}
        send={send}
      >
        {!isSimulated && <ConnectionChecks type={type} test={test} />}
        <NextSteps isSimulated={isSimulated} />
      </Form>
    </>
  );
}

/** Chooses between the vendor and the simulator. */
const BackendChoice = ({
  type,
  isSimulated,
  onChoose,
}: {
  readonly type: string;
  readonly isSimulated: boolean;
  readonly onChoose: (isSimulated: boolean) => void;
}): JSX.Element => (
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
        onInput={(value) => onChoose(value === 'simulated')}
      />
    </div>
  </div>
);

const NextSteps = ({ isSimulated }: { readonly isSimulated: boolean }): JSX.Element => (
  <Card title={t('What happens next')}>
    <Checks>
      <li>
        <Icon name="projects" />
        <span>{t('Choose which projects of the customer can use the account.')}</span>
      </li>
      <li>
        <Icon name={isSimulated ? 'create' : 'download'} />
        <span>
          {isSimulated
            ? t('Create resources in these projects.')
            : t('Choose which existing resources these projects manage.')}
        </span>
      </li>
    </Checks>
  </Card>
);

/** The step that chooses all or some projects. Nothing is saved before it. */
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
              { value: 'all', title: t('All projects'), sub: t('Includes projects created later.') },
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

/** The state of an account after its first sync. */
const inSync = 'In Sync';

/** The last step: importable resources, available after the first sync. */
function ExistingResources({ uuid }: { readonly uuid: string }): JSX.Element {
  const { value: response, reload } = useObject(`/api/service-settings/${uuid}/`);
  const settings: Item = response?.isOk ? response.body : {};
  const state = textOf(settings, 'state');
  usePolling(reload, isTransient(state));
  const { value: services } = usePage(state === inSync ? `/api/services/?settings_uuid=${uuid}&page_size=1` : '');
  const [service] = services?.items ?? [];
  if (!response) return <Loading />;
  return (
    <div class="stack">
      {response.isOk ? (
        <Callout tone={state === inSync ? 'good' : state === 'Erred' ? 'bad' : 'busy'} title={nameOf(settings)}>
          {state === inSync
            ? t('The account is in sync.')
            : serverText(textOf(settings, 'error_message')) || t('The account is syncing.')}
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
