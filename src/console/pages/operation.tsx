/** The health of the service, for staff and global support. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, isItem, itemsIn, problemOf, textOf } from '../api/api.ts';
import { api, responseOf, saveFile } from '../api/connection.ts';
import { useList, useObject } from '../api/reading.ts';
import { hrefOf } from '../api/route.ts';
import { isStaff } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { Callout, Card, Loading, Meters } from '../components/card.tsx';
import { Icon } from '../components/icons.tsx';
import { Listing } from '../components/listing.tsx';
import { PageHeader } from '../components/page.tsx';
import { PostButton, PostForm } from '../components/post.tsx';
import { Badge, WordBadge } from '../components/status.tsx';
import { Check, Checks } from '../components/timeline.tsx';
import { notify } from '../components/toast.tsx';
import { ObjectLink, Time } from '../components/values.tsx';
import type { Tone } from '../format/status.ts';
import { numberText, plural, t, titleOf } from '../i18n/words.ts';
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
      />
      {status ? (
        <Overview status={status} reload={reload} />
      ) : (
        <Callout tone="bad" isNew>
          {problemOf(response.body)}
        </Callout>
      )}
    </>
  );
}

function Overview({ status, reload }: { readonly status: Item; readonly reload: () => Promise<void> }): JSX.Element {
  const troubles = linesOf(status.troubles);
  return (
    <div class="stack">
      <Card title={titleOf('troubles')} isFlush>
        <ul class="lines even">
          {troubles.length === 0 && <Line tone="good" text={t('No problems found.')} />}
          {troubles.map((trouble) => (
            <Line key={trouble} tone="warn" text={trouble} />
          ))}
        </ul>
      </Card>
      <div class="halves">
        <Card title={titleOf('outbox')} more={hrefOf('/outbox/')} isFlush>
          <ul class="lines">
            {itemsIn(status.outboxes).map((outbox) => (
              <Backlog key={textOf(outbox, 'outbox')} item={outbox}>
                <a href={hrefOf('/outbox/', { outbox: textOf(outbox, 'outbox') })}>
                  {titleOf(textOf(outbox, 'outbox'))}
                </a>
              </Backlog>
            ))}
          </ul>
        </Card>
        <Card title={titleOf('jobs')} more={hrefOf('/jobs/')} isFlush>
          <ul class="lines">
            {Object.entries(isItem(status.jobs) ? status.jobs : {}).map(([state, count]) => (
              <li key={state}>
                <span class="words">
                  <a href={hrefOf('/jobs/', { state })}>{titleOf(state)}</a>
                </span>
                <span class="end">{numberText(Number(count))}</span>
              </li>
            ))}
          </ul>
        </Card>
        <AuditSinks sinks={itemsIn(status.audit_sinks)} />
        {isStaff.value && <Doctor examination={isItem(status.examination) ? status.examination : {}} reload={reload} />}
        {isStaff.value && <LoginCheckCard />}
        {isStaff.value && <Backups status={status} reload={reload} />}
        <GlobalQuotas />
        {isStaff.value && <Simulator />}
      </div>
      <Listing
        title={t('Jobs that fail')}
        path="/jobs/"
        query="state=failing&o=created"
        empty={t('No failing jobs.')}
        lines={jobLines}
      />
    </div>
  );
}

const jobLines = (jobs: readonly Item[]): JSX.Element => (
  <ul class="lines">
    {jobs.map((job) => (
      <li key={textOf(job, 'url')}>
        <span class="words">
          <ObjectLink item={job} />
          <span class="sub">{textOf(job, 'resource_name') || textOf(job, 'settings_name')}</span>
        </span>
        <span class="text">{textOf(job, 'error_message')}</span>
      </li>
    ))}
  </ul>
);

const linesOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((line) => typeof line === 'string') : [];

const Line = ({ text, tone }: { readonly text: string; readonly tone: Tone }): JSX.Element => (
  <li>
    <span class={`kind ${tone}`}>
      <Icon name={tone} />
    </span>
    <span class="words text">{text}</span>
  </li>
);

/** The backlog of an outbox or sink: its size and age. */
function Backlog({ children, item }: { readonly children: ComponentChildren; readonly item: Item }): JSX.Element {
  const oldest = textOf(item, 'oldest');
  return (
    <li>
      <span class="words">
        {children}
        {oldest !== '' && (
          <span class="sub">
            <Time value={oldest} />
          </span>
        )}
      </span>
      <span class="end">{numberText(Number(item.waiting))}</span>
    </li>
  );
}

/** The sinks of the audit trail, if the settings name any. */
function AuditSinks({ sinks }: { readonly sinks: readonly Item[] }): JSX.Element | null {
  if (sinks.length === 0) return null;
  return (
    <Card title={titleOf('audit_sinks')} isFlush>
      <ul class="lines">
        {sinks.map((sink) => (
          <Backlog key={textOf(sink, 'sink')} item={sink}>
            {textOf(sink, 'sink')}
          </Backlog>
        ))}
      </ul>
    </Card>
  );
}

function Doctor({
  examination,
  reload,
}: {
  readonly examination: Item;
  readonly reload: () => Promise<void>;
}): JSX.Element {
  const [state, finished, error] = ['state', 'finished', 'error_message'].map((name) => textOf(examination, name));
  const findings = linesOf(examination.findings);
  return (
    <Card
      title={t('Health check')}
      actions={
        <PostButton
          title={t('Run health check')}
          path="/api/operation/doctor/"
          about={t('Health check')}
          done={reload}
        />
      }
    >
      <p class="row">
        {state && <WordBadge word={state} />} {finished ? <Time value={finished} /> : null}{' '}
        {state === 'done' &&
          (findings.length === 0
            ? t('No problems found.')
            : plural(findings.length, '{count} finding', '{count} findings'))}
      </p>
      {error ? <p class="bad-ink">{error}</p> : null}
      {findings.length > 0 && (
        <Checks>
          {findings.map((finding) => (
            <Check key={finding} state="warn" title={finding} />
          ))}
        </Checks>
      )}
    </Card>
  );
}

function Backups({ status, reload }: { readonly status: Item; readonly reload: () => Promise<void> }): JSX.Element {
  const last = textOf(status, 'last_backup');
  const verified = textOf(status, 'last_verified_backup');
  return (
    <Card title={titleOf('backups')} more={hrefOf('/backups/')}>
      {status.is_in_memory === true ? (
        <p class="muted">{t('Data in memory is not backed up.')}</p>
      ) : (
        <>
          <p>{last === '' ? <span class="muted">{t('No backups yet.')}</span> : <Time value={last} />}</p>
          {verified !== '' && (
            <p class="muted">
              {t('Last verified backup')}: <Time value={verified} />
            </p>
          )}
          <PostButton title={t('Back up now')} path="/api/backups/" about={titleOf('backups')} done={reload} />
        </>
      )}
    </Card>
  );
}

/** The global quotas, whose limits staff change. */
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

/** Downloads a backup. */
export function BackupContent({ backup }: { readonly backup: Item }): JSX.Element | null {
  const [isBusy, setBusy] = useState(false);
  if (textOf(backup, 'state') !== 'ready') return null;
  return (
    <Callout
      tone="warn"
      action={
        <Button
          icon="download"
          isBusy={isBusy}
          onClick={() =>
            void (async () => {
              setBusy(true);
              const params = { path: { key: textOf(backup, 'uuid') } };
              const sent = api.GET('/api/backups/{key}/content/', {
                params,
                headers: { Accept: null },
                parseAs: 'blob',
              });
              const content = await responseOf(sent);
              if (content.isOk) saveFile(content.body, `${textOf(backup, 'name')}.gz`);
              else notify(problemOf(content.body), { tone: 'bad' });
              setBusy(false);
            })()
          }
        >
          {t('Download')}
        </Button>
      }
    >
      {t('A backup contains every secret. The server logs each download.')}
    </Callout>
  );
}
