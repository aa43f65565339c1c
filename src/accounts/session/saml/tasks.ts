/**
 * The tasks of the single sign-on thread: everything that reads or writes XML. Input and results are copied between threads, so
 * they are plain data without requests or the database.
 */
import { readMetadata } from './idp-metadata.ts';
import { loginUrl, logoutReplies, logoutUrl } from './library.ts';
import { checkLogout, issuerOfLogout } from './logout-message.ts';
import { checkResponse, requestIdOf } from './response.ts';

export const tasks = {
  readMetadata,
  loginUrl,
  logoutUrl,
  logoutReplies,
  requestIdOf,
  checkResponse,
  issuerOfLogout,
  checkLogout,
};

type Tasks = typeof tasks;
export type TaskName = keyof Tasks;

/** A task with its input, as sent to the thread. */
export interface Task<N extends TaskName> {
  readonly name: N;
  readonly input: TaskInput<N>;
}

export type TaskInput<N extends TaskName> = Parameters<Tasks[N]>[0];
export type TaskResult<N extends TaskName> = Awaited<ReturnType<Tasks[N]>>;
