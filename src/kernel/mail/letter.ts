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

/** A mail of a few sentences, a line or a paragraph each, and of a link where there is one to follow. */
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

/** Characters of a name that a mail shows. */
const longest = 60;

/** What mail programs make links of: a scheme with what follows it, `www.`, and a host with a path. */
const linkText = /(?:[a-z][a-z\d+.-]*:\/\/|mailto:|\bwww\.)\S*|(?:[\p{L}\p{N}_-]+\.)+\p{L}{2,}(?::\d+)?\/\S*/giu;

/** A text of which a mail program makes no links. */
export const withoutLinks = (text: string): string => text.replace(linkText, '[link]');

/**
 * A name as it stands in the subject or text of a mail. Names are people's own words: they stay on one line, where they
 * cannot pass for another part of the mail, lead nowhere, and are too short for a message.
 */
export function nameInMail(name: string): string {
  const line = withoutLinks(name.replace(/[\s\p{Cc}]+/gu, ' '));
  return [...line.trim()].slice(0, longest).join('').trimEnd();
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text as it stands in HTML, in elements and in quoted attributes. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);
