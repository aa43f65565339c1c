import type { SendMailOptions, Transporter } from 'nodemailer';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { errorOf } from '../present.ts';
import type { Mail } from './letter.ts';
import type { MailStore } from './mail-store.ts';

/** The outcome of sending a mail. Only `failed` can be retried, unless it is final. */
export type MailOutcome =
  | { readonly status: 'sent' }
  | { readonly status: 'skipped'; readonly error: string }
  | { readonly status: 'failed'; readonly error: string; readonly code: number | undefined; readonly final: boolean };

/** Milliseconds for the whole dialogue with the mail server. */
const timeout = 10_000;

interface MailerOptions {
  /** The setting; null: mails are stored, not sent. */
  readonly smtp_url: string | null;
  readonly email_from: string | null;
  readonly log: Log;
  /** Stores mails if there is no mail server. */
  readonly mailStore: MailStore;
  /** An additional certificate authority to trust, in PEM. */
  readonly authority?: string;
  /** Called for every mail. */
  readonly counts?: Metrics['mails'];
}

/** Sends mails, each on a separate connection: nothing waits in memory while the mail server is down. */
export class Mailer {
  /** Created for the first mail: its library takes longer to load than the rest of the program. */
  #transport: Promise<Transporter> | undefined;
  /** Aborts the mails that are being sent. */
  readonly #underWay = new Set<AbortController>();
  readonly #options: MailerOptions;
  readonly #from: string;
  readonly #log: Log;

  constructor(options: MailerOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#from = options.email_from ?? '';
  }

  /** Never rejects: errors are in the outcome. Without a mail server the mail is stored, and its outcome is `skipped`. */
  async send(mail: Mail): Promise<MailOutcome> {
    const { counts, smtp_url: address } = this.#options;
    const outcome = await (address ? this.#post(mail, address) : this.#keep(mail));
    counts?.add(outcome.status);
    return outcome;
  }

  async #post(mail: Mail, address: string): Promise<MailOutcome> {
    const breaker = new AbortController();
    this.#underWay.add(breaker);
    const deadline = setTimeout(
      () => breaker.abort(new Error(`The mail server took longer than ${timeout / 1000} seconds.`)),
      timeout,
    );
    try {
      this.#transport ??= openTransport(address, this.#options.authority);
      const transport = await this.#transport;
      await transport.sendMail({ ...this.#message(mail), signal: breaker.signal });
      return { status: 'sent' };
    } catch (error) {
      const outcome = failure(errorOf(breaker.signal.aborted ? breaker.signal.reason : error));
      this.#log.warn(
        { mail: mail.id, to: mail.to, code: outcome.code, reason: outcome.error },
        'mail could not be sent',
      );
      return outcome;
    } finally {
      clearTimeout(deadline);
      this.#underWay.delete(breaker);
    }
  }

  #message(mail: Mail): SendMailOptions {
    const { headers, ...subject } = subjectHeader(mail.subject);
    return {
      from: this.#from,
      to: { name: '', address: mail.to },
      ...subject,
      text: mail.text,
      html: mail.html,
      messageId: `<${mail.id}@${this.#from.match(/@([\w.-]+)/)?.[1] ?? 'localhost'}>`,
      date: new Date(mail.at / 1000),
      headers: { 'Auto-Submitted': 'auto-generated', ...mail.headers, ...headers },
    };
  }

  /** The log contains the file name, not the text: links in mails are secrets. */
  async #keep(mail: Mail): Promise<MailOutcome> {
    try {
      const { createTransport } = await import('nodemailer');
      const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
      const { message } = await composer.sendMail(this.#message(mail));
      if (!Buffer.isBuffer(message)) throw new Error('the message was not composed whole');
      const file = this.#options.mailStore.store(message, mail);
      this.#log.info({ mail: mail.id, ...(file !== undefined && { file }) }, 'mail is not sent: smtp_url is not set');
      return { status: 'skipped', error: 'No mail server is set up.' };
    } catch (error) {
      const reason = errorOf(error).message;
      this.#log.warn({ mail: mail.id, to: mail.to, reason }, 'failed to store mail');
      return { status: 'failed', error: reason, code: undefined, final: false };
    }
  }

  /** Ends all connections. */
  close(): void {
    for (const breaker of this.#underWay) breaker.abort(new Error('The server was stopped.'));
  }
}

async function openTransport(address: string, authority: string | undefined): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  const url = new URL(address);
  const isSecure = url.protocol === 'smtps:';
  return createTransport({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || (isSecure ? 465 : 25),
    secure: isSecure,
    ...(url.username !== '' && {
      auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) },
    }),
    ...(authority !== undefined && { tls: { ca: authority } }),
    connectionTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    dnsTimeout: timeout,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** 5xx is final; 4xx and a lost connection are temporary. */
function failure(error: Error): Extract<MailOutcome, { status: 'failed' }> {
  const { message } = error;
  // The status in the response of the mail server, if there was one.
  const code = 'responseCode' in error && typeof error.responseCode === 'number' ? error.responseCode : undefined;
  return { status: 'failed', error: message, code, final: code !== undefined && code >= 500 };
}

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
 * Encodes the subject of a mail for nodemailer. Nodemailer leaves ASCII unchanged, but mail programs decode encoded words in it:
 * a name that contains one would be displayed as another text.
 */
const subjectHeader = (
  subject: string,
): { readonly subject?: string; readonly headers?: { readonly Subject: { prepared: true; value: string } } } =>
  subject.includes('=?') ? { headers: { Subject: { prepared: true, value: encodedWords(subject) } } } : { subject };
