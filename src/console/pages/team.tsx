/** Who may do what in a customer or a project: roles that are held, offered and ended. */
import type { JSX } from 'preact';
import { type Item, pathOf, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import { useGet, usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { collections } from '../api/session.ts';
import { Actions } from '../components/actions.tsx';
import { Creation } from '../components/creation.tsx';
import { nameOf, ObjectLink, Part, roleIn, Time } from '../components/shown.tsx';
import { phrase, t, titleOf } from '../i18n/words.ts';

/** So many of each kind are shown; the rest is behind a link. */
const size = 20;

export function TeamPage({
  kind,
  uuid,
}: {
  readonly kind: 'customer' | 'project';
  readonly uuid: string;
}): JSX.Element {
  const { value: answer } = useGet(
    () => api.GET(`/api/${kind}s/{key}/` as const, { params: { path: { key: uuid } } }),
    [kind, uuid],
  );
  const item = answer?.isOk ? answer.body : undefined;
  const given = { [kind]: textOf(item ?? {}, 'url') };
  const create = (list: string, button: string): JSX.Element | undefined => {
    const collection = collections.value.get(list);
    return (
      item &&
      collection && <Creation collection={collection} given={given} button={button} onCreated={async () => undefined} />
    );
  };
  return (
    <>
      <nav aria-label={t('Where this is')} class="trail">
        <a href={hrefOf(`/${kind}s/`)}>{titleOf(`${kind}s`)}</a>
        {item && <ObjectLink item={item} />}
      </nav>
      <header class="page">
        <h1 tabIndex={-1}>{item ? t('Team of {name}', { name: nameOf(item) }) : t('Team')}</h1>
      </header>
      <div class="buttons start">
        {create('user-invitations', t('Invite somebody'))}
        {create(`${kind}-permissions`, t('Give a role'))}
      </div>
      {kind === 'customer' && (
        <Roles title={t('Roles in the customer')} list="customer-permissions" query={`customer=${uuid}`} />
      )}
      <Roles title={t('Roles in projects')} list="project-permissions" query={`${kind}=${uuid}`} />
      <Invitations query={`${kind}=${uuid}`} />
      {kind === 'customer' && (
        <Ended title={t('Ended roles in the customer')} list="customer-permissions-log" query={`customer=${uuid}`} />
      )}
      <Ended title={t('Ended roles in projects')} list="project-permissions-log" query={`${kind}=${uuid}`} />
    </>
  );
}

interface Listed {
  readonly title: string;
  readonly list: string;
  readonly query: string;
}

/** Who holds a role, by name and place. */
const Holder = ({ role }: { readonly role: Item }): JSX.Element => (
  <span>
    <a href={hrefOfLink(textOf(role, 'user'))}>{textOf(role, 'user_full_name') || textOf(role, 'user_username')}</a>{' '}
    {roleIn(textOf(role, 'role'), textOf(role, 'project_name') || textOf(role, 'customer_name'))}
  </span>
);

function Roles({ title, list, query }: Listed): JSX.Element {
  const { value: page } = usePage(`/api/${list}/?${query}&page_size=${size}`);
  const collection = collections.value.get(list);
  return (
    <Part
      title={title}
      more={page && page.count > size ? hrefOf(`/${list}/`, new URLSearchParams(query)) : undefined}
      problem={page?.problem}
      isLoading={page === undefined}
      empty={page?.count === 0 ? t('Nobody has a role here yet.') : undefined}
    >
      <ul class="lines rows">
        {page?.items.map((role) => (
          <li key={textOf(role, 'url')}>
            <Holder role={role} />
            <span class="none">
              {textOf(role, 'expiration_time') === ''
                ? t('without an end')
                : phrase('until {time}', { time: <Time value={textOf(role, 'expiration_time')} /> })}
            </span>
            {collection && (
              <Actions
                path={pathOf(textOf(role, 'url')).slice('/api'.length)}
                item={{ ...role, name: `${nameOf(role)}, ${t(textOf(role, 'role'))}` }}
                etag={null}
                collection={collection}
                titles={{ PATCH: t('Change the end'), DELETE: t('End the role') }}
                isRow
                reload={async () => undefined}
              />
            )}
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Invitations({ query }: { readonly query: string }): JSX.Element {
  const list = 'user-invitations';
  const { value: page } = usePage(`/api/${list}/?state=pending&${query}&page_size=${size}`);
  const collection = collections.value.get(list);
  return (
    <Part
      title={t('Pending invitations')}
      more={page && page.count > 0 ? hrefOf(`/${list}/`, new URLSearchParams(query)) : undefined}
      problem={page?.problem}
      isLoading={page === undefined}
      empty={page?.count === 0 ? t('No invitation waits for an answer.') : undefined}
    >
      <ul class="lines rows">
        {page?.items.map((invitation) => (
          <li key={textOf(invitation, 'url')}>
            <ObjectLink item={{ ...invitation, name: textOf(invitation, 'email') }} />
            <span>
              {roleIn(
                textOf(invitation, 'project_role') || textOf(invitation, 'customer_role'),
                textOf(invitation, 'project_name') || textOf(invitation, 'customer_name'),
              )}
            </span>
            <span class="none">{phrase('until {time}', { time: <Time value={textOf(invitation, 'expires')} /> })}</span>
            {textOf(invitation, 'error_message') !== '' && (
              <span class="problem">{textOf(invitation, 'error_message')}</span>
            )}
            {collection && (
              <Actions
                path={pathOf(textOf(invitation, 'url')).slice('/api'.length)}
                item={invitation}
                etag={null}
                collection={{ ...collection, actions: ['send', 'cancel'] }}
                isRow
                reload={async () => undefined}
              />
            )}
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Ended({ title, list, query }: Listed): JSX.Element | null {
  const { value: page } = usePage(`/api/${list}/?${query}&page_size=${size}`);
  // Most people see nothing of the past.
  if (!page || (page.count === 0 && !page.problem)) return null;
  return (
    <Part
      title={title}
      more={page.count > size ? hrefOf(`/${list}/`, new URLSearchParams(query)) : undefined}
      problem={page.problem}
    >
      <ul class="lines">
        {page.items.map((role) => (
          <li key={textOf(role, 'url')}>
            <Holder role={role} />
            <span class="none">
              {phrase('from {start} to {end}', {
                start: <Time value={textOf(role, 'created')} />,
                end: <Time value={textOf(role, 'expiration_time')} />,
              })}
            </span>
          </li>
        ))}
      </ul>
    </Part>
  );
}
