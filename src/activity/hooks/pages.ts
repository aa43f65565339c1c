import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { mailPage, unsubscribePage } from '../notifications/mail-pages.ts';
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
  unsubscribePage({ path: unsubscribePath, name: 'Hook Unsubscription', isValid: isSubscribed, act: unsubscribe }),
];
