/** The forms that create resources, by type. */
import type { JSX } from 'preact';
import { type Item, isItem, listIn, textOf, uuidIn } from '../api/api.ts';
import { api } from '../api/connection.ts';
import { type FormField, formFieldsOf } from '../api/fields.ts';
import { useGet, usePage, useRequest } from '../api/reading.ts';
import { go, hrefOf, hrefOfLink, place } from '../api/route.ts';
import { scope, scopedQuery } from '../api/scope.ts';
import { collections } from '../api/session.ts';
import { Retry } from '../components/button.tsx';
import { Callout, Card, Loading } from '../components/card.tsx';
import { CreationForm, type Description, mayHaveRight } from '../components/creation.tsx';
import { Icon } from '../components/icons.tsx';
import { PageHeader } from '../components/page.tsx';
import { nameOf } from '../components/values.tsx';
import { iconOfList, kindOfList } from '../format/kinds.ts';
import { statusOf } from '../format/status.ts';
import { t, titleOf } from '../i18n/words.ts';
import { guide, mayAddAccounts } from './provider-guide.tsx';
import { useCopiedValues } from './repeated.ts';

/** Base path of the forms. */
export const newResourcePath = '/new-resource/';

/** Categories of resources, with the icons of their kinds. */
const categories = (): readonly (readonly [title: string, icons: readonly string[]])[] => [
  [titleOf('vms'), ['machine']],
  [titleOf('private_clouds'), ['cloud']],
  [titleOf('volumes'), ['volume', 'snapshot']],
  [titleOf('apps'), ['application', 'repository', 'issue', 'database']],
  [t('Other'), ['resources', 'network', 'shield']],
];

/** The choice of a type, then its form at `/new-resource/<list>/`. */
export function NewResourcePage({ list }: { readonly list: string }): JSX.Element {
  const { value: response } = useGet(() => api.GET('/api/service-metadata/'));
  const collection = collections.value.get(list);
  const lists = Object.values(response?.isOk ? response.body : {})
    .flatMap(({ resources }) => Object.values(isItem(resources) ? resources : {}))
    .map((link) => listIn(String(link)))
    .filter(canCreate);
  return (
    <>
      <PageHeader
        crumbs={[
          [hrefOf('/resources/'), titleOf('resources')],
          ...(collection ? [[hrefOf(newResourcePath, place.value.query), t('Create a resource')] as const] : []),
        ]}
        title={collection ? t('New {title}', { title: wordOfList(list) }) : t('Create a resource')}
        {...(collection &&
          lists.length > 0 && {
            actions: (
              <a class="btn" href={hrefOf(newResourcePath, place.value.query)}>
                {t('Change type')}
              </a>
            ),
          })}
      />
      {!response && <Loading />}
      {collection ? (
        <ResourceForm key={list} list={list} />
      ) : response && lists.length === 0 ? (
        <Callout tone="warn">{t('You cannot create resources.')}</Callout>
      ) : (
        <div class="stack">
          {categories().map(([title, icons]) => {
            const offered = lists.filter((name) => icons.includes(iconOfList(name)));
            return (
              offered.length > 0 && (
                <Card key={title} title={title}>
                  <ul class="options two">
                    {offered.map((name) => (
                      <li key={name}>
                        <a class="option" href={hrefOf(`${newResourcePath}${name}/`, place.value.query)}>
                          <Icon name={iconOfList(name)} />
                          <b>{titleOf(name)}</b>
                        </a>
                      </li>
                    ))}
                  </ul>
                </Card>
              )
            );
          })}
        </div>
      )}
    </>
  );
}

function canCreate(name: string): boolean {
  const collection = collections.value.get(name);
  return collection?.isCreatable === true && mayHaveRight(collection.creators);
}

/**
 * Reads the connection of the current project to a provider of this type; empty if there is none, undefined until loaded.
 */
function useScopedLink(list: string): string | undefined {
  const { project } = scope.value;
  const { value: page } = usePage(project && list !== '' ? `${list}?project_uuid=${project.uuid}&page_size=2` : '');
  return page && (page.count === 1 ? textOf(page.items[0] ?? {}, 'url') : '');
}

function ResourceForm({ list }: { readonly list: string }): JSX.Element | null {
  const { value: response } = useRequest<Description>('OPTIONS', `/api/${list}/`);
  const collection = collections.value.get(list);
  const post = response?.isOk ? response.body.actions?.POST : undefined;
  const { like = '', ...presets } = Object.fromEntries(place.value.query);
  const fields = post ? formFieldsOf(post, collection) : [];
  const repeated = useCopiedValues(like, fields);
  const linkList = fields.find(({ name }) => name === 'service_project_link')?.list ?? '';
  const link = useScopedLink(linkList);
  const tenant = String(presets.tenant ?? repeated?.tenant ?? '');
  const needs = usePrerequisites(list, linkList, tenant);
  if (!response || !collection || !repeated || link === undefined || !needs) return <Loading />;
  if (!post || !mayHaveRight(collection.creators))
    return <Callout tone="warn">{t('You cannot create this type of resource.')}</Callout>;
  if (needs.problem !== undefined)
    return (
      <Callout tone="bad" title={needs.title} action={<Retry onClick={needs.reload} />}>
        {needs.problem}
      </Callout>
    );
  const { missing, unready } = needs;
  if (missing === 'connection') return <MissingConnection />;
  const isByCloud = listsInClouds.has(list) && missing !== 'cloud';
  return (
    <>
      {missing === 'cloud' && <MissingCloud />}
      {(unready || missing === 'ready cloud') && <UnreadyCloud cloud={unready} />}
      <CreationForm
        collection={collection}
        post={post}
        initialValues={
          isByCloud
            ? { ...repeated, ...presets, service_project_link: undefined, ...(unready && { tenant: undefined }) }
            : { ...(link !== '' && { service_project_link: link }), ...repeated, ...presets }
        }
        adapt={isByCloud ? byCloud : undefined}
        button={t('Create {title}', { title: wordOfList(list) })}
        sectionTitles={sections().map(([title]) => title)}
        sectionOf={({ name }) => (sections().find(([, names]) => names.has(name)) ?? sections()[0])[0]}
        onCancel={() => go(hrefOf(newResourcePath, place.value.query).slice(1))}
        onMade={async (made) => go(hrefOfLink(textOf(made, 'url')).slice(1))}
      />
    </>
  );
}

/** Lists of resources that belong to a private cloud. */
const listsInClouds = new Set(['openstack-instances', 'openstack-volumes']);

/** Asks for the private cloud alone, which determines the project and its connection. Lists those of the current scope. */
const byCloud = (fields: readonly FormField[]): readonly FormField[] =>
  fields
    .filter(({ name }) => name !== 'service_project_link')
    .map((field) =>
      field.name === 'tenant'
        ? {
            ...field,
            isRequired: true,
            isWide: true,
            help: '',
            list: `${field.list}?${scopedQuery('openstack-tenants', { state: 'OK' })}`,
          }
        : field,
    );

/** What a new resource needs. */
type Prerequisites =
  | {
      readonly problem?: undefined;
      /** Undefined if nothing is missing. */
      readonly missing?: 'connection' | 'cloud' | 'ready cloud' | undefined;
      /** The cloud that the address or a repeated resource names, if it is not ready. */
      readonly unready?: Item | undefined;
    }
  | {
      /** Why the prerequisites cannot be read. */
      readonly problem: string;
      readonly title: string | undefined;
      readonly reload: () => void;
    };

const clouds = '/api/openstack-tenants/?page_size=1';

/** Reads what a new resource needs; undefined until loaded. `tenant` is the link of a private cloud, or empty. */
function usePrerequisites(list: string, links: string, tenant: string): Prerequisites | undefined {
  const isInCloud = listsInClouds.has(list);
  const connections = usePage(links === '' ? '' : `${links}?page_size=1`);
  const ready = usePage(isInCloud ? `${clouds}&field=url&state=OK` : '');
  const all = usePage(isInCloud && ready.value?.count === 0 ? `${clouds}&field=url` : '');
  const named = usePage(isInCloud && tenant !== '' ? `${clouds}&uuid=${uuidIn(tenant)}` : '');
  const failed = [connections, ready, all, named].find(({ value }) => value?.problem !== undefined);
  if (failed?.value?.problem !== undefined)
    return {
      problem: failed.value.problem,
      title:
        failed === connections ? t('The project connections cannot be read.') : t('The private clouds cannot be read.'),
      reload: () => void failed.reload(),
    };
  if (!connections.value || !ready.value || !all.value || !named.value) return undefined;
  if (links !== '' && connections.value.count === 0) return { missing: 'connection' };
  const unready = named.value.items.find((cloud) => textOf(cloud, 'state') !== 'OK');
  if (!isInCloud || ready.value.count > 0) return { unready };
  return { missing: all.value.count > 0 ? 'ready cloud' : 'cloud', unready };
}

const MissingConnection = (): JSX.Element => (
  <Callout
    tone="warn"
    title={t('No project is connected to such a provider yet.')}
    action={
      mayAddAccounts() && (
        <a class="btn sm" href={hrefOf(guide)}>
          {t('Add provider account')}
        </a>
      )
    }
  >
    {mayAddAccounts()
      ? t('Add a provider account, or connect one to a project. The simulator needs no credentials.')
      : t('An owner of the customer can add a provider account.')}
  </Callout>
);

const MissingCloud = (): JSX.Element => (
  <Callout
    tone="warn"
    title={t('A private cloud is missing.')}
    action={
      <a class="btn sm" href={hrefOf(`${newResourcePath}openstack-tenants/`, place.value.query)}>
        {t('Create a private cloud')}
      </a>
    }
  >
    {t('OpenStack machines and volumes run in a private cloud, which has their network and quotas. Create one first.')}
  </Callout>
);

/** Says that no private cloud is ready, or not this one. */
const UnreadyCloud = ({ cloud }: { readonly cloud: Item | undefined }): JSX.Element => (
  <Callout
    tone="warn"
    title={
      cloud
        ? t('{name} is not ready: {status}', { name: nameOf(cloud), status: t(statusOf(cloud).word) })
        : t('No private cloud is ready.')
    }
    action={
      cloud && (
        <a class="btn sm" href={hrefOfLink(textOf(cloud, 'url'))}>
          {t('View resource')}
        </a>
      )
    }
  >
    {t('Machines and volumes can be created only in a private cloud that is ready.')}
  </Callout>
);

/** The cards of the form with their fields. The first card has all other fields. */
const sections = (): readonly [first: Section, ...others: Section[]] => [
  [t('General'), new Set(['name', 'service_project_link', 'tenant', 'region', 'zone'])],
  [t('Size'), new Set(['flavor', 'size', 'cores', 'ram', 'disk'])],
  [t('Image'), new Set(['image', 'template'])],
  [t('Storage'), new Set(['system_volume_size', 'data_volume_size', 'volume_size', 'disk_size'])],
  [
    t('Network and access'),
    new Set(['ssh_public_key', 'internal_ips_set', 'security_groups', 'floating_ips', 'subnet_cidr']),
  ],
];
type Section = readonly [title: string, names: ReadonlySet<string>];

/** Returns the name of one resource of a list. */
const wordOfList = (list: string): string => {
  const word = kindOfList(list)?.word;
  return word === undefined ? titleOf(list) : t(word);
};
