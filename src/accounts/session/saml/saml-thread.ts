import type { Request } from '../../../kernel/access/request.ts';
import type { App } from '../../../kernel/app.ts';
import { HttpError } from '../../../kernel/http/error.ts';
import { embeddedThread } from '../../../kernel/native/embedded.ts';
import { prefixOf } from '../../../kernel/net/networks.ts';
import { errorOf } from '../../../kernel/present.ts';
import { TaskError, TaskThread } from '../../../kernel/threads/task-thread.ts';
import { RejectedMessage } from './rejected-message.ts';
import type { Task, TaskInput, TaskName, TaskResult } from './tasks.ts';

declare module '../../../kernel/app.ts' {
  interface App {
    /** The thread that checks single sign-on messages. */
    readonly samlThread: TaskThread;
  }
}

/** Fifty times the time for the largest allowed message. */
const messageTimeoutMs = 5000;
/** Metadata is trusted input. A federation of a thousand identity providers takes a few seconds. */
const metadataTimeoutMs = 120_000;

/** Returns the 503 error for too many waiting messages. */
export const samlOverloaded = (): Error =>
  new HttpError(503, { detail: 'Too many logins at once. Try again.' }, { 'Retry-After': '1' });

/** Creates the single sign-on thread, which starts with its first task. */
export const samlThread = (): TaskThread =>
  new TaskThread(() => embeddedThread('accounts/session/saml/thread'), samlOverloaded);

/** Runs a task on the thread for this request. Rejects with TaskError and 503. */
export const runSamlTask = <N extends TaskName>(
  { address, app }: Pick<Request, 'address' | 'app'>,
  name: N,
  input: TaskInput<N>,
): Promise<TaskResult<N>> =>
  app.samlThread.run<TaskResult<N>>({ name, input } satisfies Task<N>, {
    holder: prefixOf(address),
    milliseconds: messageTimeoutMs,
  });

/** Reads the identity providers of a metadata document on the thread. Rejects with TaskError. */
export const readMetadataOnThread = (
  { samlThread: thread }: Pick<App, 'samlThread'>,
  input: TaskInput<'readMetadata'>,
): Promise<TaskResult<'readMetadata'>> =>
  thread.run<TaskResult<'readMetadata'>>({ name: 'readMetadata', input } satisfies Task<'readMetadata'>, {
    holder: '',
    milliseconds: metadataTimeoutMs,
  });

/** Converts an error about a message to its rejection. Rethrows an HttpError. */
export function rejectionOf(error: unknown): RejectedMessage {
  if (error instanceof HttpError) throw error;
  if (error instanceof RejectedMessage) return error;
  return new RejectedMessage(errorOf(error).message, error instanceof TaskError ? error.displayed : undefined);
}
