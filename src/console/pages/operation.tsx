/** The health of the service, for staff and global support. */
import { type ComponentChildren, Fragment, type JSX } from 'preact';
import { type Item, isItem, itemsIn, problemOf, textOf } from '../api/api.ts';
import { api, responseOf } from '../api/connection.ts';
import { useList, useObject, usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { isStaff } from '../api/session.ts';
import { Callout, Card, ErrorCallout, Loading, Meters } from '../components/card.tsx';
import { Icon } from '../components/icons.tsx';
import { ListCard } from '../components/list-card.tsx';
import { PageHeader } from '../components/page.tsx';
import { DownloadButton, PostButton, PostForm } from '../components/post.tsx';
import { Badge, WordStatus } from '../components/status.tsx';
import { Time } from '../components/values.tsx';
import type { Tone } from '../format/status.ts';
import { joinedText } from '../format/text.ts';
import { actionTitle, numberText, plural, serverText, t, titleOf } from '../i18n/words.ts';
import { LoginCheckCard } from './login-check.tsx';

export function OperationPage(): JSX.Element {
  const { value: response, reload } = useObject('/api/operation/');
  const status = response?.isOk ? response.body : undefined;
  const troubleCount = linesOf(status?.troubles).length;
  if (!response) return <Loading />;
  return (
    <>
      <PageHeader
        title={titleOf('operation')}
        badge={
          troubleCount > 0 && <Badge tone="warn">{plural(troubleCount, '{count} problem', '{count} problems')}</Badge>
        }
        facts={
          status && (
            <>
              <span>{t('Version {version}', { version: textOf(status, 'version') })}</span>
              <span>
                {plural(Number(status.event_streams), '{count} open event stream', '{count} open event streams')}
              </span>
              {isStaff.value && (
                <a href={hrefOf('/deployment-settings/', { is_given: 'true' })}>{t('Settings in force')}</a>
              )}
            </>
          )
        }
        actions={
          status &&
          isStaff.value && (
            <>
              <PostButton
                class="btn"
                icon="acknowledge"
                title={t('Run health check')}
                path="/api/operation/doctor/"
                about={t('Health check')}
                done={reload}
              />
              {status.is_in_memory !== true && (
                <PostButton
                  class="btn primary"
                  icon="download"
                  title={t('Back up now')}
                  path="/api/backups/"
                  about={titleOf('backups')}
                  done={reload}
                />
              )}
            </>
          )
        }
      />
      {status ? <Overview status={status} /> : <ErrorCallout text={problemOf(response.body)} />}
    </>
  );
}

function Overview({ status }: { readonly status: Item }): JSX.Element {
  return (
    <div class="stack">
      <Card title={t('Checks')} isFlush>
        <ul class="lines">
          <ExternalProblems troubles={linesOf(status.troubles)} />
          <Jobs counts={isItem(status.jobs) ? status.jobs : {}} />
          <Outboxes outboxes={itemsIn(status.outboxes)} />
          {itemsIn(status.audit_sinks).map((sink) => (
            <Sink key={textOf(sink, 'sink')} sink={sink} />
          ))}
          <Backups status={status} />
          {isStaff.value && <Examination examination={isItem(status.examination) ? status.examination : {}} />}
        </ul>
      </Card>
      <div class="halves">
        <ListCard
          title={titleOf('jobs')}
          path="/jobs/"
          query="o=created"
          empty={t('No jobs are running or waiting.')}
          lines={jobLines}
        />
        <GlobalQuotas />
        {isStaff.value && <LoginCheckCard />}
        {isStaff.value && <Simulator />}
      </div>
    </div>
  );
}

const jobLines = (jobs: readonly Item[]): JSX.Element => (
  <ul class="lines">
    {jobs.map((job) => (
      <li key={textOf(job, 'url')}>
        <span class="words">
          <a href={hrefOfLink(textOf(job, 'url'))}>{actionTitle(textOf(job, 'operation'))}</a>
          <span class="sub">
            {textOf(job, 'resource_name') || textOf(job, 'settings_name')} <Time value={textOf(job, 'created')} />
          </span>
          {textOf(job, 'error_message') !== '' && (
            <span class="sub bad-ink">{serverText(textOf(job, 'error_message'))}</span>
          )}
        </span>
        <span class="end">
          <WordStatus word={textOf(job, 'state')} />
        </span>
      </li>
    ))}
  </ul>
);

const linesOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((line) => typeof line === 'string') : [];

/** One check: state, result, and a link to details. */
const Line = ({
  tone,
  title,
  time = '',
  more,
  children,
}: {
  readonly tone: Tone;
  readonly title: ComponentChildren;
  readonly time?: string | undefined;
  readonly more?: readonly [href: string, title: string] | undefined;
  readonly children?: ComponentChildren;
}): JSX.Element => (
  <li>
    <span class={`kind ${tone}`}>
      <Icon name={tone} />
    </span>
    <span class="words">
      <b>{title}</b>
      {children && <span class="sub">{children}</span>}
    </span>
    <span class="end">
      {time !== '' && <Time value={time} />}
      {more && (
        <a class="btn sm" href={more[0]}>
          {more[1]}
        </a>
      )}
    </span>
  </li>
);

/** Problems outside the data. Those of provider accounts link to their pages. */
function ExternalProblems({ troubles }: { readonly troubles: readonly string[] }): JSX.Element {
  const { value: page } = usePage(troubles.length > 0 ? '/api/service-settings/?state=Erred&page_size=100' : '');
  const accounts = page?.items ?? [];
  const lineOf = (account: Item): string =>
    `${textOf(account, 'type')} account ${textOf(account, 'name')} is Erred: ${textOf(account, 'error_message')}`;
  const ofAccounts = new Set(accounts.map(lineOf));
  const others = troubles.filter((trouble) => !ofAccounts.has(trouble));
  if (troubles.length === 0) return <Line tone="good" title={t('No problems found.')} />;
  return (
    <>
      {others.map((trouble) => (
        <Line key={trouble} tone="warn" title={trouble} />
      ))}
      {accounts.map((account) => (
        <Line
          key={textOf(account, 'url')}
          tone="warn"
          title={t('{account} is unreachable', { account: textOf(account, 'name') })}
          more={[hrefOfLink(textOf(account, 'url')), t('Open account')]}
        >
          {joinedText([
            textOf(account, 'type'),
            textOf(account, 'customer_name'),
            serverText(textOf(account, 'error_message')),
          ])}
        </Line>
      ))}
    </>
  );
}

function Jobs({ counts }: { readonly counts: Item }): JSX.Element {
  const failing = Number(counts.failing ?? 0);
  return (
    <Line
      tone={failing > 0 ? 'warn' : 'good'}
      title={
        failing > 0 ? plural(failing, '{count} job is failing', '{count} jobs are failing') : t('No job is failing')
      }
      more={[hrefOf('/jobs/', failing > 0 ? { state: 'failing' } : {}), t('View jobs')]}
    >
      {t('{running} running, {waiting} waiting', {
        running: numberText(Number(counts.running ?? 0)),
        waiting: numberText(Number(counts.waiting ?? 0)),
      })}
    </Line>
  );
}

/** Pending messages, with a link for each kind. */
function Outboxes({ outboxes }: { readonly outboxes: readonly Item[] }): JSX.Element {
  const waiting = outboxes.filter((outbox) => Number(outbox.waiting) > 0);
  const count = waiting.reduce((sum, outbox) => sum + Number(outbox.waiting), 0);
  const more = [hrefOf('/outbox/'), t('View queue')] as const;
  if (count === 0)
    return (
      <Line tone="good" title={t('The message queue is empty')} more={more}>
        {outboxes.map((outbox) => titleOf(textOf(outbox, 'outbox'))).join(', ')}
      </Line>
    );
  const [oldest = ''] = waiting.map((outbox) => textOf(outbox, 'oldest')).sort();
  return (
    <Line tone="busy" title={plural(count, '{count} message waits', '{count} messages wait')} time={oldest} more={more}>
      {waiting.map((outbox, index) => (
        <Fragment key={textOf(outbox, 'outbox')}>
          {index > 0 && ' · '}
          <a href={hrefOf('/outbox/', { outbox: textOf(outbox, 'outbox') })}>{titleOf(textOf(outbox, 'outbox'))}</a>{' '}
          {numberText(Number(outbox.waiting))}
        </Fragment>
      ))}
    </Line>
  );
}

/** Shows whether a sink of the audit trail has every record. */
function Sink({ sink }: { readonly sink: Item }): JSX.Element {
  const waiting = Number(sink.waiting);
  const problem = textOf(sink, 'error_message');
  return (
    <Line
      tone={problem !== '' ? 'warn' : waiting > 0 ? 'busy' : 'good'}
      title={t('Audit sink {name}', { name: textOf(sink, 'sink') })}
    >
      {problem !== ''
        ? serverText(problem)
        : waiting === 0
          ? t('Has every record')
          : plural(waiting, '{count} record waits', '{count} records wait')}
    </Line>
  );
}

function Backups({ status }: { readonly status: Item }): JSX.Element {
  const last = textOf(status, 'last_backup');
  const verified = textOf(status, 'last_verified_backup');
  if (status.is_in_memory === true) return <Line tone="idle" title={t('Data in memory is not backed up.')} />;
  return (
    <Line
      tone={last === '' ? 'warn' : 'good'}
      title={last === '' ? t('No backups yet.') : t('Backed up')}
      time={last}
      more={isStaff.value ? [hrefOf('/backups/'), t('View backups')] : undefined}
    >
      {last !== '' && plural(Number(status.backup_count), '{count} backup', '{count} backups')}
      {verified !== '' && (
        <>
          {' · '}
          {t('Last verified backup')}: <Time value={verified} />
        </>
      )}
    </Line>
  );
}

/** The last health check, with its findings. */
function Examination({ examination }: { readonly examination: Item }): JSX.Element {
  const [state, finished, error] = ['state', 'finished', 'error_message'].map((name) => textOf(examination, name));
  const findings = linesOf(examination.findings);
  if (error)
    return (
      <Line tone="bad" title={t('The health check failed')}>
        {serverText(error)}
      </Line>
    );
  if (state === 'done')
    return (
      <Line
        tone={findings.length > 0 ? 'warn' : 'good'}
        title={
          findings.length === 0
            ? t('The health check found no problems')
            : plural(findings.length, 'The health check has {count} finding', 'The health check has {count} findings')
        }
        time={finished}
      >
        {findings.length > 0 &&
          findings.map((finding) => (
            <span key={finding} class="sub text">
              {finding}
            </span>
          ))}
      </Line>
    );
  return state === 'never' ? (
    <Line tone="idle" title={t('No health check has run yet')}>
      {t('It recalculates usage and finds records without an owner.')}
    </Line>
  ) : (
    <Line tone="busy" title={t('The health check is running')} />
  );
}

/** The global quotas. Staff can change their limits. */
function GlobalQuotas(): JSX.Element {
  const { value: page } = useList(() => api.GET('/api/quotas/', { params: { query: { name: 'nc_global_' } } }));
  return (
    <Card title={t('Global quotas')} problem={page?.problem} isLoading={page === undefined}>
      <Meters quotas={page?.items ?? []} />
    </Card>
  );
}

/** The actions of the simulator, if it is enabled. */
function Simulator(): JSX.Element | null {
  const { value: response, reload } = useObject('/api/simulator/');
  if (!response?.isOk || response.body.is_enabled !== true) return null;
  return (
    <Card title={titleOf('simulator')}>
      {response.body.is_clock_own === true && (
        <p>
          {t('Clock')}: <Time value={textOf(response.body, 'now')} exact />
        </p>
      )}
      <div class="row">
        {response.body.is_clock_own === true && (
          <PostForm title={t('Advance the clock')} path="/api/simulator/advance/" done={reload} />
        )}
        <PostForm title={t('Fail the next operation')} path="/api/simulator/fail_next/" done={reload} />
      </div>
    </Card>
  );
}

/** Returns the download name of a backup. Names of requested backups have no extension. */
const fileNameOf = (name: string): string => (/\.gz(\.age)?$/.test(name) ? name : `${name}.gz`);

/** A button to download a backup, unless it is in an object store. */
export function BackupContent({ backup }: { readonly backup: Item }): JSX.Element | null {
  if (textOf(backup, 'state') !== 'ready' || textOf(backup, 'target') === 's3') return null;
  const params = { path: { key: textOf(backup, 'uuid') } };
  const asFile = { headers: { Accept: null }, parseAs: 'blob' } as const;
  return (
    <Callout
      tone="warn"
      action={
        <DownloadButton
          title={t('Download')}
          fileName={fileNameOf(textOf(backup, 'name'))}
          read={() => responseOf<Blob>(api.GET('/api/backups/{key}/content/', { params, ...asFile }))}
        />
      }
    >
      {t('A backup contains every secret. The server logs each download.')}
    </Callout>
  );
}
