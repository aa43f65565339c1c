import type { Config } from '../../kernel/config/config.ts';
import { urlOf } from '../../kernel/url.ts';

const place = '{uuid}';

/** The page an invitation leads to; `key` is its secret. */
export const linkOf = (template: string, key: string): string => template.replaceAll(place, key);

/**
 * Scheme, host and port, then the rest: no user before the host, and nothing hidden or on which programs disagree where the
 * host ends.
 */
const webLink = /^https?:\/\/[^\s\p{Cc}\p{Cf}\\<>"/?#@]+(?:[/?#][^\s\p{Cc}\p{Cf}\\<>"]*)?$/iu;

/** A secret that can be part of a host, but not of a port. */
const someSecret = 'a'.repeat(32);

type HostSettings = Pick<Config, 'allowed_origins' | 'base_url' | 'link_template_hosts' | 'login_completed_url'>;

/**
 * The hosts that link templates may name: those of the setting, else those that the deployment's other settings name. None:
 * any host.
 */
function allowedHosts(config: HostSettings): readonly string[] {
  if (config.link_template_hosts.length > 0) return config.link_template_hosts;
  const own = [config.base_url, config.login_completed_url].flatMap((url) => urlOf(url ?? '')?.host ?? []);
  return [...own, ...config.allowed_origins.map((origin) => origin.replace(/^https?:\/\//, ''))];
}

/** Whether a URL names a host of the list; `*` is any host, at the start of a name one label, and as a port any port. */
function namesHost(url: URL, pattern: string): boolean {
  const [, host = '', port = '*'] = /^(\*|\[.*\]|[^:]*)(?::(\d+|\*))?$/.exec(pattern) ?? [];
  if (port !== '*' && port !== (url.port || (url.protocol === 'https:' ? '443' : '80'))) return false;
  if (!host.startsWith('*.')) return host === '*' || host === url.hostname;
  const [label = '', ...rest] = url.hostname.split('.');
  return label !== '' && rest.join('.') === host.slice('*.'.length);
}

/**
 * What is wrong with a link template: it must hold `{uuid}`, lead to a web page, and to one of the allowed hosts where the
 * deployment has such a list.
 */
export function linkTemplateProblem(template: string, config: HostSettings): string | undefined {
  if (!template.includes(place)) return `Link template must include '${place}' parameter.`;
  const link = linkOf(template, someSecret);
  const url = webLink.test(link) ? urlOf(link) : undefined;
  if (!url) return 'Enter a valid URL.';
  const hosts = allowedHosts(config);
  return hosts.length === 0 || hosts.some((host) => namesHost(url, host)) ? undefined : 'Host is not allowed.';
}
