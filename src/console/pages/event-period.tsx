/** Chooses the period of the displayed events: a preset or a range of days. */
import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { go, hrefOf, place } from '../api/route.ts';
import { RemovableChip } from '../components/filters.tsx';
import { Icon } from '../components/icons.tsx';
import { Popover } from '../components/popover.tsx';
import { FilterForm } from '../components/text-filter.tsx';
import { dayText } from '../format/text.ts';
import { t } from '../i18n/words.ts';

const hour = 3600;

const ranges = (): readonly (readonly [title: string, seconds: number])[] => [
  [t('Last hour'), hour],
  [t('Last day'), 24 * hour],
  [t('Last week'), 7 * 24 * hour],
  [t('Last 30 days'), 30 * 24 * hour],
];

/** The query parameter that disables the default period of a page. */
export const allTimes = 'all';

/** Returns the query with a different period, in UNIX timestamps. */
function withPeriod(from?: number, to?: number): URLSearchParams {
  const query = new URLSearchParams(place.value.query);
  for (const name of ['page', 'before', 'from', 'to', 'event', 'shown', 'record', allTimes]) query.delete(name);
  if (from !== undefined) query.set('from', String(from));
  if (to !== undefined) query.set('to', String(to));
  return query;
}

/** Parses a UNIX timestamp; undefined for null and other text. */
export const instantIn = (text: string | null): number | undefined =>
  text !== null && /^\d{1,12}$/.test(text) ? Number(text) : undefined;

/** Formats a period, such as `18 Nov – 20 Nov` or `since 18 Nov`. */
function periodText(from: string | null, to: string | null): string {
  if (from === null && to === null) return t('all times');
  const [first, last] = [from, to].map((text, index) => {
    const seconds = instantIn(text);
    return seconds === undefined ? text : dayText((seconds - index) * 1000);
  });
  if (!first) return t('until {day}', { day: last ?? '' });
  if (!last) return t('since {day}', { day: first });
  return first === last ? first : `${first} – ${last}`;
}

/** The period as a chip. Without a period, or with the default one, the chip opens the choices. */
export function PeriodChip({ usual }: { readonly usual?: string }): JSX.Element {
  const { path, query } = place.value;
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const [from, to] = [query.get('from'), query.get('to')];
  if (from !== null || to !== null || query.has(allTimes))
    return <RemovableChip label={t('Period')} value={periodText(from, to)} onRemove={() => go(path, withPeriod())} />;
  return (
    <>
      <button
        ref={button}
        type="button"
        class={usual === undefined ? 'chip' : 'chip set'}
        aria-haspopup="true"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {usual === undefined ? (
          <>
            <Icon name="create" size="sm" />
            {t('Period')}
          </>
        ) : (
          <>
            {t('Period')}: <b>{usual}</b>
            <Icon name="expand" size="sm" />
          </>
        )}
      </button>
      {isOpen && (
        <Popover anchor={() => button.current} onClose={() => setOpen(false)}>
          <Periods hasAll={usual !== undefined} onChoose={() => setOpen(false)} />
        </Popover>
      )}
    </>
  );
}

function Periods({ hasAll, onChoose }: { readonly hasAll: boolean; readonly onChoose: () => void }): JSX.Element {
  const { path } = place.value;
  const everything = withPeriod();
  everything.set(allTimes, 'true');
  // Round to the minute, so that a refresh sends the same request.
  const now = Math.ceil(Date.now() / 60_000) * 60;
  return (
    <FilterForm
      onSubmit={(form) => {
        const data = new FormData(form);
        const [from, to] = ['from', 'to'].map((name, days) => {
          const day = new Date(`${String(data.get(name))}T00:00`);
          day.setDate(day.getDate() + days);
          return Number.isNaN(day.getTime()) ? undefined : day.getTime() / 1000;
        });
        onChoose();
        go(path, withPeriod(from, to));
      }}
    >
      <div class="row tight">
        {ranges().map(([title, seconds]) => (
          <a key={title} class="btn sm" href={hrefOf(path, withPeriod(now - seconds))} onClick={onChoose}>
            {title}
          </a>
        ))}
        {hasAll && (
          <a class="btn sm" href={hrefOf(path, everything)} onClick={onChoose}>
            {t('All times')}
          </a>
        )}
      </div>
      {[
        ['from', t('First day')],
        ['to', t('Last day')],
      ].map(([name, title]) => (
        <div key={name} class="field">
          <label for={`period-${name}`}>{title}</label>
          <input id={`period-${name}`} class="input" type="date" name={name} />
        </div>
      ))}
    </FilterForm>
  );
}
