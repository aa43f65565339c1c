import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { mailPage } from '../notifications/mail-pages.ts';
import { confirm, confirmPath, isConfirmable, isSubscribed, unsubscribe, unsubscribePath } from './confirmation.ts';

/** /hooks/confirm/<secret>/ and /hooks/unsubscribe/<secret>/ (events.md 5.10). */
export const hookPages: readonly Endpoint[] = [
  mailPage({
    path: confirmPath,
    name: 'Hook Confirmation',
    question: {
      en: 'Shall notifications be sent to your email address?',
      et: 'Kas saata teavitused sinu e-posti aadressile?',
    },
    button: { en: 'Yes, send notifications', et: 'Jah, saada teavitused' },
    done: {
      en: 'Notifications will be sent to your email address.',
      et: 'Teavitused saadetakse sinu e-posti aadressile.',
    },
    isValid: isConfirmable,
    act: confirm,
  }),
  mailPage({
    path: unsubscribePath,
    name: 'Hook Unsubscription',
    question: {
      en: 'Shall these notifications no longer be sent to your email address?',
      et: 'Kas lõpetada nende teavituste saatmine sinu e-posti aadressile?',
    },
    button: { en: 'Unsubscribe', et: 'Loobu teavitustest' },
    done: {
      en: 'These notifications will no longer be sent to your email address.',
      et: 'Neid teavitusi sinu e-posti aadressile enam ei saadeta.',
    },
    isValid: isSubscribed,
    act: unsubscribe,
  }),
];
