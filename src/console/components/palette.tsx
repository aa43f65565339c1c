/**
 * The palette of commands, by Ctrl-K: whatever is typed is looked for among the actions of the present page, which are its
 * buttons, the places of the console, and by the filters of their lists among customers, projects, resources and people.
 */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { type Item, readPage, textOf } from '../api/api.ts';
import { go, hrefOfLink } from '../api/route.ts';
import { collections, isOperator } from '../api/session.ts';
import { plural, t, titleOf } from '../i18n/words.ts';
import { Dialog } from './dialog.tsx';
import { Icon } from './icons.tsx';
import { nameOf } from './shown.tsx';

/** One thing that can be chosen. */
interface Choice {
  readonly key: string;
  readonly title: string;
  /** What it is. */
  readonly kind: string;
  readonly choose: () => void;
}

/** By which filters of which lists objects are looked for. */
const sources: readonly (readonly [list: string, filter: string])[] = [
  ['customers', 'name'],
  ['projects', 'name'],
  ['resources', 'name'],
  ['users', 'full_name'],
  ['users', 'username'],
];

const mostOfAList = 5;
const mostPlaces = 8;

/** Milliseconds without typing before the server is asked. */
const pause = 150;

const isOpen = signal(false);

addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  // What has been typed into another dialog stays there.
  if (document.querySelector('dialog[open]') === null) isOpen.value = true;
});

/** The button that opens the palette, for who has no keyboard, and the palette. Only a page with this has it. */
export function Palette(): JSX.Element {
  return (
    <>
      <button
        type="button"
        class="outline secondary"
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K"
        onClick={() => {
          isOpen.value = true;
        }}
      >
        <Icon name="search" />
        {t('Go to…')}{' '}
        <span class="keys" aria-hidden="true">
          Ctrl K
        </span>
      </button>
      {isOpen.value && <PaletteDialog />}
    </>
  );
}

const close = (): void => {
  isOpen.value = false;
};

function PaletteDialog(): JSX.Element {
  const [sought, setSought] = useState('');
  const [at, setAt] = useState(0);
  const { objects, problem } = useObjects(sought);
  const id = useId();
  const choices = [...actionsOf(sought), ...placesOf(sought), ...objects];
  const chosen = choices[Math.min(at, choices.length - 1)];
  const optionId = ({ key }: Choice): string => `${id}-${key}`;
  useEffect(() => {
    if (chosen) document.getElementById(optionId(chosen))?.scrollIntoView({ block: 'nearest' });
  }, [chosen?.key]);
  const choose = (choice: Choice): void => {
    close();
    // When the palette has gone and the page has the keyboard again.
    requestAnimationFrame(choice.choose);
  };
  const move = (steps: number): void => {
    if (choices.length > 0) setAt((Math.min(at, choices.length - 1) + steps + choices.length) % choices.length);
  };
  return (
    <Dialog title={t('Go to or do')} onClose={close}>
      <div class="palette">
        <input
          // biome-ignore lint/a11y/noRedundantRoles: without a list of its own it is none by itself
          role="combobox"
          list={undefined}
          aria-label={t('Place, action or name')}
          aria-expanded={true}
          aria-controls={id}
          aria-autocomplete="list"
          aria-activedescendant={chosen && optionId(chosen)}
          autoComplete="off"
          spellcheck={false}
          value={sought}
          onInput={(event) => {
            setSought(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown') move(1);
            else if (event.key === 'ArrowUp') move(-1);
            else if (event.key === 'Enter' && chosen) choose(chosen);
            else return;
            event.preventDefault();
          }}
        />
        <div id={id} role="listbox" aria-label={t('Found')}>
          {choices.map((choice) => (
            // The keyboard stays in the field above, which says which of them is meant.
            // biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field does the same
            // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus
            <div
              key={choice.key}
              id={optionId(choice)}
              role="option"
              aria-selected={choice === chosen}
              onClick={() => choose(choice)}
            >
              <span class="text">{choice.title}</span> <span class="none">{choice.kind}</span>
            </div>
          ))}
        </div>
        {problem !== '' && (
          <p role="alert" class="problem">
            {problem}
          </p>
        )}
        <p role="status" class="none">
          {choices.length === 0 ? t('Nothing matches.') : plural(choices.length, '{count} match', '{count} matches')}
        </p>
      </div>
    </Dialog>
  );
}

/** The objects of the server that a text is part of the names of, once nobody types any more. */
function useObjects(sought: string): { readonly objects: readonly Choice[]; readonly problem: string } {
  const [found, setFound] = useState<readonly Choice[]>([]);
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const text = sought.trim();
    let isCurrent = true;
    const timer = setTimeout(async () => {
      const asked = text === '' ? [] : sources.filter(([list]) => collections.value.has(list));
      const pages = await Promise.all(
        asked.map(async ([list, filter]) => {
          const query = new URLSearchParams({ [filter]: text, page_size: String(mostOfAList) });
          return { list, ...(await readPage(`/api/${list}/?${query}`)) };
        }),
      );
      if (!isCurrent) return;
      // A user may be found by both names.
      const byLink = new Map(
        pages.flatMap(({ items, list }) => items.map((item) => [textOf(item, 'url'), [list, item] as const])),
      );
      setFound([...byLink.values()].map(([list, item]) => choiceOf(list, item)));
      setProblem(pages.find((page) => page.problem)?.problem ?? '');
    }, pause);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [sought]);
  return { objects: found, problem };
}

function choiceOf(list: string, item: Item): Choice {
  const place = hrefOfLink(textOf(item, 'url')).slice(1);
  const owner = textOf(item, 'project_name') || textOf(item, 'customer_name') || textOf(item, 'username');
  return {
    key: place.replaceAll('/', '-'),
    title: nameOf(item),
    kind: owner === '' ? titleOf(list) : `${titleOf(list)}, ${owner}`,
    choose: () => go(place),
  };
}

/** Without case and accents, as people type. */
const folded = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase();

const matches = (title: string, sought: string): boolean =>
  folded(sought)
    .split(/\s+/)
    .every((word) => folded(title).includes(word));

/** Where a text begins in a title: what begins with it is meant rather than what has it somewhere. */
const startOf = (title: string, sought: string): number => folded(title).indexOf(folded(sought));

function placesOf(sought: string): readonly Choice[] {
  const all = [
    { path: '/', title: t('Home') },
    ...[...collections.value.values()].map(({ name, title }) => ({ path: `/${name}/`, title })),
    { path: '/statistics/', title: t('Statistics') },
    ...(isOperator.value ? [{ path: '/operation/', title: titleOf('operation') }] : []),
    { path: '/all/', title: t('Everything') },
  ];
  return all
    .filter(({ title }) => matches(title, sought))
    .sort((a, b) => startOf(a.title, sought) - startOf(b.title, sought))
    .slice(0, mostPlaces)
    .map(({ path, title }) => ({
      key: `place${path.replaceAll('/', '-')}`,
      title,
      kind: t('Place'),
      choose: () => go(path),
    }));
}

/** What the buttons of the page and of its frame do, but for those of forms and those that cannot be pressed now. */
function actionsOf(sought: string): readonly Choice[] {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('main button, .who button')];
  return buttons
    .filter((button) => button.closest('form, dialog') === null && button.ariaDisabled !== 'true' && !button.disabled)
    .filter((button) => button.ariaKeyShortcuts === null)
    .map((button) => ({ button, title: button.ariaLabel ?? button.textContent ?? '' }))
    .filter(({ title }) => title !== '' && matches(title, sought))
    .map(({ button, title }, index) => ({
      key: `action-${index}`,
      title,
      kind: t('Action'),
      choose: () => {
        // What opens gives the keyboard back to it.
        button.focus();
        button.click();
      },
    }));
}
