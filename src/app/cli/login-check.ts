/** `tenantry login-check`: checks that users can log in at the configured identity providers. */
import { oidcClients } from '../../accounts/session/oidc/client.ts';
import { readProviders } from '../../accounts/session/oidc/provider-file.ts';
import { readMetadataOnThread, samlThread } from '../../accounts/session/saml/saml-thread.ts';
import { hasPassed, type LoginCheck } from '../../accounts/session/sso/login-check.ts';
import { systemClock } from '../../kernel/clock.ts';
import { withoutControls } from '../../kernel/control-characters.ts';
import { systemResolver } from '../../kernel/net/resolver.ts';
import { checkLogins } from '../operation/login-check.ts';
import { type Arguments, type Commands, groups } from './command-line.ts';

export const loginCheckCommands: Commands = {
  'login-check': {
    words: ['[NAME]'],
    group: groups.configuration,
    help: 'Check the identity providers of the settings',
    details:
      'NAME is an OpenID Connect provider, or a file or URL of SAML metadata; default: all. Print a line for each step: ok, or what to change. Exit with 1 unless all are ok. No user and no data are needed.',
    examples: ['login-check', 'login-check keycloak'],
    run: checkLoginsOfArguments,
  },
};

async function checkLoginsOfArguments({ config, words: [name] }: Arguments): Promise<void> {
  const thread = samlThread();
  const setup = {
    config,
    clients: oidcClients(readProviders(config), systemResolver),
    resolve: systemResolver,
    base: config.base_url ?? undefined,
    now: systemClock.now(),
    parse: (metadata: Parameters<typeof readMetadataOnThread>[1]) =>
      readMetadataOnThread({ samlThread: thread }, metadata),
  };
  const checks = await checkLogins(setup, name).finally(() => thread.close());
  const ignored = ignoredSettings(config);
  if (!checks) throw new Error([`No identity provider of the settings has the name "${name}"`, ...ignored].join('; '));
  if (checks.length === 0) process.stdout.write('no identity providers\n');
  for (const line of ignored) process.stdout.write(`${line}\n`);
  for (const check of checks) print(check);
  if (ignored.length > 0 || !checks.every(hasPassed)) process.exitCode = 1;
}

/** Returns a sentence for each login method whose providers are set but not enabled. */
function ignoredSettings(config: Arguments['config']): string[] {
  const { authentication_methods: methods, saml_idp_metadata_files: files, saml_idp_metadata_urls: urls } = config;
  const isSet = { OIDC: config.oidc_providers_file !== null, SAML2: files.length + urls.length > 0 };
  return (['OIDC', 'SAML2'] as const)
    .filter((method) => isSet[method] && !methods.includes(method))
    .map((method) => `authentication_methods does not include ${method}, so its identity providers are not used`);
}

const protocols = { oidc: 'OpenID Connect', saml: 'SAML' } as const;

function print({ name, protocol, steps }: LoginCheck): void {
  const width = Math.max(...steps.map(({ step }) => step.length));
  const lines = steps.map(({ result, step }) => `  ${step.padEnd(width)}  ${result}`);
  process.stdout.write(`${[`${name} (${protocols[protocol]})`, ...lines].map(withoutControls).join('\n')}\n`);
}
