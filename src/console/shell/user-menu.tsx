/** The user menu: profile, keys, sessions, language, appearance, sign-out. */
import type { JSX } from 'preact';
import { hrefOf, hrefOfLink } from '../api/route.ts';
import { impersonation, isStaff, me, signOut } from '../api/session.ts';
import { Icon } from '../components/icons.tsx';
import { Menu, type MenuItem } from '../components/menu.tsx';
import { Avatar, nameOf } from '../components/values.tsx';
import { chooseLanguage, type Language, language, languages, t, titleOf } from '../i18n/words.ts';
import { textOf } from '../item.ts';
import { type Appearance, appearance, chooseAppearance } from './appearance.ts';
import { showShortcuts } from './shortcuts.tsx';

const appearances: readonly Appearance[] = ['system', 'light', 'dark'];

/** Returns the name of an appearance. */
const appearanceTitle = (name: Appearance): string =>
  ({ system: t('System'), light: t('Light'), dark: t('Dark') })[name];

export function UserMenu(): JSX.Element {
  const user = me.value ?? {};
  const uuid = textOf(user, 'uuid');
  const names = Object.keys(languages) as Language[];
  const next = names[(names.indexOf(language.value) + 1) % names.length] ?? 'en';
  const items: readonly MenuItem[] = [
    { title: t('Profile'), icon: 'user', href: hrefOfLink(textOf(user, 'url')) },
    { title: titleOf('keys'), icon: 'keys', href: hrefOf('/keys/', { user_uuid: uuid }) },
    ...(impersonation.value
      ? []
      : [{ title: titleOf('sessions'), icon: 'sessions', href: hrefOf('/sessions/', { user_uuid: uuid }) }]),
    {
      title: t('Language'),
      icon: 'language',
      hint: languages[language.value],
      isSeparated: true,
      onSelect: () => chooseLanguage(next),
    },
    {
      title: t('Appearance'),
      icon: 'appearance',
      hint: appearanceTitle(appearance.value),
      onSelect: () => chooseAppearance(nextAppearance()),
    },
    { title: t('Keyboard shortcuts'), icon: 'keyboard', hint: <kbd class="key">?</kbd>, onSelect: showShortcuts },
    { title: t('Sign out'), icon: 'leave', isSeparated: true, onSelect: () => void signOut() },
  ];
  return (
    <Menu class="user" label={t('User menu')} hasText items={items}>
      <span class="unseen">{t('User menu')}</span>
      <Avatar name={nameOf(user)} />
      <span class="unseen-narrow">{nameOf(user)}</span>
      {isStaff.value && <span class="badge line not-narrow">{titleOf('is_staff')}</span>}
      <span class="not-narrow">
        <Icon name="expand" size="sm" />
      </span>
    </Menu>
  );
}

const nextAppearance = (): Appearance =>
  appearances[(appearances.indexOf(appearance.value) + 1) % appearances.length] ?? 'system';

/** Chooses between light, dark and the system setting. */
export const AppearanceMenu = (): JSX.Element => (
  <Menu
    class="btn quiet icon-only not-narrow"
    label={t('Appearance: {name}', { name: appearanceTitle(appearance.value) })}
    items={appearances.map((name) => ({
      title: appearanceTitle(name),
      isChecked: name === appearance.value,
      onSelect: () => chooseAppearance(name),
    }))}
  >
    <Icon name={appearance.value === 'system' ? 'appearance' : appearance.value} />
  </Menu>
);
