/** The confirmation of the user's identity, which the server requires before operations that create lasting access. */
import { signal } from '@preact/signals';
import { type Item, isItem } from '../item.ts';

/** A question that a dialog asks, while a request waits for its result. */
export interface IdentityQuestion {
  /** What the user can confirm with, such as `password`; empty: only a new login. */
  readonly methods: readonly string[];
  /** Continues the request, or returns its rejection. */
  readonly settle: (isConfirmed: boolean) => void;
}

export const identityQuestion = signal<IdentityQuestion | null>(null);

/** Whether a rejection asks for a confirmation. */
export const asksIdentity = (status: number, body: unknown): body is Item =>
  status === 403 && isItem(body) && Array.isArray(body.methods);

/** Asks the user to confirm their identity. Resolves with whether they did. */
export const confirmIdentity = ({ methods }: Item): Promise<boolean> =>
  new Promise((resolve) => {
    identityQuestion.value?.settle(false);
    identityQuestion.value = {
      methods: Array.isArray(methods) ? methods.map(String) : [],
      settle: (isConfirmed) => {
        identityQuestion.value = null;
        resolve(isConfirmed);
      },
    };
  });
