/** First steps on an installation without resources, and for a user without access. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, request, textOf } from '../api/api.ts';
import { configuration } from '../api/configuration.ts';
import { usePage, useReading } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { collections, isStaff, me, roles } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Callout, Card } from '../components/card.tsx';
import { Code } from '../components/copy.tsx';
import { Creation } from '../components/creation.tsx';
import { Icon } from '../components/icons.tsx';
import { Dot } from '../components/status.tsx';
import { Check, Checks } from '../components/timeline.tsx';
import { t, titleOf } from '../i18n/words.ts';
import { newResourcePath } from './new-resource.tsx';
import { guide } from './provider-guide.tsx';

const storageKey = 'tenantry first day hidden';

/** Counts the objects of a list; undefined until loaded. */
const useCount = (list: string, isWanted: boolean): number | undefined =>
  usePage(isWanted ? `/api/${list}/?page_size=1&field=url` : '').value?.count;

/** One step of the setup. */
interface Step {
  readonly title: string;
  readonly sub: string;
  readonly isDone: boolean;
  readonly action: (isNext: boolean) => ComponentChildren;
}

const StepLink = ({
  href,
  isNext,
  words,
}: {
  readonly href: string;
  readonly isNext: boolean;
  readonly words: string;
}) => (
  <a class={isNext ? 'btn sm primary' : 'btn sm'} href={href}>
    {words}
  </a>
);

/** Whether the user has no roles and is no operator, so that there is nothing to see yet. */
export const isWithoutAccess = (): boolean => roles.value.size === 0 && !isStaff.value && me.value?.is_support !== true;

/** The state of a new installation: setup steps, and facts to check before going live. */
interface Setup {
  readonly steps: readonly Step[];
  readonly status: Item;
  readonly hasMail: boolean | undefined;
  readonly hide: () => void;
}

/**
 * Reads the steps to the first virtual machine for staff. Undefined until loaded; null for other users, when all steps are done,
 * or after the user has hidden them.
 */
export function useSetup(): Setup | null | undefined {
  const [isHidden, setHidden] = useState(localStorage.getItem(storageKey) !== null);
  const isWanted = isStaff.value && !isHidden;
  const customers = useCount('customers', isWanted);
  const accounts = useCount('service-settings', isWanted);
  const projects = useCount('projects', isWanted);
  const resources = useCount('resources', isWanted);
  const isNew = isWanted && resources === 0;
  const { value: status } = useReading(`operation ${isNew}`, async (): Promise<Item> => {
    if (!isNew) return {};
    const { body, isOk } = await request<Item>('GET', '/api/operation/');
    return isOk ? body : {};
  });
  const { value: settings } = usePage(isNew ? '/api/deployment-settings/?name=smtp_url' : '');
  if (!isWanted) return null;
  if (customers === undefined || accounts === undefined || projects === undefined || resources === undefined)
    return undefined;
  if (!isNew) return null;
  if (!status || !settings) return undefined;
  // A secret setting has no value, but it has a source if it is set.
  const smtp = settings.items.find((setting) => textOf(setting, 'name') === 'smtp_url');
  return {
    steps: stepsOf(customers, projects, accounts),
    status,
    hasMail: smtp && textOf(smtp, 'source') !== '',
    hide: () => {
      localStorage.setItem(storageKey, 'yes');
      setHidden(true);
    },
  };
}

function stepsOf(customers: number, projects: number, accounts: number): readonly Step[] {
  const create = (list: string, button: string) => {
    const collection = collections.value.get(list);
    return (isNext: boolean): ComponentChildren =>
      collection && <Creation collection={collection} button={button} isQuiet isPrimary={isNext} />;
  };
  return [
    {
      title: t('Your account'),
      sub: t('You are signed in as {username}, with full access.', { username: textOf(me.value ?? {}, 'username') }),
      isDone: true,
      action: () => undefined,
    },
    {
      title: t('Create your first customer'),
      sub: t('A company or a person that owns projects, limits and a team.'),
      isDone: customers > 0,
      action: create('customers', t('Create customer')),
    },
    {
      title: t('Create a project and invite its team'),
      sub: t('Members see only the customers and projects in which they have a role.'),
      isDone: projects > 0,
      action: create('projects', t('Create project')),
    },
    {
      title: t('Connect a provider'),
      sub: t('OpenStack, DigitalOcean, Amazon, GitLab, JIRA or Oracle, or the built-in simulator to try it out.'),
      isDone: accounts > 0,
      action: (isNext) => <StepLink href={hrefOf(guide)} isNext={isNext} words={t('Connect')} />,
    },
    {
      title: t('Create a virtual machine'),
      sub: t('Or import resources that already run at the provider.'),
      isDone: false,
      action: (isNext) => <StepLink href={hrefOf(newResourcePath)} isNext={isNext} words={t('Create')} />,
    },
  ];
}

/** The page of a new installation. */
export function FirstDay({ setup: { hasMail, hide, status, steps } }: { readonly setup: Setup }): JSX.Element {
  const next = steps.findIndex(({ isDone }) => !isDone);
  return (
    <div class="split">
      <div class="stack">
        <Card
          title={t('Setup')}
          note={t('{done} of {count} complete', {
            done: steps.filter(({ isDone }) => isDone).length,
            count: steps.length,
          })}
          actions={
            <Button kind="quiet" small onClick={hide}>
              {t('Hide')}
            </Button>
          }
          isFlush
        >
          <ol class="lines">
            {steps.map(({ action, isDone, sub, title }, index) => (
              <li key={title}>
                <span class={isDone ? 'kind good' : 'kind'}>
                  {isDone ? <Icon name="acknowledge" /> : <b>{index + 1}</b>}
                </span>
                <span class="words">
                  <b>{title}</b>
                  <span class="sub">{sub}</span>
                </span>
                <span class="end">{isDone ? <Dot tone="good">{t('Done')}</Dot> : action(index === next)}</span>
              </li>
            ))}
          </ol>
        </Card>
        <Callout tone="busy" title={t('Just exploring?')}>
          <p>{t('Start another server with sample data. It keeps them in memory only.')}</p>
          <Code text="tenantry serve --ephemeral --demo" what={t('the command')} />
        </Callout>
      </div>
      <div class="stack">
        <BeforeGoingLive status={status} hasMail={hasMail} />
        <ForDevelopers />
      </div>
    </div>
  );
}

const ManualLink = ({ page, words }: { readonly page: string; readonly words: string }): JSX.Element => (
  <span class="sub">
    <a href={`docs/manual/${page}/`} target="_blank" rel="noreferrer">
      {words}
    </a>
  </span>
);

/** Facts to check before going live. */
function BeforeGoingLive({
  status,
  hasMail,
}: {
  readonly status: Item;
  readonly hasMail: boolean | undefined;
}): JSX.Element {
  const hasBackup = textOf(status, 'last_backup') !== '';
  const isInMemory = status.is_in_memory === true;
  const hasSingleSignOn = configuration.value?.methods.includes('SAML2') === true;
  return (
    <Card title={t('Before you go live')} more={[hrefOf('/operation/'), titleOf('operation')]}>
      <Checks>
        <Check
          state={isInMemory ? 'warn' : 'good'}
          title={isInMemory ? t('Data is in memory only') : t('Data is stored on disk')}
        >
          {isInMemory && <span class="sub">{t('A restart loses everything.')}</span>}
        </Check>
        <Check state={hasBackup ? 'good' : 'warn'} title={hasBackup ? t('Backups are taken') : t('No backups yet.')}>
          {!hasBackup && <ManualLink page="backups" words={t('Set up backups')} />}
        </Check>
        {hasMail !== undefined && (
          <Check state={hasMail ? 'good' : 'warn'} title={hasMail ? t('Email is configured') : t('No mail server')}>
            {!hasMail && <span class="sub">{t('Pass on the links of invitations yourself.')}</span>}
          </Check>
        )}
        <Check
          state={hasSingleSignOn ? 'good' : 'wait'}
          title={hasSingleSignOn ? t('Single sign-on is on') : t('Single sign-on is off')}
        >
          {!hasSingleSignOn && <ManualLink page="signing-in" words={t('How to turn it on')} />}
        </Check>
      </Checks>
    </Card>
  );
}

/** Entry points for developers. */
const ForDevelopers = (): JSX.Element => (
  <Card title={t('For developers')} isFlush>
    <ul class="lines">
      <li>
        <Icon name="all" />
        <span class="words">
          <a href={hrefOf('/all/')}>{t('API explorer')}</a>
          <span class="sub">{t('Browse and try every endpoint.')}</span>
        </span>
      </li>
      <li>
        <Icon name="operation" />
        <span class="words">
          <a href="docs/manual/command-line/" target="_blank" rel="noreferrer">
            {t('Command line')}
          </a>
        </span>
      </li>
      <li>
        <Icon name="documentation" />
        <span class="words">
          <a href="docs/">{t('Documentation')}</a>
        </span>
      </li>
    </ul>
  </Card>
);

/** Explains to a user without roles how to get access. */
export const WithoutAccess = (): JSX.Element => (
  <Card title={t('You have no access yet')} isFlush>
    <ul class="lines">
      <li>
        <Icon name="user-invitations" />
        <span class="words">
          <b>{t('Ask for an invitation')}</b>
          <span class="sub">
            {t('An owner of a customer or a manager of a project invites you by email. Open the link while signed in.')}
          </span>
        </span>
      </li>
      <li>
        <Icon name="user" />
        <span class="words">
          <a href={hrefOfLink(textOf(me.value ?? {}, 'url'))}>{t('Complete your profile')}</a>
          <span class="sub">{t('Your name and email show other users who you are.')}</span>
        </span>
      </li>
      <li>
        <Icon name="keys" />
        <span class="words">
          <a href={hrefOf('/keys/', { user_uuid: textOf(me.value ?? {}, 'uuid') })}>{t('Add SSH key')}</a>
          <span class="sub">{t('New virtual machines accept it.')}</span>
        </span>
      </li>
    </ul>
  </Card>
);
