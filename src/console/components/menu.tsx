/** Menus behind a button, such as "…": lists of actions, with reasons for unavailable ones. */
import type { ComponentChildren, JSX } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icons.tsx';
import { Popover } from './popover.tsx';

export interface MenuItem {
  readonly title: string;
  readonly icon?: string | undefined;
  /** Why it is currently unavailable. Shown as text. */
  readonly reason?: string | undefined;
  readonly isDestructive?: boolean | undefined;
  /** Whether it follows a separator. */
  readonly isSeparated?: boolean | undefined;
  /** Text at the end of the row, such as the current value. */
  readonly hint?: ComponentChildren;
  /** Whether it is the selected choice; undefined for actions. */
  readonly isChecked?: boolean | undefined;
  /** Whether it is one of several independent choices. If so, the menu stays open. */
  readonly isToggle?: boolean | undefined;
  /** Whether it opens a dialog. */
  readonly opensDialog?: boolean | undefined;
  readonly href?: string | undefined;
  readonly onSelect?: (() => void) | undefined;
}

/** A button that opens a menu. `children` is the button's content. `label` names a button with only an icon. */
export function Menu({
  label,
  items,
  class: style = 'btn icon-only',
  align = 'end',
  hasText = false,
  children = <Icon name="more" />,
}: {
  readonly label?: string;
  readonly items: readonly MenuItem[];
  readonly class?: string;
  readonly align?: 'start' | 'end';
  /** Whether the button has visible text. If so, `label` names only the menu. */
  readonly hasText?: boolean;
  readonly children?: ComponentChildren;
}): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  if (items.length === 0) return null;
  return (
    <>
      <button
        ref={button}
        type="button"
        class={style}
        aria-label={hasText ? undefined : label}
        title={hasText ? undefined : label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {children}
      </button>
      {isOpen && (
        <Popover anchor={() => button.current} align={align} onClose={() => setOpen(false)}>
          <MenuItems label={label ?? ''} items={items} onClose={() => setOpen(false)} />
        </Popover>
      )}
    </>
  );
}

/** The items of an open menu. Arrow keys, Home, End and first letters move between them. */
export function MenuItems({
  label,
  items,
  onClose,
}: {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly onClose: () => void;
}): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const rows = (): HTMLElement[] => [...(list.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];
  useLayoutEffect(() => {
    const all = rows();
    (all.find((row) => row.ariaChecked === 'true') ?? all[0])?.focus();
  }, []);
  const select = (item: MenuItem): void => {
    if (item.reason !== undefined) return;
    if (item.isToggle) {
      item.onSelect?.();
      return;
    }
    onClose();
    // Wait until the layer is closed and the button is focused, because a dialog will restore the focus to it.
    if (item.onSelect) requestAnimationFrame(item.onSelect);
  };
  return (
    <div
      ref={list}
      role="menu"
      tabIndex={-1}
      aria-label={label}
      onKeyDown={(event) => {
        const all = rows();
        const at = all.indexOf(document.activeElement as HTMLElement);
        const to = (index: number): void => all[(index + all.length) % all.length]?.focus();
        if (event.key === 'ArrowDown') to(at + 1);
        else if (event.key === 'ArrowUp') to(at - 1);
        else if (event.key === 'Home') to(0);
        else if (event.key === 'End') to(-1);
        else if (event.key === 'Tab') onClose();
        else if (/^\p{L}$/u.test(event.key) && !event.ctrlKey && !event.metaKey) {
          const next = [...all.slice(at + 1), ...all.slice(0, at + 1)];
          next.find((row) => row.textContent?.trim().toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
        } else return;
        if (event.key !== 'Tab') event.preventDefault();
        event.stopPropagation();
      }}
    >
      {items.map((item, at) => (
        <>
          {item.isSeparated && at > 0 && <hr key={`${item.title} above`} />}
          <MenuRow
            key={item.title}
            item={item}
            reasonId={`${id}-${at}`}
            onSelect={() => (item.href === undefined ? select(item) : onClose())}
          />
        </>
      ))}
    </div>
  );
}

const roleOf = ({ isChecked, isToggle }: MenuItem) =>
  isToggle ? 'menuitemcheckbox' : isChecked === undefined ? 'menuitem' : 'menuitemradio';

function MenuRow({
  item,
  reasonId,
  onSelect,
}: {
  readonly item: MenuItem;
  readonly reasonId: string;
  readonly onSelect: () => void;
}): JSX.Element {
  const { hint, href, icon, isChecked, reason, title } = item;
  const content = (
    <>
      {isChecked === undefined ? icon && <Icon name={icon} /> : <Choice isChosen={isChecked} />}
      <span class="words">
        {title}
        {reason !== undefined && (
          <span class="sub" id={reasonId}>
            {reason}
          </span>
        )}
      </span>
      {hint !== undefined && <span class="right muted tiny">{hint}</span>}
    </>
  );
  const common = {
    role: roleOf(item),
    tabIndex: -1,
    class: item.isDestructive && reason === undefined ? 'bad' : undefined,
    'aria-checked': isChecked,
    'aria-disabled': reason !== undefined ? true : undefined,
    'aria-haspopup': item.opensDialog ? 'dialog' : undefined,
    onClick: onSelect,
  } as const;
  return href === undefined ? (
    <button type="button" {...common}>
      {content}
    </button>
  ) : (
    <a {...common} href={href}>
      {content}
    </a>
  );
}

const Choice = ({ isChosen }: { readonly isChosen: boolean }): JSX.Element => (
  <span class={isChosen ? 'tick chosen' : 'tick'} aria-hidden="true">
    {isChosen && <Icon name="acknowledge" />}
  </span>
);
