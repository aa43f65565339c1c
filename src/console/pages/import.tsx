/** Unmanaged resources at a provider, each with a button that imports it into a project. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { fieldProblems, type Item, itemsIn, pathOf, problemOf, request, textOf } from '../api/api.ts';
import { refresh, usePage } from '../api/reading.ts';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { Icon } from '../components/icons.tsx';
import { notify } from '../components/toast.tsx';
import { nameOf } from '../components/values.tsx';
import { kindOfType } from '../format/kinds.ts';
import { t, titleOf } from '../i18n/words.ts';
import { canManageResources } from './attention.tsx';

/** Number of resources to show at a time. The list advances as the user imports them. */
const size = 10;

/** Renders nothing if the user may not import, and `empty` if nothing is left to import. */
export function Import({ service, empty }: { readonly service: Item; readonly empty?: string }): JSX.Element | null {
  const path = `${pathOf(textOf(service, 'url'))}link/`;
  // The server rejects users without a suitable role.
  const { value: page, reload } = usePage(canManageResources() ? `${path}?page_size=${size}` : '');
  const projects = itemsIn(service.projects);
  const [chosen, setChosen] = useState('');
  const project = chosen || textOf(projects[0] ?? {}, 'url');
  if (!page || page.problem || (page.count === 0 && empty === undefined) || project === '') return null;

  async function add(item: Item): Promise<void> {
    const body = { backend_id: textOf(item, 'backend_id'), project, resource_type: textOf(item, 'resource_type') };
    const response = await request<Item>('POST', path, { body });
    const reason = problemOf(response.body) || Object.values(fieldProblems(response.body)).join(' ');
    notify(
      response.isOk
        ? t('{name} was imported.', { name: nameOf(item) })
        : t('{name} could not be imported. {reason}', { name: nameOf(item), reason }),
      { tone: response.isOk ? 'good' : 'bad' },
    );
    refresh();
    await reload();
  }

  return (
    <Card
      title={t('Not managed yet')}
      count={page.count}
      empty={page.count === 0 ? empty : undefined}
      actions={
        page.count > 0 && (
          <select
            class="select"
            aria-label={t('Import into the project')}
            value={project}
            onInput={(event) => setChosen(event.currentTarget.value)}
          >
            {projects.map((one) => (
              <option key={textOf(one, 'url')} value={textOf(one, 'url')}>
                {t('{title}: {value}', { title: titleOf('project'), value: nameOf(one) })}
              </option>
            ))}
          </select>
        )
      }
      isFlush
    >
      <ul class="lines">
        {page.items.map((item) => (
          <li key={textOf(item, 'backend_id')}>
            <span class="kind">
              <Icon name={kindOfType(textOf(item, 'resource_type')).icon} />
            </span>
            <span class="words">
              <b>{nameOf(item)}</b>
              <span class="sub">{t(kindOfType(textOf(item, 'resource_type')).word)}</span>
            </span>
            <span class="end">
              <Button small label={t('Import {name}', { name: nameOf(item) })} onClick={() => add(item)}>
                {t('Import')}
              </Button>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
