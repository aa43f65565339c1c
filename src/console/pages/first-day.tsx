/** The first steps: on an installation without resources, and for a user without access to anything. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { textOf } from '../api/api.ts';
import { configuration } from '../api/configuration.ts';
import { useObject, usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { collections, isStaff, me, roles } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { Creation } from '../components/creation.tsx';
import { Icon } from '../components/icons.tsx';
import { Dot } from '../components/status.tsx';
import { Check, Checks } from '../components/timeline.tsx';
import { t, titleOf } from '../i18n/words.ts';
import { guide } from './provider-guide.tsx';
import { maker } from './resources.tsx';

const storageKey = 'tenantry first day hidden';

/** How many objects a list has; undefined until that is read. */
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

/** Whether the user has no role anywhere and is no operator: there is nothing to see for them yet. */
export const isWithoutAccess = (): boolean => roles.value.size === 0 && !isStaff.value && me.value?.is_support !== true;

/** The steps to the first virtual machine, for staff, until all are done or the user hides them. */
export function Setup(): JSX.Element | null {
  const [isHidden, setHidden] = useState(localStorage.getItem(storageKey) !== null);
  const isWanted = isStaff.value && !isHidden;
  const customers = useCount('customers', isWanted);
  const accounts = useCount('service-settings', isWanted);
  const projects = useCount('projects', isWanted);
  const resources = useCount('resources', isWanted);
  if (!isWanted || customers === undefined || accounts === undefined) return null;
  if (projects === undefined || resources === undefined || resources > 0) return null;
  const create = (list: string, button: string) => {
    const collection = collections.value.get(list);
    return (isNext: boolean): ComponentChildren =>
      collection && <Creation collection={collection} button={button} isQuiet isPrimary={isNext} />;
  };
  const steps: readonly Step[] = [
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
      action: (isNext) => <StepLink href={hrefOf(maker)} isNext={isNext} words={t('Create')} />,
    },
  ];
  const next = steps.findIndex(({ isDone }) => !isDone);
  return (
    <div class="split">
      <Card
        title={t('Setup')}
        note={t('{done} of {count} complete', {
          done: steps.filter(({ isDone }) => isDone).length,
          count: steps.length,
        })}
        actions={
          <Button
            kind="quiet"
            small
            onClick={() => {
              localStorage.setItem(storageKey, 'yes');
              setHidden(true);
            }}
          >
            {t('Hide')}
          </Button>
        }
        isFlush
      >
        <ol class="lines">
          {steps.map(({ action, isDone, sub, title }, at) => (
            <li key={title}>
              <span class={isDone ? 'kind good' : 'kind'}>{isDone ? <Icon name="good" /> : <b>{at + 1}</b>}</span>
              <span class="words">
                <b>{title}</b>
                <span class="sub">{sub}</span>
              </span>
              <span class="end">{isDone ? <Dot tone="good">{t('Done')}</Dot> : action(at === next)}</span>
            </li>
          ))}
        </ol>
      </Card>
      <div class="stack">
        <BeforeGoingLive />
      </div>
    </div>
  );
}

/** What an operator should know before others use the service. */
function BeforeGoingLive(): JSX.Element {
  const { value: response } = useObject('/api/operation/');
  const status = response?.isOk ? response.body : {};
  const { value: settings } = usePage('/api/deployment-settings/?name=smtp_url');
  // Secret settings have no value, but a source where one is given.
  const smtp = settings?.items.find((setting) => textOf(setting, 'name') === 'smtp_url');
  const hasMail = smtp && textOf(smtp, 'source') !== '';
  const hasBackup = textOf(status, 'last_backup') !== '';
  const hasSingleSignOn = configuration.value?.methods.includes('SAML2') === true;
  return (
    <Card title={t('Before you go live')} more={[hrefOf('/operation/'), titleOf('operation')]}>
      <Checks>
        <Check
          state={hasBackup ? 'good' : 'warn'}
          title={
            hasBackup
              ? t('Backups are taken')
              : status.is_in_memory === true
                ? t('Data is in memory only')
                : t('No backups yet.')
          }
        >
          <span class="sub">{hasBackup ? '' : t('A restart or a lost disk loses everything.')}</span>
        </Check>
        {hasMail !== undefined && (
          <Check state={hasMail ? 'good' : 'warn'} title={hasMail ? t('Email is configured') : t('No mail server')}>
            <span class="sub">{hasMail ? '' : t('Pass on the links of invitations yourself.')}</span>
          </Check>
        )}
        <Check
          state={hasSingleSignOn ? 'good' : 'wait'}
          title={hasSingleSignOn ? t('Single sign-on is on') : t('Single sign-on is off')}
        >
          <span class="sub">{hasSingleSignOn ? '' : t('Users sign in with passwords.')}</span>
        </Check>
      </Checks>
    </Card>
  );
}

/** For a user without any role: what to do to get access. */
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
