import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A received mail with its envelope. */
export interface ReceivedMail extends Email {
  readonly recipient: string;
  readonly user: string | undefined;
  readonly isEncrypted: boolean;
  /** The bytes of the mail, decoded as Latin-1. */
  readonly source: string;
}

/** An SMTP server that stores mails, or rejects them on request. */
export class Mailbox {
  readonly mails: ReceivedMail[] = [];
  /** Status and text with which to reject every recipient. */
  rejection: readonly [number, string] | undefined;

  private constructor(
    private readonly server: SMTPServer,
    readonly port: number,
  ) {}

  /** Listens on the loopback, by default without TLS and authentication. */
  static async start(options: SMTPServerOptions = {}): Promise<Mailbox> {
    let mailbox: Mailbox | undefined;
    const server = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      logger: false,
      onRcptTo: (_, __, done) => {
        const [code, text] = mailbox?.rejection ?? [];
        done(code === undefined ? null : Object.assign(new Error(text), { responseCode: code }));
      },
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          void PostalMime.parse(Buffer.concat(chunks)).then((mail) => {
            const [recipient] = session.envelope.rcptTo;
            mailbox?.mails.push({
              ...mail,
              recipient: recipient?.address ?? '',
              user: session.user,
              isEncrypted: session.secure,
              source: Buffer.concat(chunks).toString('latin1'),
            });
            done();
          });
        });
      },
      ...options,
    });
    server.on('error', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    mailbox = new Mailbox(server, (server.server.address() as AddressInfo).port);
    return mailbox;
  }

  /** Settings for a server that sends its mails here. */
  get settings(): { readonly smtp_url: string; readonly email_from: string } {
    return { smtp_url: `smtp://127.0.0.1:${this.port}`, email_from: 'Tenantry <noreply@tenantry.example.com>' };
  }

  /** Deletes the mails and accepts new ones again. */
  reset(): void {
    this.take();
    this.rejection = undefined;
  }

  /** Returns the mails since the last call. */
  take(): ReceivedMail[] {
    return this.mails.splice(0);
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.server.close(resolve));
  }
}
