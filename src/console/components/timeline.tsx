/** Events, newest first. */
import type { ComponentChildren, JSX } from 'preact';
import type { Tone } from '../format/status.ts';
import { exactTime } from '../format/text.ts';
import { instantText } from '../i18n/words.ts';
import { Icon } from './icons.tsx';
import { Time } from './values.tsx';

/** One entry: a mark, a sentence, and content below it. */
interface TimelineEntry {
  readonly key: string;
  readonly icon: string;
  readonly tone?: Tone | undefined;
  readonly title: ComponentChildren;
  readonly sub?: ComponentChildren;
  readonly time: string;
  /** The address of the details, if there are any. */
  readonly href?: string | undefined;
  readonly isOpen?: boolean | undefined;
}

export const Timeline = ({
  entries,
  isFlat = false,
  hasClock = false,
}: {
  readonly entries: readonly TimelineEntry[];
  readonly isFlat?: boolean;
  /** Whether to show only the time of day, because a heading has the date. */
  readonly hasClock?: boolean;
}) => (
  <ul class={`timeline${isFlat ? ' flat' : ''}${hasClock ? ' clock' : ''}`}>
    {entries.map(({ href, icon, isOpen, key, sub, time, title, tone }) => (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the same
      <li
        key={key}
        class={href === undefined ? undefined : isOpen ? 'leads open' : 'leads'}
        onClick={(event) => {
          const isControl = event.target instanceof Element && event.target.closest('a, button');
          if (href !== undefined && !isControl && getSelection()?.isCollapsed !== false) location.hash = href;
        }}
      >
        <span class={`mark ${tone ?? ''}`} aria-hidden="true">
          <Icon name={icon} />
        </span>
        <p>
          {title}
          {sub !== undefined && sub !== '' && <span class="sub">{sub}</span>}
        </p>
        {href === undefined ? (
          <When time={time} hasClock={hasClock} />
        ) : (
          <a href={href} class="when" aria-current={isOpen ? 'true' : undefined}>
            <When time={time} hasClock={hasClock} />
          </a>
        )}
      </li>
    ))}
  </ul>
);

const When = ({ time, hasClock }: { readonly time: string; readonly hasClock: boolean }): JSX.Element =>
  hasClock ? (
    <time dateTime={time} title={exactTime(time)}>
      {instantText(Date.parse(time), { hour: '2-digit', minute: '2-digit' })}
    </time>
  ) : (
    <Time value={time} />
  );

/** A list of checks or steps with their states. */
export const Checks = ({ children }: { readonly children: ComponentChildren }): JSX.Element => (
  <ul class="checks">{children}</ul>
);

export const Check = ({
  state,
  title,
  children,
}: {
  readonly state: 'good' | 'bad' | 'warn' | 'wait';
  readonly title: ComponentChildren;
  readonly children?: ComponentChildren;
}): JSX.Element => (
  <li class={state}>
    <Icon name={state === 'wait' ? 'idle' : state} />
    <div class="words">
      <b>{title}</b>
      {children}
    </div>
  </li>
);
