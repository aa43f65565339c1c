/** Events, newest first. */
import type { ComponentChildren, JSX } from 'preact';
import type { Tone } from '../format/status.ts';
import { Icon } from './icons.tsx';
import { Time } from './values.tsx';

/** One entry: its mark, a sentence, and the content below it. */
interface TimelineEntry {
  readonly key: string;
  readonly icon: string;
  readonly tone?: Tone | undefined;
  readonly title: ComponentChildren;
  readonly sub?: ComponentChildren;
  readonly time: string;
  /** Opens the details of the entry, if it has any. */
  readonly href?: string | undefined;
  readonly isOpen?: boolean | undefined;
}

export const Timeline = ({
  entries,
  isFlat = false,
}: {
  readonly entries: readonly TimelineEntry[];
  readonly isFlat?: boolean;
}) => (
  <ul class={isFlat ? 'timeline flat' : 'timeline'}>
    {entries.map(({ href, icon, isOpen, key, sub, time, title, tone }) => (
      <li key={key} class={isOpen ? 'open' : undefined}>
        <span class={`mark ${tone ?? ''}`} aria-hidden="true">
          <Icon name={icon} />
        </span>
        <p>
          {title}
          {sub !== undefined && <span class="sub">{sub}</span>}
        </p>
        {href === undefined ? (
          <Time value={time} />
        ) : (
          <a href={href} class="muted" aria-current={isOpen ? 'true' : undefined}>
            <Time value={time} />
          </a>
        )}
      </li>
    ))}
  </ul>
);

/** A list of checks or steps with their states. */
export const Checks = ({ children }: { readonly children: ComponentChildren }): JSX.Element => (
  <ul class="checks">{children}</ul>
);

export const Check = ({
  state,
  title,
  action,
  children,
}: {
  readonly state: 'good' | 'bad' | 'warn' | 'wait';
  readonly title: ComponentChildren;
  readonly action?: ComponentChildren;
  readonly children?: ComponentChildren;
}): JSX.Element => (
  <li class={state}>
    <Icon name={state === 'wait' ? 'idle' : state} />
    <div class="words">
      <b>{title}</b>
      {children}
    </div>
    {action}
  </li>
);
