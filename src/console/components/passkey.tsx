import type { JSX } from 'preact';
import { fieldProblems, problemOf } from '../api/api.ts';
import type { ApiResponse } from '../api/connection.ts';
import { type Credential, getPasskey } from '../api/passkeys.ts';
import { t } from '../i18n/words.ts';
import { Button } from './button.tsx';

/** A response with passkey options, or a rejection. */
type Options = Pick<ApiResponse<unknown>, 'isOk' | 'body'>;

/** A button that prompts for a passkey. `send` receives the credential, `onProblem` an error (empty at a new attempt). */
export function PasskeyButton({
  title = t('Use a passkey'),
  isPrimary = false,
  options,
  send,
  onProblem,
}: {
  readonly title?: string;
  readonly isPrimary?: boolean;
  /** Requests the options from the server. */
  readonly options: () => Promise<Options>;
  readonly send: (credential: Credential) => Promise<ApiResponse<unknown>>;
  readonly onProblem: (text: string) => void;
}): JSX.Element {
  const use = async (): Promise<string> => {
    const response = await options();
    if (!response.isOk) return problemOf(response.body) || t('Try again');
    const result = await getPasskey(response.body);
    if ('problem' in result) return result.problem;
    const { body, isOk } = await send(result.credential);
    if (isOk) return '';
    return problemOf(body) || Object.values(fieldProblems(body)).join(' ') || t('Try again');
  };
  return (
    <Button
      kind={isPrimary ? 'primary' : undefined}
      onClick={async () => {
        onProblem('');
        onProblem(await use());
      }}
    >
      {title}
    </Button>
  );
}
