/** Chooses the current customer or project. */
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { usePage } from '../api/reading.ts';
import { chooseScope, type Scope, scope, scopeObject } from '../api/scope.ts';
import { type Choice, Chooser, useLatest, useSearch } from '../components/chooser.tsx';
import { Icon } from '../components/icons.tsx';
import { Popover } from '../components/popover.tsx';
import { Avatar } from '../components/values.tsx';
import { hasWords } from '../format/text.ts';
import { plural, t } from '../i18n/words.ts';
import { type Item, itemsIn, textOf } from '../item.ts';

export function Switcher(): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const { customer, project } = scope.value;
  return (
    <>
      <button
        ref={button}
        type="button"
        class="switcher"
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {customer ? (
          <Avatar name={customer.name} isSquare size="mid" />
        ) : (
          <span aria-hidden="true" class="face square mid accent">
            <Icon name="customers" size="sm" />
          </span>
        )}
        <span>
          <b>{customer ? customer.name : t('All customers')}</b>
          <small>{project ? project.name : t('All projects')}</small>
        </span>
        <Icon name="switch" size="sm" />
      </button>
      {isOpen && (
        <Popover anchor={() => button.current} class="wide" onClose={() => setOpen(false)}>
          <ScopeChooser onClose={() => setOpen(false)} />
        </Popover>
      )}
    </>
  );
}

/** Customers, with the projects of the chosen one or those that match the search. */
function ScopeChooser({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [text, settled, setText] = useSearch();
  const { customer, project } = scope.value;
  const search: Readonly<Record<string, string>> = settled === '' ? {} : { name: settled };
  const query = new URLSearchParams({ page_size: '20', field: 'url', ...search });
  for (const name of ['uuid', 'name', 'projects']) query.append('field', name);
  const page = useLatest(usePage(`/api/customers/?${query}`).value);
  const { value: projects } = usePage(
    settled === '' ? '' : `/api/projects/?${new URLSearchParams({ ...search, page_size: '10' })}`,
  );
  // Filter the current choices until the server has searched.
  const customers = (page?.items ?? []).filter((item) => hasWords(textOf(item, 'name'), text));
  const projectMatches = (projects?.items ?? []).filter((item) => hasWords(textOf(item, 'name'), text));
  const choices: readonly Choice[] = [
    ...(text === '' ? [{ key: 'all', isChosen: customer === undefined, content: <AllCustomers /> }] : []),
    ...customers.flatMap((one): Choice[] => {
      const own = itemsIn(one.projects);
      const isHere = textOf(one, 'uuid') === customer?.uuid;
      return [
        {
          key: textOf(one, 'uuid'),
          isChosen: isHere && project === undefined,
          content: <CustomerRow item={one} count={own.length} />,
        },
        ...(isHere && text === '' ? own : []).map((each) => ({
          key: textOf(each, 'uuid'),
          isNested: true,
          isChosen: textOf(each, 'uuid') === project?.uuid,
          content: <ProjectRow item={each} />,
        })),
      ];
    }),
    ...projectMatches.map((each) => ({
      key: textOf(each, 'uuid'),
      isChosen: textOf(each, 'uuid') === project?.uuid,
      content: <ProjectRow item={each} sub={textOf(each, 'customer_name')} />,
    })),
  ];
  const choose = (key: string): void => {
    onClose();
    chooseScope(scopeOf(key, customers, projectMatches));
  };
  return (
    <Chooser
      label={t('Search customers and projects')}
      placeholder={t('Find a customer or project')}
      text={text}
      onText={setText}
      isLoading={page === undefined}
      choices={choices}
      onChoose={choose}
    />
  );
}

/** Returns the scope of a choice: a customer, one of its projects, or a project that matches the search. */
function scopeOf(key: string, customers: readonly Item[], projects: readonly Item[]): Scope {
  const customer = customers.find((one) => textOf(one, 'uuid') === key);
  if (customer) return { customer: scopeObject(customer) };
  const project = projects.find((one) => textOf(one, 'uuid') === key);
  if (project) {
    const url = textOf(project, 'customer');
    return {
      customer: { uuid: url.split('/').at(-2) ?? '', url, name: textOf(project, 'customer_name') },
      project: scopeObject(project),
    };
  }
  for (const owner of customers) {
    const own = itemsIn(owner.projects).find((one) => textOf(one, 'uuid') === key);
    if (own) return { customer: scopeObject(owner), project: scopeObject(own) };
  }
  return {};
}

const AllCustomers = (): JSX.Element => (
  <>
    <Icon name="customers" />
    <span>{t('All customers')}</span>
  </>
);

const CustomerRow = ({ item, count }: { readonly item: Item; readonly count: number }): JSX.Element => (
  <>
    <Avatar name={textOf(item, 'name')} isSquare />
    <span>
      {textOf(item, 'name')}
      <span class="sub">{plural(count, '{count} project', '{count} projects')}</span>
    </span>
  </>
);

const ProjectRow = ({ item, sub }: { readonly item: Item; readonly sub?: string }): JSX.Element => (
  <>
    <Icon name="projects" />
    <span>
      {textOf(item, 'name')}
      {sub && <span class="sub">{sub}</span>}
    </span>
  </>
);
