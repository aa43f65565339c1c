import PostalMime, { type Email } from 'postal-mime';
import type { Fixture } from './fixture.ts';

/** The mails that a server in memory has stored without a mail server, oldest first, after all due work. */
export async function sentMails(fixture: Fixture): Promise<Email[]> {
  await fixture.server.settled();
  return Promise.all(fixture.server.app.mailStore.inMemory.map(({ message }) => PostalMime.parse(message)));
}

/** The secret in the link of a mail. Throws when there is none. */
export function secretIn({ text }: Pick<Email, 'text'>): string {
  const [secret] = /\b[0-9a-f]{32}\b/.exec(text ?? '') ?? [];
  if (secret === undefined) throw new Error(`no secret in ${text}`);
  return secret;
}

/** The secret in the newest of them. */
export async function newestSecret(fixture: Fixture): Promise<string> {
  const mail = (await sentMails(fixture)).at(-1);
  if (!mail) throw new Error('There is no mail.');
  return secretIn(mail);
}
