import { X509Certificate } from 'node:crypto';
import { FieldError } from '../../kernel/collection/field.ts';

const block = /-----BEGIN ([^\n]*?)-----[^-]*-----END \1-----/g;

/**
 * The certificates of a PEM file, without the text that may stand between them. Throws FieldError where there is none, where
 * one cannot be read, and where the file holds anything else, such as a private key.
 */
export function certificatesIn(text: string): string {
  const blocks = [...text.matchAll(block)];
  const others = text.replace(block, '').includes('-----') || blocks.some(([, label]) => label !== 'CERTIFICATE');
  if (others) throw new FieldError(['Upload a file with PEM certificates only.']);
  if (blocks.length === 0) throw new FieldError(['The file contains no PEM certificate.']);
  for (const [index, [certificate]] of blocks.entries())
    if (!isCertificate(certificate)) throw new FieldError([`Certificate ${index + 1} of the file cannot be read.`]);
  return blocks.map(([certificate]) => `${certificate}\n`).join('');
}

function isCertificate(text: string): boolean {
  try {
    new X509Certificate(text);
    return true;
  } catch {
    return false;
  }
}
