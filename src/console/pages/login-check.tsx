/** Checks the identity providers and shows what to change. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { problemOf } from '../api/api.ts';
import { configuration } from '../api/configuration.ts';
import { api, responseOf } from '../api/connection.ts';
import { Button } from '../components/button.tsx';
import { Card, ErrorCallout } from '../components/card.tsx';
import { Check, Checks } from '../components/timeline.tsx';
import { serverText, t } from '../i18n/words.ts';

interface LoginCheck {
  readonly name: string;
  readonly steps: readonly { readonly step: string; readonly result: string }[];
}

/** Titles of the steps by their API names. */
const titles = (): Readonly<Record<string, string>> => ({
  discovery: t('Discovery document'),
  issuer: t('Issuer'),
  keys: t('Keys'),
  redirect_uri: t('Redirect URI'),
  client: t('Client authentication'),
  clock: t('Clock'),
  download: t('Download'),
  metadata: t('Metadata'),
  login: t('Login'),
});

/** Renders nothing if users sign in only by password. */
export function LoginCheckCard(): JSX.Element | null {
  const [checks, setChecks] = useState<readonly LoginCheck[]>([]);
  const [problem, setProblem] = useState('');
  const { methods = [] } = configuration.value ?? {};
  if (!methods.includes('OIDC') && !methods.includes('SAML2')) return null;
  return (
    <Card title={t('Identity providers')}>
      <ErrorCallout text={problem} />
      {checks.map(({ name, steps }) => (
        <section key={name} aria-label={name}>
          <h3>{name}</h3>
          <Checks>
            {steps.map(({ result, step }) => (
              <Check key={step} state={result === 'ok' ? 'good' : 'bad'} title={titles()[step] ?? step}>
                {result !== 'ok' && <span class="sub">{serverText(result)}</span>}
              </Check>
            ))}
          </Checks>
        </section>
      ))}
      <Button
        small
        onClick={async () => {
          const response = await responseOf(api.POST('/api/operation/login-check/', { body: {} }));
          setProblem(response.isOk ? '' : problemOf(response.body) || t('Try again'));
          if (response.isOk) setChecks(response.body);
        }}
      >
        {t('Check the identity providers')}
      </Button>
    </Card>
  );
}
