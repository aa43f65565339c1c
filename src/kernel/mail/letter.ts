/** Subject and both parts of a mail. */
export interface Letter {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** One mail to one person; sender and transport are the deployment's. */
export interface Mail extends Letter {
  readonly to: string;
  /** Identifies the mail in every attempt to send it, so that a receiver can recognise a repeated one. */
  readonly id: string;
  /** Instant in its Date header, in microseconds. */
  readonly at: number;
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Builds a mail of a few sentences, each a line or a paragraph, with an optional link. */
export function letter(subject: string, sentences: readonly string[], link?: string): Letter {
  const paragraphs = sentences.map((sentence) => `<p>${escaped(sentence)}</p>\n`).join('');
  if (link === undefined) return { subject, text: sentences.join('\n'), html: paragraphs };
  const href = escaped(link);
  return {
    subject,
    text: [...sentences, link].join('\n'),
    html: `${paragraphs}<p><a href="${href}">${href}</a></p>\n`,
  };
}

/** Maximum length of a name in a mail. */
const maxNameLength = 60;

/** Text that mail programs turn into links: a scheme and its rest, `www.`, and a host with a path. */
const linkText = /(?:[a-z][a-z\d+.-]*:\/\/|mailto:|\bwww\.)\S*|(?:[\p{L}\p{N}_-]+\.)+\p{L}{2,}(?::\d+)?\/\S*/giu;

/** Removes text that mail programs would turn into links. */
export const withoutLinks = (text: string): string => text.replace(linkText, '[link]');

/**
 * Returns a name for the subject or text of a mail. Users choose names freely, so the result is one line
 * that cannot imitate another part of the mail, contains no links, and is too short for a message.
 */
export function nameInMail(name: string): string {
  const line = withoutLinks(name.replace(/[\s\p{Cc}]+/gu, ' '));
  return [...line.trim()].slice(0, maxNameLength).join('').trimEnd();
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for HTML elements and quoted attributes. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);
