/** How the service itself does, for staff and global support. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, isItem, itemsIn, problemOf, textOf } from '../api/api.ts';
import { answered, api, saveFile } from '../api/connection.ts';
import { useList, useObject } from '../api/reading.ts';
import { hrefOf } from '../api/route.ts';
import { isStaff } from '../api/session.ts';
import { notice } from '../components/dialog.tsx';
import { Icon } from '../components/icons.tsx';
import { PostButton, PostForm } from '../components/post.tsx';
import { ObjectLink, Part, Quotas, State, Time } from '../components/shown.tsx';
import { numberText, plural, t, titleOf } from '../i18n/words.ts';
import { Listing } from './home.tsx';

export function OperationPage(): JSX.Element {
  const { value: answer, reload } = useObject('/api/operation/');
  const told = answer?.isOk ? answer.body : undefined;
  if (!answer) return <p aria-busy="true">{t('Loading…')}</p>;
  return (
    <>
      <header class="page">
        <h1 tabIndex={-1}>{titleOf('operation')}</h1>
      </header>
      {told ? (
        <Overview told={told} reload={reload} />
      ) : (
        <p role="alert" class="problem">
          {problemOf(answer.body)}
        </p>
      )}
    </>
  );
}

function Overview({ told, reload }: { readonly told: Item; readonly reload: () => Promise<void> }): JSX.Element {
  const troubles = linesOf(told.troubles);
  return (
    <>
      <p>
        {t('Version {version}', { version: textOf(told, 'version') })}
        {isStaff.value && (
          <>
            {' · '}
            <a href={hrefOf('/deployment-settings/', { is_given: 'true' })}>{t('Settings in force')}</a>
          </>
        )}
      </p>
      <div class="parts">
        <Part
          title={titleOf('troubles')}
          empty={troubles.length === 0 ? t('Nothing fails outside of the data.') : undefined}
        >
          <Lines lines={troubles} />
        </Part>
        <Part title={titleOf('outbox')} more={hrefOf('/outbox/')}>
          <ul class="lines">
            {itemsIn(told.outboxes).map((outbox) => (
              <Waiting key={textOf(outbox, 'outbox')} outbox={outbox} />
            ))}
          </ul>
        </Part>
        <Part title={titleOf('jobs')} more={hrefOf('/jobs/')}>
          <ul class="lines">
            {Object.entries(isItem(told.jobs) ? told.jobs : {}).map(([state, count]) => (
              <li key={state}>
                <a href={hrefOf('/jobs/', { state })}>{titleOf(state)}</a> <span>{numberText(Number(count))}</span>
              </li>
            ))}
          </ul>
        </Part>
        {isStaff.value && <Doctor examination={isItem(told.examination) ? told.examination : {}} reload={reload} />}
        {isStaff.value && <Backups told={told} reload={reload} />}
        <GlobalQuotas />
        {isStaff.value && <Simulator />}
      </div>
      <Listing
        title={t('Jobs that fail')}
        path="/jobs/"
        query="state=failing&o=created"
        empty={t('No job has to be repeated.')}
        lines={jobLines}
      />
    </>
  );
}

const jobLines = (jobs: readonly Item[]): JSX.Element => (
  <ul class="lines">
    {jobs.map((job) => (
      <li key={textOf(job, 'url')}>
        <ObjectLink item={job} />
        <span class="none">{textOf(job, 'resource_name') || textOf(job, 'settings_name')}</span>
        <span class="text">{textOf(job, 'error_message')}</span>
      </li>
    ))}
  </ul>
);

const linesOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((line) => typeof line === 'string') : [];

const Lines = ({ lines }: { readonly lines: readonly string[] }): JSX.Element => (
  <ul class="lines">
    {lines.map((line) => (
      <li key={line} class="text">
        {line}
      </li>
    ))}
  </ul>
);

/** How much waits in an outbox, and since when. */
function Waiting({ outbox }: { readonly outbox: Item }): JSX.Element {
  const [name, oldest] = [textOf(outbox, 'outbox'), textOf(outbox, 'oldest')];
  return (
    <li>
      <a href={hrefOf('/outbox/', { outbox: name })}>{titleOf(name)}</a>{' '}
      <span>{numberText(Number(outbox.waiting))}</span>
      {oldest !== '' && <Time value={oldest} />}
    </li>
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
    <Part title={t('Doctor')}>
      <p>
        <State value={state ?? ''} /> {finished ? <Time value={finished} /> : null}{' '}
        {state === 'done' &&
          (findings.length === 0 ? t('All is well.') : plural(findings.length, '{count} finding', '{count} findings'))}
      </p>
      {error ? <p class="problem">{error}</p> : null}
      <Lines lines={findings} />
      <PostButton title={t('Examine')} path="/api/operation/doctor/" about={t('Doctor')} done={reload} />
    </Part>
  );
}

function Backups({ told, reload }: { readonly told: Item; readonly reload: () => Promise<void> }): JSX.Element {
  const last = textOf(told, 'last_backup');
  return (
    <Part title={titleOf('backups')} more={hrefOf('/backups/')}>
      {told.is_in_memory === true ? (
        <p class="none">{t('Data in memory has no backups.')}</p>
      ) : (
        <>
          <p>{last === '' ? <span class="none">{t('There is no backup yet.')}</span> : <Time value={last} />}</p>
          <PostButton title={t('Back up')} path="/api/backups/" about={titleOf('backups')} done={reload} />
        </>
      )}
    </Part>
  );
}

/** What may be there in all, which staff limit on the pages of the quotas. */
function GlobalQuotas(): JSX.Element {
  const { value: page } = useList(() => api.GET('/api/quotas/', { params: { query: { name: 'nc_global_' } } }));
  return (
    <Part title={t('Global quotas')} problem={page?.problem} isLoading={page === undefined}>
      <Quotas quotas={page?.items ?? []} />
    </Part>
  );
}

/** What can be done with the simulator, where there is one. */
function Simulator(): JSX.Element | null {
  const { value: answer, reload } = useObject('/api/simulator/');
  if (!answer?.isOk || answer.body.is_enabled !== true) return null;
  return (
    <Part title={titleOf('simulator')}>
      {answer.body.is_clock_own === true && (
        <p>
          <Time value={textOf(answer.body, 'now')} />{' '}
          <PostForm title={t('Let time pass')} path="/api/simulator/advance/" done={reload} />
        </p>
      )}
      <PostForm title={t('Fail next')} path="/api/simulator/fail_next/" done={reload} />
    </Part>
  );
}

/** Gets the bytes of a backup. */
export function BackupContent({ backup }: { readonly backup: Item }): JSX.Element | null {
  const [isBusy, setBusy] = useState(false);
  if (textOf(backup, 'state') !== 'ready') return null;
  return (
    <p>
      <button
        type="button"
        class="outline"
        aria-busy={isBusy}
        disabled={isBusy}
        onClick={async () => {
          setBusy(true);
          const params = { path: { key: textOf(backup, 'uuid') } };
          const sent = api.GET('/api/backups/{key}/content/', { params, headers: { Accept: null }, parseAs: 'blob' });
          const content = await answered(sent);
          if (content.isOk) saveFile(content.body, `${textOf(backup, 'name')}.gz`);
          else notice.value = problemOf(content.body);
          setBusy(false);
        }}
      >
        <Icon name="download" />
        {t('Download')}
      </button>{' '}
      {t('Whoever has it reads every secret. The log of the server tells who got it.')}
    </p>
  );
}
