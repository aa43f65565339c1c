import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { readText } from '../files.ts';
import { errorOf } from '../present.ts';

/** PEM files with a certificate chain and its key. */
interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

/** The certificate that a server presents, and its expiry in milliseconds since 1970. */
export interface Certificate {
  readonly options: SecureContextOptions;
  readonly expires: number;
}

/** Reads a certificate and its key. Throws a readable error if they are not a usable pair. */
export function readCertificate(files: CertificateFiles): Certificate {
  const [cert, key] = [readText(files.cert), readText(files.key)];
  const options = { cert, key, minVersion: 'TLSv1.2' } as const;
  try {
    createSecureContext(options);
    const own = new X509Certificate(cert);
    // OpenSSL does not reject a key of another type.
    if (!own.checkPrivateKey(createPrivateKey(key))) throw new Error('the key does not match the certificate');
    return { options, expires: Date.parse(own.validTo) };
  } catch (error) {
    const both = `${files.cert} and ${files.key} are not a certificate and its key`;
    throw new Error(`${both}: ${errorOf(error).message}`, { cause: error });
  }
}
