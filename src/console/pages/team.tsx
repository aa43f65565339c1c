/** The team of a customer or project: current roles, invitations, and ended roles. */
import type { JSX } from 'preact';
import { type Item, pathOf, textOf } from '../api/api.ts';
import { api } from '../api/connection.ts';
import { useGet, usePage } from '../api/reading.ts';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { collections } from '../api/session.ts';
import { RowActions } from '../components/actions.tsx';
import { Card } from '../components/card.tsx';
import { Creation } from '../components/creation.tsx';
import { PageHeader } from '../components/page.tsx';
import { Face, nameOf, ObjectLink, roleIn, Time } from '../components/values.tsx';
import { phrase, t, titleOf } from '../i18n/words.ts';

/** The number of rows of each kind; a link leads to the rest. */
const size = 20;

export function TeamPage({
  kind,
  uuid,
}: {
  readonly kind: 'customer' | 'project';
  readonly uuid: string;
}): JSX.Element {
  const { value: response } = useGet(
    () => api.GET(`/api/${kind}s/{key}/` as const, { params: { path: { key: uuid } } }),
    [kind, uuid],
  );
  const item = response?.isOk ? response.body : undefined;
  const preset = { [kind]: textOf(item ?? {}, 'url') };
  const create = (list: string, button: string): JSX.Element | undefined => {
    const collection = collections.value.get(list);
    return (
      item &&
      collection && (
        <Creation collection={collection} given={preset} button={button} onCreated={async () => undefined} />
      )
    );
  };
  return (
    <>
      <PageHeader
        crumbs={[
          [hrefOf(`/${kind}s/`), titleOf(`${kind}s`)],
          ...(item ? [[hrefOfLink(textOf(item, 'url')), nameOf(item)] as const] : []),
        ]}
        title={item ? t('Team of {name}', { name: nameOf(item) }) : t('Team')}
        actions={
          <>
            {create(`${kind}-permissions`, t('Assign role'))}
            {create('user-invitations', t('Invite'))}
          </>
        }
      />
      <div class="stack">
        {kind === 'customer' && (
          <Roles title={titleOf('customer-permissions')} list="customer-permissions" query={`customer=${uuid}`} />
        )}
        <Roles title={titleOf('project-permissions')} list="project-permissions" query={`${kind}=${uuid}`} />
        <Invitations query={`${kind}=${uuid}`} />
        {kind === 'customer' && (
          <Ended title={t('Past customer roles')} list="customer-permissions-log" query={`customer=${uuid}`} />
        )}
        <Ended title={t('Past project roles')} list="project-permissions-log" query={`${kind}=${uuid}`} />
      </div>
    </>
  );
}

interface Listed {
  readonly title: string;
  readonly list: string;
  readonly query: string;
}

/** The holder of a role, with name and place. */
const Holder = ({ role }: { readonly role: Item }): JSX.Element => {
  const name = textOf(role, 'user_full_name') || textOf(role, 'user_username');
  return (
    <>
      <Face name={name} />
      <span class="words">
        <a href={hrefOfLink(textOf(role, 'user'))}>{name}</a>
        <span class="sub">
          {roleIn(textOf(role, 'role'), textOf(role, 'project_name') || textOf(role, 'customer_name'))}
        </span>
      </span>
    </>
  );
};

function Roles({ title, list, query }: Listed): JSX.Element {
  const { value: page } = usePage(`/api/${list}/?${query}&page_size=${size}`);
  const collection = collections.value.get(list);
  return (
    <Card
      title={title}
      more={page && page.count > size ? hrefOf(`/${list}/`, new URLSearchParams(query)) : undefined}
      problem={page?.problem}
      isLoading={page === undefined}
      empty={page?.count === 0 ? t('No roles yet.') : undefined}
      isFlush
    >
      <ul class="lines">
        {page?.items.map((role) => (
          <li key={textOf(role, 'url')}>
            <Holder role={role} />
            <span class="end">
              {textOf(role, 'expiration_time') === ''
                ? t('does not expire')
                : phrase('until {time}', { time: <Time value={textOf(role, 'expiration_time')} /> })}
              {collection && (
                <RowActions
                  path={pathOf(textOf(role, 'url')).slice('/api'.length)}
                  item={{ ...role, name: `${nameOf(role)}, ${t(textOf(role, 'role'))}` }}
                  etag={null}
                  collection={collection}
                  titles={{ PATCH: t('Change expiry'), DELETE: t('Revoke role') }}
                  reload={async () => undefined}
                />
              )}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Invitations({ query }: { readonly query: string }): JSX.Element {
  const list = 'user-invitations';
  const { value: page } = usePage(`/api/${list}/?state=pending&${query}&page_size=${size}`);
  const collection = collections.value.get(list);
  return (
    <Card
      title={t('Pending invitations')}
      more={page && page.count > 0 ? hrefOf(`/${list}/`, new URLSearchParams(query)) : undefined}
      problem={page?.problem}
      isLoading={page === undefined}
      isFlush
      empty={page?.count === 0 ? t('No pending invitations.') : undefined}
    >
      <ul class="lines">
        {page?.items.map((invitation) => (
          <li key={textOf(invitation, 'url')}>
            <span class="words">
              <ObjectLink item={{ ...invitation, name: textOf(invitation, 'email') }} />
              <span class="sub">
                {roleIn(
                  textOf(invitation, 'project_role') || textOf(invitation, 'customer_role'),
                  textOf(invitation, 'project_name') || textOf(invitation, 'customer_name'),
                )}
              </span>
            </span>
            <span class="end">
              {phrase('until {time}', { time: <Time value={textOf(invitation, 'expires')} /> })}
              {textOf(invitation, 'error_message') !== '' && (
                <span class="bad-ink">{textOf(invitation, 'error_message')}</span>
              )}
              {collection && (
                <RowActions
                  path={pathOf(textOf(invitation, 'url')).slice('/api'.length)}
                  item={invitation}
                  etag={null}
                  collection={{ ...collection, actions: ['send', 'cancel'] }}
                  reload={async () => undefined}
                />
              )}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Ended({ title, list, query }: Listed): JSX.Element | null {
  const { value: page } = usePage(`/api/${list}/?${query}&page_size=${size}`);
  // Most users cannot see ended roles.
  if (!page || (page.count === 0 && !page.problem)) return null;
  return (
    <Card
      title={title}
      more={page.count > size ? hrefOf(`/${list}/`, new URLSearchParams(query)) : undefined}
      problem={page.problem}
      isFlush
    >
      <ul class="lines">
        {page.items.map((role) => (
          <li key={textOf(role, 'url')}>
            <Holder role={role} />
            <span class="end">
              {phrase('from {start} to {end}', {
                start: <Time value={textOf(role, 'created')} />,
                end: <Time value={textOf(role, 'expiration_time')} />,
              })}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
