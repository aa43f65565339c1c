/** Names the programs of sessions by their user agents. */
import { t } from '../i18n/words.ts';
import { type Item, textOf } from '../item.ts';

/** Program names by user agent. The first match wins, because most browsers also list the names of others. */
const browsers: readonly (readonly [name: string, mark: RegExp])[] = [
  ['Edge', /Edg\w*\//],
  ['Opera', /OPR\//],
  ['Firefox', /(Firefox|FxiOS)\//],
  ['Chrome', /(Chrom(e|ium)|CriOS)\//],
  ['Safari', /Safari\//],
];
const systems: readonly (readonly [name: string, mark: RegExp])[] = [
  ['Windows', /Windows/],
  ['Android', /Android/],
  ['iOS', /iPhone|iPad/],
  ['macOS', /Mac OS X/],
  ['Linux', /Linux/],
];

/** Returns the name of the program of a session. */
export function programOf(session: Item): string {
  const agent = textOf(session, 'user_agent');
  const find = (known: typeof browsers): string => known.find(([, mark]) => mark.test(agent))?.[0] ?? '';
  const [browser, system] = [find(browsers), find(systems)];
  if (browser !== '' && system !== '') return t('{program} on {system}', { program: browser, system });
  if (agent !== '') return browser || (agent.split(/[ (]/)[0] ?? agent);
  return textOf(session, 'method') === 'operator' ? t('Operator token') : t('Unknown program');
}
