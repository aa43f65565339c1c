/** One list of failed resources and accounts, open alerts, quotas near their limits, and expiring roles. */
import type { ComponentChildren, JSX } from 'preact';
import { type Item, isItem, itemsIn, pathOf, placeName, textOf } from '../api/api.ts';
import { failedActionOf, useFailures } from '../api/failures.ts';
import { usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { scope, scopedQuery } from '../api/scope.ts';
import { isStaff, roles } from '../api/session.ts';
import { Card, nearLimit, shareOf } from '../components/card.tsx';
import { Forecast } from '../components/forecast.tsx';
import { Icon } from '../components/icons.tsx';
import { PostButton } from '../components/post.tsx';
import { isObjectLink, nameOf, Sentence, Time } from '../components/values.tsx';
import { kindOfType } from '../format/kinds.ts';
import { fixOf } from '../format/sentences.ts';
import { statusOf, type Tone } from '../format/status.ts';
import { dayText, joinedText, percentText, quotaTitle, sizeText } from '../format/text.ts';
import { isQuotaInMebibytes } from '../i18n/labels.ts';
import { actionTitle, numberText, phrase, serverText, t, titleOf } from '../i18n/words.ts';
import { ownValue } from '../item.ts';

/** Maximum number of listed problems. */
const maxProblems = 8;

/** Whether the user may manage any resources. */
export const canManageResources = (): boolean =>
  isStaff.value || ['owner', 'manager', 'admin'].some((role) => roles.value.has(role));

const ActionLink = ({ href, words }: { readonly href: string; readonly words: string }): JSX.Element => (
  <a class="btn sm" href={href}>
    {words}
  </a>
);

/** One problem. */
interface Problem {
  readonly key: string;
  readonly tone: Tone;
  readonly icon: string;
  readonly title: ComponentChildren;
  readonly sub: ComponentChildren;
  readonly time?: string;
  readonly href: string;
  /** The action that resolves it. Without one, the title links to the solution. */
  readonly action?: ComponentChildren;
}

const openAlerts = { opened: 'true', acknowledged: 'false', o: '-severity', page_size: '10' };

const order: readonly Tone[] = ['bad', 'warn', 'idle'];

interface Problems {
  /** The worst first. */
  readonly problems: readonly Problem[];
  /** The error message if they cannot be read. */
  readonly error: string | undefined;
}

/** Reads all problems. Undefined until every source is loaded, so that the page appears at once. */
export function useProblems(
  owners: readonly Item[] | undefined,
  expiring: readonly Item[] | undefined,
  within = scope.value,
): Problems | undefined {
  const failed = usePage(`/api/resources/?${scopedQuery('resources', { state: 'Erred', page_size: '10' }, within)}`);
  const accounts = usePage(
    `/api/service-settings/?${scopedQuery('service-settings', { state: 'Erred', page_size: '10' }, within)}`,
  );
  const alerts = usePage(`/api/alerts/?${scopedQuery('alerts', openAlerts, within)}`);
  const resources = failed.value?.items ?? [];
  const failures = useFailures(resources.length > 0);
  if (!failed.value || !accounts.value || !alerts.value || !failures || !owners || !expiring) return undefined;
  const failedUrls = new Set(resources.map((item) => textOf(item, 'url')));
  const failedAccounts = new Set(accounts.value.items.map((item) => textOf(item, 'uuid')));
  const isRepeated = ({ alert_type: type, context, scope }: Item): boolean =>
    failedUrls.has(String(scope)) ||
    (type === 'service_unavailable' && isItem(context) && failedAccounts.has(textOf(context, 'settings_uuid')));
  const problems: Problem[] = [
    ...resources.map((item) => resourceProblem(item, failures.get(textOf(item, 'uuid')))),
    ...accounts.value.items.map(accountProblem),
    // Missing resources and unreachable accounts also have alerts: list them once.
    ...alerts.value.items.filter((alert) => !isRepeated(alert)).map(alertProblem),
    ...owners.flatMap(quotaProblems),
    ...expiring.map(roleProblem),
  ].sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone) || (b.time ?? '').localeCompare(a.time ?? ''));
  return { problems, error: failed.value.problem ?? alerts.value.problem };
}

const dayMs = 24 * 3600 * 1000;

/** Days before expiry from which a role needs attention. */
const expiringDays = 14;

/** Whether a role expires soon. */
export function expiresSoon(role: Item): boolean {
  const end = textOf(role, 'expiration_time');
  return end !== '' && end < new Date(Date.now() + expiringDays * dayMs).toISOString();
}

/** Reads the roles that expire soon, of all users whose roles the user can see. */
export function useExpiringRoles(within = scope.value): readonly Item[] | undefined {
  // This order has roles without an expiry last.
  const query = { o: '-expiration_time', page_size: '300' };
  const inCustomers = usePage(`/api/customer-permissions/?${scopedQuery('customer-permissions', query, within)}`);
  const inProjects = usePage(`/api/project-permissions/?${scopedQuery('project-permissions', query, within)}`);
  if (!inCustomers.value || !inProjects.value) return undefined;
  return [...inCustomers.value.items, ...inProjects.value.items]
    .filter(expiresSoon)
    .sort((a, b) => textOf(a, 'expiration_time').localeCompare(textOf(b, 'expiration_time')));
}

export function Attention({
  problems,
  error,
  more = hrefOf('/alerts/', { opened: 'true' }),
}: Problems & { readonly more?: string }): JSX.Element {
  return (
    <Card
      title={t('Needs attention')}
      count={problems.length}
      more={[more, t('All alerts')]}
      problem={error}
      empty={problems.length === 0 ? <AllWell /> : undefined}
      isFlush
    >
      <ul class="lines">
        {problems.slice(0, maxProblems).map(({ action, href, icon, key, sub, time, title, tone }) => (
          <li key={key}>
            <span class={`kind ${tone}`}>
              <Icon name={icon} />
            </span>
            <span class="words">
              <a href={href}>{title}</a>
              <span class="sub">{sub}</span>
            </span>
            <span class="end">
              {time !== undefined && <Time value={time} />}
              {action}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

const AllWell = (): JSX.Element => (
  <ul class="lines">
    <li>
      <span class="kind good">
        <Icon name="good" />
      </span>
      <span class="words">
        <b>{t('Everything is fine.')}</b>
        <span class="sub">{t('No failed resources or accounts, no open alerts, no quota near its limit.')}</span>
      </span>
    </li>
  </ul>
);

/** Describes the failed action in an event. */
function failureText(name: string, event: Item | undefined): string | undefined {
  const texts: Readonly<Record<string, string>> = {
    creation: t('{name} could not be created', { name }),
    deletion: t('{name} could not be deleted', { name }),
    restart: t('{name} could not be restarted', { name }),
    start: t('{name} could not be started', { name }),
    stop: t('{name} could not be stopped', { name }),
  };
  return ownValue(texts, failedActionOf(event));
}

const resourceProblem = (item: Item, event: Item | undefined): Problem => {
  const { tone, word } = statusOf(item);
  const isMissing = tone === 'warn';
  return {
    key: textOf(item, 'url'),
    tone,
    icon: tone,
    title: (isMissing ? undefined : failureText(nameOf(item), event)) ?? `${nameOf(item)}: ${t(word)}`,
    ...(event && !isMissing && { time: textOf(event, '@timestamp') }),
    // A refresh restores the actual state, which a resource that was never created does not have.
    action:
      canManageResources() && textOf(item, 'backend_id') !== '' && !isMissing ? (
        <PostButton title={t('Refresh')} path={`${pathOf(textOf(item, 'url'))}pull/`} about={nameOf(item)} />
      ) : (
        <ActionLink href={hrefOfLink(textOf(item, 'url'))} words={t('View resource')} />
      ),
    sub: joinedText([
      t(kindOfType(textOf(item, 'resource_type')).word),
      textOf(item, 'project_name'),
      serverText(textOf(item, 'error_message')),
    ]),
    href: hrefOfLink(textOf(item, 'url')),
  };
};

const accountProblem = (item: Item): Problem => ({
  key: textOf(item, 'url'),
  tone: 'bad',
  icon: 'service-settings',
  title: t('{account} is unreachable', { account: nameOf(item) }),
  sub: joinedText([textOf(item, 'type'), serverText(textOf(item, 'error_message'))]),
  href: hrefOfLink(textOf(item, 'url')),
  action: <ActionLink href={hrefOfLink(textOf(item, 'url'))} words={t('Check account')} />,
});

const alertProblem = (item: Item): Problem => {
  const scopeLink = textOf(item, 'scope');
  const fix = fixOf(item);
  return {
    key: textOf(item, 'url'),
    tone: textOf(item, 'severity') === 'Error' ? 'bad' : 'warn',
    icon: 'warn',
    title: <Sentence item={item} isPlain />,
    sub: t('{severity} · open since {day}', {
      severity: t(textOf(item, 'severity')),
      day: dayText(textOf(item, 'created')),
    }),
    time: textOf(item, 'created'),
    href: hrefOfLink(isObjectLink(scopeLink) ? scopeLink : textOf(item, 'url')),
    // Other users can only view it.
    action: !canManageResources() ? undefined : fix ? (
      <ActionLink href={hrefOf(fix.path)} words={fix.title} />
    ) : (
      <PostButton
        title={actionTitle('acknowledge')}
        path={`${pathOf(textOf(item, 'url'))}acknowledge/`}
        about={nameOf(item)}
      />
    ),
  };
};

function quotaProblems(owner: Item): Problem[] {
  return itemsIn(owner.quotas).flatMap((quota) => {
    const share = shareOf(quota) ?? 0;
    if (share < nearLimit) return [];
    const name = textOf(quota, 'name');
    const text = (value: unknown): string =>
      isQuotaInMebibytes(name) ? sizeText(Number(value)) : numberText(Number(value));
    return [
      {
        key: textOf(quota, 'url'),
        tone: share >= 1 ? ('bad' as const) : ('warn' as const),
        icon: 'statistics',
        title: t('{owner} uses {used} of {limit}: {quota}', {
          owner: nameOf(owner),
          used: text(quota.usage),
          limit: text(quota.limit),
          quota: quotaTitle(name),
        }),
        sub: (
          <>
            {share >= 1 ? t('Limit reached') : percentText(share)}
            <Forecast quota={quota} />
          </>
        ),
        href: hrefOfLink(textOf(quota, 'url')),
        action: <ActionLink href={hrefOfLink(textOf(quota, 'url'))} words={t('View quota')} />,
      },
    ];
  });
}

const roleProblem = (role: Item): Problem => ({
  key: textOf(role, 'url'),
  tone: 'idle',
  icon: 'busy',
  title: t('{person} loses access to {place}', { person: nameOf(role), place: placeName(role) }),
  sub: phrase('{role} role expires {time}', {
    role: titleOf(textOf(role, 'role')),
    time: <Time value={textOf(role, 'expiration_time')} />,
  }),
  href: hrefOfLink(textOf(role, 'url')),
  action: canManageResources() && <ActionLink href={hrefOfLink(textOf(role, 'url'))} words={t('Extend')} />,
});
