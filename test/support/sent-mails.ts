import PostalMime, { type Email } from 'postal-mime';
import type { Fixture } from './fixture.ts';

/** Finishes pending work and returns the mails that the in-memory server has stored, oldest first. */
export async function sentMails(fixture: Fixture): Promise<Email[]> {
  await fixture.server.settled();
  return Promise.all(fixture.server.app.mailStore.inMemory.map(({ message }) => PostalMime.parse(message)));
}

/** Returns the secret in the link of a mail. Throws if it has none. */
export function secretIn({ text }: Pick<Email, 'text'>): string {
  const [secret] = /\b[0-9a-f]{32}\b/.exec(text ?? '') ?? [];
  if (secret === undefined) throw new Error(`no secret in ${text}`);
  return secret;
}

/** Returns the secret in the newest mail. */
export async function newestSecret(fixture: Fixture): Promise<string> {
  const mail = (await sentMails(fixture)).at(-1);
  if (!mail) throw new Error('There is no mail.');
  return secretIn(mail);
}
