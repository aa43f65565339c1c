import { version } from '../../kernel/app.ts';
import { type Config, environmentName, type SettingName } from '../../kernel/config/config.ts';
import { embeddedLicenses } from '../../kernel/native/embedded.ts';
import { inNetworks, parseNetworks } from '../../kernel/net/networks.ts';
import { codeOf } from '../../kernel/present.ts';
import { api } from '../compose/api.ts';
import { builtIn } from '../compose/providers.ts';
import { openApi, serverPath } from '../docs/openapi.ts';
import { printSetting, secretSettings, settingNames, settings, sourceOf } from '../settings.ts';
import type { Arguments } from './command-line.ts';

/* Standard output, and the commands that print something without opening data. */

/**
 * Handles errors of standard output. Ignores a closed pipe, such as from `head`. Any other error, such as a full disk, prints one
 * line and sets exit code 1.
 */
export function handleOutputErrors(): void {
  process.stdout.on('error', (error) => {
    if (codeOf(error) === 'EPIPE') return;
    process.stderr.write(`tenantry: cannot write to standard output: ${error.message}\n`);
    process.exitCode = 1;
  });
}

/**
 * Returns a warning if staff_networks contains neither this machine nor the client of the current SSH session: the operator
 * probably uses the API from one of them.
 */
export function lockoutWarning(
  { staff_networks: networks }: Pick<Config, 'staff_networks'>,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const [remote] = (env.SSH_CONNECTION ?? '').split(' ').filter((word) => word !== '');
  const own = ['127.0.0.1', '::1', ...(remote === undefined ? [] : [remote])];
  if (networks.length === 0 || own.some((address) => inNetworks(address, parseNetworks(networks)))) return undefined;
  const missing =
    remote === undefined ? 'does not contain this machine' : `contains neither this machine nor ${remote}`;
  return `staff_networks ${missing}: you will have no staff rights from here`;
}

/** Prints that warning to standard error. */
export function warnOfLockout(config: Config): void {
  const warning = lockoutWarning(config, process.env);
  if (warning !== undefined) process.stderr.write(`tenantry: warning: ${warning}\n`);
}

/** `tenantry config`: prints the settings with their values and sources. */
export function printConfig({ config, flags, sources }: Arguments): void {
  warnOfLockout(config);
  const rows = settingNames.map((name) => ({
    name,
    setting: settings[name],
    value: printSetting(name, config[name]),
    fallback: printSetting(name, settings[name].fallback),
  }));
  if (flags.markdown) {
    const lines = rows.map(
      ({ name, setting, fallback }) =>
        `| \`${name}\` | ${setting.kind} | ${fallback === '' ? '' : `\`${fallback}\``} | ${setting.help} |`,
    );
    process.stdout.write(`${['| Setting | Kind | Default | Meaning |', '|---|---|---|---|', ...lines].join('\n')}\n`);
    return;
  }
  for (const { name, setting, value } of rows) {
    const source = sourceOf(name, sources);
    const origin = source === undefined ? '' : `# From ${source}.\n`;
    process.stdout.write(
      `# ${setting.help}\n${origin}${flags.file ? fileLine(name, value, source) : `${environmentName(name)}=${value}`}\n`,
    );
  }
}

/** Returns a line of a configuration file. Defaults and secrets are comments. */
function fileLine(name: SettingName, value: string, source: string | undefined): string {
  const isHidden = secretSettings.has(name) && value !== '';
  return `${source === undefined || isHidden ? '# ' : ''}${name} = ${isHidden ? '(not printed)' : value}`.trimEnd();
}

/** `tenantry openapi`: prints the OpenAPI document, indented. */
export function printOpenApi({ config }: Arguments): void {
  process.stdout.write(`${JSON.stringify(openApi(api(builtIn), builtIn, serverPath(config)), null, 2)}\n`);
}

/** `tenantry version`: prints the version alone. */
export function printVersion(): void {
  process.stdout.write(`${version}\n`);
}

/** `tenantry licenses`: prints the licences of the program and its packages. */
export function printLicenses(): void {
  process.stdout.write(embeddedLicenses());
}
