import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Config, ConfigError, environmentName } from '../../../kernel/config/config.ts';
import { errorOf } from '../../../kernel/present.ts';

declare module '../../../kernel/app.ts' {
  interface App {
    /** The keys that sign and decrypt single sign-on messages; undefined if not configured. */
    readonly samlKeys: ServiceKeys | undefined;
  }
}

/** The key pair that identifies the service to identity providers. */
interface ServiceKeys {
  /** The certificate in base64, without line breaks. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly privateKey: string;
}

const minKeyBits = 2048;

/** Reads the key pair from saml_cert_file and saml_key_file; undefined unless both are set. Throws ConfigError. */
export function openServiceKeys({ saml_cert_file: certFile, saml_key_file: keyFile }: Config): ServiceKeys | undefined {
  if (!certFile || !keyFile) return undefined;
  const certificate = readPem('saml_cert_file', certFile, (pem) => new X509Certificate(pem));
  const key = readPem('saml_key_file', keyFile, (pem) => createPrivateKey(pem));
  rejectWeakKey(key, keyFile);
  if (!certificate.checkPrivateKey(key))
    throw new ConfigError(
      `${environmentName('saml_key_file')}: ${keyFile} is not the key of the certificate ${certFile}`,
    );
  return {
    certificate: certificate.raw.toString('base64'),
    privateKey: String(key.export({ type: 'pkcs8', format: 'pem' })),
  };
}

function rejectWeakKey({ asymmetricKeyDetails: details, asymmetricKeyType: type }: KeyObject, file: string): void {
  if (type !== 'rsa' || (details?.modulusLength ?? 0) < minKeyBits) {
    throw new ConfigError(
      `${environmentName('saml_key_file')}: ${file} must hold an RSA key of at least ${minKeyBits} bits`,
    );
  }
}

/** Reads and parses the PEM file in a setting. Throws a ConfigError that names both. */
export function readPem<T>(
  setting: 'saml_cert_file' | 'saml_key_file' | 'saml_idp_metadata_urls',
  file: string,
  parse: (pem: string) => T,
): T {
  try {
    return parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new ConfigError(`${environmentName(setting)}: ${file} cannot be used: ${errorOf(error).message}`, {
      cause: error,
    });
  }
}
