/** Bytes of UTF-8 in an encoded word, which has at most 75 characters (RFC 2047 2). */
const maxWordBytes = 45;

/** A text as encoded words (RFC 2047), folded into lines; a character is never divided between two of them. */
function encodedWords(text: string): string {
  const words: string[] = [''];
  for (const character of text) {
    const longer = words.at(-1) + character;
    if (Buffer.byteLength(longer) > maxWordBytes) words.push(character);
    else words[words.length - 1] = longer;
  }
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join('\r\n ');
}

/**
 * The subject of a mail as nodemailer takes it. Nodemailer leaves ASCII as it is, and mail programs decode encoded words in it:
 * a name that holds one would show there as another text.
 */
export const subjectHeader = (
  subject: string,
): { readonly subject?: string; readonly headers?: { readonly Subject: { prepared: true; value: string } } } =>
  subject.includes('=?') ? { headers: { Subject: { prepared: true, value: encodedWords(subject) } } } : { subject };
