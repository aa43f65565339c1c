/**
 * The command palette (Ctrl-K): recent objects, pages, actions of the current page, and a search for customers, projects,
 * resources and people.
 */

import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Item, placeName, readPage, textOf } from '../api/api.ts';
import { listOf } from '../api/columns.ts';
import { useFailedActions } from '../api/failures.ts';
import { recents } from '../api/recents.ts';
import { go, hrefOfLink } from '../api/route.ts';
import { collections } from '../api/session.ts';
import { useCombobox } from '../components/chooser.tsx';
import { Dialog } from '../components/dialog.tsx';
import { hasIcon, Icon } from '../components/icons.tsx';
import { pageMenu } from '../components/page.tsx';
import { StatusText } from '../components/status.tsx';
import { nameOf } from '../components/values.tsx';
import { iconOfList, kindOfType } from '../format/kinds.ts';
import { foldText, hasWords, joinedText } from '../format/text.ts';
import { plural, t, titleOf } from '../i18n/words.ts';
import { navigation } from './navigation.ts';

/** One choice of the palette. */
interface Choice {
  readonly key: string;
  readonly group: string;
  readonly title: string;
  readonly icon: string;
  /** Its kind or place. */
  readonly kind: string;
  /** A resource, to show its status. */
  readonly item?: Item;
  readonly choose: () => void;
}

/** The searched lists with their search filters. */
const sources: readonly (readonly [list: string, filter: string])[] = [
  ['resources', 'name'],
  ['projects', 'name'],
  ['customers', 'name'],
  ['users', 'full_name'],
  ['users', 'username'],
];

const maxPerList = 5;
const maxPlaces = 8;
const maxActions = 6;

/** Typed first, it restricts the choices to the actions of the page. */
const actionsPrefix = '>';

/** Debounce of the search, in milliseconds. */
const searchDelayMs = 150;

const isOpen = signal(false);

addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  // Do not interrupt another dialog.
  if (document.querySelector('dialog[open]') === null) isOpen.value = true;
});

/** The button that opens the palette, and the palette. */
export function Palette(): JSX.Element {
  return (
    <>
      <button
        type="button"
        class="seek"
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K"
        onClick={() => {
          isOpen.value = true;
        }}
      >
        <Icon name="search" />
        <span>{t('Search or jump to…')}</span>
        <span class="key" aria-hidden="true">
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
  const [text, setText] = useState('');
  const isOfActions = text.startsWith(actionsPrefix);
  const query = isOfActions ? text.slice(actionsPrefix.length).trim() : text;
  const { objects, problem } = useObjects(isOfActions ? '' : text);
  // Server results come last, so that the first choices do not move.
  const choices = isOfActions
    ? actionsFor(query)
    : [...recentsFor(text), ...pagesFor(text), ...actionsFor(text, maxActions), ...objects];
  const choose = (choice: Choice): void => {
    close();
    // Wait until the palette is closed and the page has the focus.
    requestAnimationFrame(choice.choose);
  };
  const { current, input, listId, optionId, restart } = useCombobox(choices, 0, choose);
  return (
    <Dialog title={t('Search or jump to a page')} class="palette" onClose={close}>
      <div class="ask">
        <Icon name="search" />
        <input
          {...input}
          aria-label={t('Page, action or name')}
          placeholder={t('Search or jump to…')}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            restart();
          }}
        />
      </div>
      <div id={listId} class="found" role="listbox" aria-label={t('Results')}>
        {choices.map((choice, index) => (
          <>
            {choice.group !== choices[index - 1]?.group && (
              <div key={`${choice.group} label`} class="label" role="presentation">
                {choice.group}
              </div>
            )}
            {/* The focus stays in the field, which references the current option. */}
            {/* biome-ignore lint/a11y/useKeyWithClickEvents: Enter in the field chooses it */}
            {/* biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus */}
            <div
              key={choice.key}
              id={optionId(choice)}
              role="option"
              aria-selected={choice === current}
              onClick={() => choose(choice)}
            >
              <Icon name={hasIcon(choice.icon) ? choice.icon : 'next'} />
              <span>
                <Highlighted title={choice.title} text={query} />
              </span>
              {choice.item && <StatusText item={choice.item} />}
              <small>{choice.kind}</small>
            </div>
          </>
        ))}
      </div>
      {problem !== '' && (
        <p role="alert" class="in bad-ink">
          {problem}
        </p>
      )}
      <Hints matchCount={choices.length} />
    </Dialog>
  );
}

/** The number of matches, and the keys that the palette understands. */
function Hints({ matchCount }: { readonly matchCount: number }): JSX.Element {
  const keys = [
    [['↑', '↓'], t('move')],
    [['Enter'], t('open')],
    [[actionsPrefix], t('actions only')],
    [['Esc'], t('close')],
  ] as const;
  return (
    <div class="hints">
      <span role="status">
        {matchCount === 0 ? t('Nothing matches.') : plural(matchCount, '{count} match', '{count} matches')}
      </span>
      {keys.map(([names, effect]) => (
        <span key={effect} aria-hidden="true">
          {names.map((name) => (
            <kbd key={name} class="key">
              {name}
            </kbd>
          ))}
          {effect}
        </span>
      ))}
    </div>
  );
}

/** Searches objects by the debounced text. */
function useObjects(typed: string): { readonly objects: readonly Choice[]; readonly problem: string } {
  const [found, setFound] = useState<readonly (readonly [list: string, item: Item])[]>([]);
  const items = useFailedActions(found.map(([, item]) => item));
  const [problem, setProblem] = useState('');
  useEffect(() => {
    const text = typed.trim();
    let isCurrent = true;
    const timer = setTimeout(async () => {
      const searched = text === '' ? [] : sources.filter(([list]) => collections.value.has(list));
      const pages = await Promise.all(
        searched.map(async ([list, filter]) => {
          const query = new URLSearchParams({ [filter]: text, page_size: String(maxPerList) });
          return { list, ...(await readPage(`/api/${list}/?${query}`)) };
        }),
      );
      if (!isCurrent) return;
      // Both names of a user may match.
      const byLink = new Map(
        pages.flatMap(({ items, list }) => items.map((item) => [textOf(item, 'url'), [list, item] as const])),
      );
      setFound([...byLink.values()]);
      setProblem(pages.find((page) => page.problem)?.problem ?? '');
    }, searchDelayMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [typed]);
  return { objects: items.map((item, i) => objectChoice(found[i]?.[0] ?? '', item)), problem };
}

function objectChoice(list: string, item: Item): Choice {
  const path = hrefOfLink(textOf(item, 'url')).slice(1);
  const owner = placeName(item) || textOf(item, 'username');
  const type = textOf(item, 'resource_type');
  const kind = type === '' ? '' : t(kindOfType(type).word);
  return {
    key: `object${path.replaceAll('/', '-')}`,
    group: titleOf(list),
    title: nameOf(item),
    icon: type === '' ? iconOfList(listOf(item)) : kindOfType(type).icon,
    kind: joinedText([kind, owner]),
    ...(type !== '' && { item }),
    choose: () => go(path),
  };
}

/** A title with the matching part highlighted. */
function Highlighted({ title, text }: { readonly title: string; readonly text: string }): JSX.Element {
  const start = text.trim() === '' ? -1 : startOf(title, text.trim());
  const end = start + text.trim().length;
  // Folding may change the length, which makes positions in the title wrong.
  if (start < 0 || foldText(title).length !== title.length) return <>{title}</>;
  return (
    <>
      {title.slice(0, start)}
      <mark>{title.slice(start, end)}</mark>
      {title.slice(end)}
    </>
  );
}

/** Returns the position of a text in a title; -1 if the title matches only by separate words. */
const startOf = (title: string, text: string): number => foldText(title).indexOf(foldText(text));

/** Sorts prefix matches first, and matches by separate words last. */
const rankOf = (title: string, text: string): number => {
  const start = startOf(title, text.trim());
  return start < 0 ? Number.MAX_SAFE_INTEGER : start;
};

const recentsFor = (text: string): readonly Choice[] =>
  recents.value
    .filter(({ title }) => hasWords(title, text))
    .slice(0, maxPerList)
    .map(({ icon, kind, path, title }) => ({
      key: `recent${path.replaceAll('/', '-')}`,
      group: t('Recent'),
      title,
      icon,
      kind,
      choose: () => go(path),
    }));

/** Returns the pages of the sidebar, then every other list. */
function pagesFor(text: string): readonly Choice[] {
  const main = navigation().flatMap(({ destinations }) => destinations);
  const others =
    text === '' ? [] : [...collections.value.values()].filter(({ name }) => !main.some((one) => one.name === name));
  const all = [...main, ...others.map(({ name, title }) => ({ name, title }))];
  return all
    .filter(({ title }) => hasWords(title, text))
    .sort((a, b) => rankOf(a.title, text) - rankOf(b.title, text))
    .slice(0, maxPlaces)
    .map(({ name, title }) => ({
      key: `page-${name}`,
      group: t('Pages'),
      title,
      icon: name === '' ? 'home' : name,
      kind: '',
      choose: () => go(name === '' ? '/' : `/${name}/`),
    }));
}

/** Returns the enabled buttons of the page, except those of forms. */
function actionsFor(text: string, max?: number): readonly Choice[] {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>('main .acts > button, main .card > header button')];
  const fromMenu = pageMenu.value
    .filter(({ onSelect, reason }) => onSelect !== undefined && reason === undefined)
    .map(({ onSelect, title }) => ({ title, act: () => onSelect?.() }));
  const fromButtons = buttons
    .filter((button) => button.closest('form, dialog') === null && button.ariaDisabled !== 'true' && !button.disabled)
    .filter((button) => button.ariaHasPopup !== 'menu')
    .map((button) => ({
      title: button.ariaLabel ?? button.textContent?.trim() ?? '',
      act: () => {
        // Focus it first, because a dialog will restore the focus to it.
        button.focus();
        button.click();
      },
    }));
  return [...fromButtons, ...fromMenu]
    .filter(({ title }) => title !== '' && hasWords(title, text))
    .slice(0, max)
    .map(({ act, title }, index) => ({
      key: `action-${index}`,
      group: t('On this page'),
      title,
      icon: 'next',
      kind: '',
      choose: act,
    }));
}
