/**
 * What the thread of single sign-on does: all that reads or writes XML. What goes in and comes out is copied, so it is plain,
 * and knows nothing of requests or the database.
 */
import { readMetadata } from './idp-metadata.ts';
import { loginUrl, logoutReplies, logoutUrl } from './library.ts';
import { checkLogout, issuerOfLogout } from './logout-message.ts';
import { checkResponse, matchingRequest } from './response.ts';

export const tasks = {
  readMetadata,
  loginUrl,
  logoutUrl,
  logoutReplies,
  answeredRequest: matchingRequest,
  checkResponse,
  issuerOfLogout,
  checkLogout,
};

type Tasks = typeof tasks;
export type TaskName = keyof Tasks;
/** What a task is given. */
export type Given<N extends TaskName> = Parameters<Tasks[N]>[0];
/** What it comes to. */
export type Made<N extends TaskName> = Awaited<ReturnType<Tasks[N]>>;
