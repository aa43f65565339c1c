import type { Request } from '../../../kernel/access/request.ts';
import type { App } from '../../../kernel/app.ts';
import { HttpError } from '../../../kernel/http/error.ts';
import { embeddedThread } from '../../../kernel/native/embedded.ts';
import { prefixOf } from '../../../kernel/net/prefix.ts';
import { errorOf } from '../../../kernel/present.ts';
import { TaskError, TaskThread } from '../../../kernel/threads/task-thread.ts';
import { RejectedMessage } from './refused-message.ts';
import type { Given, Made, TaskName } from './tasks.ts';

declare module '../../../kernel/app.ts' {
  interface App {
    /** The thread that checks messages of single sign-on. */
    readonly samlThread: TaskThread;
  }
}

/** Milliseconds for a message: fifty times what the largest that is allowed takes. */
const messageTime = 5000;
/** Milliseconds for metadata, which the operator has chosen: of a thousand identity providers it takes some seconds. */
const metadataTime = 120_000;

/** 503: what is said where too many messages wait to be checked. */
export const samlCrowded = (): Error =>
  new HttpError(503, { detail: 'Too many logins at once. Try again.' }, { 'Retry-After': '1' });

/** The thread of single sign-on, which starts with its first task. */
export const samlThread = (): TaskThread =>
  new TaskThread(() => embeddedThread('accounts/session/saml/thread'), samlCrowded);

/** What the thread makes of a message for this request. Rejects with TaskError and 503. */
export const ask = <N extends TaskName>(
  { address, app }: Pick<Request, 'address' | 'app'>,
  name: N,
  input: Given<N>,
): Promise<Made<N>> => app.samlThread.run({ name, input }, { holder: prefixOf(address), milliseconds: messageTime });

/** The identity providers that metadata tells of. Rejects with TaskError. */
export const askOfMetadata = (app: App, input: Given<'readMetadata'>): Promise<Made<'readMetadata'>> =>
  app.samlThread.run({ name: 'readMetadata', input }, { holder: '', milliseconds: metadataTime });

/** Why a message is not taken, from what reading and checking it has thrown. Throws it on when that is an answer. */
export function denialOf(thrown: unknown): RejectedMessage {
  if (thrown instanceof HttpError) throw thrown;
  if (thrown instanceof RejectedMessage) return thrown;
  return new RejectedMessage(errorOf(thrown).message, thrown instanceof TaskError ? thrown.displayed : undefined);
}
