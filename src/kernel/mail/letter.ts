import { escaped } from './text.ts';

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
