import { escaped } from './html.ts';

/** Subject and both parts of a mail. */
export interface Letter {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
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
