/** Confirmation of the user's identity, which the server requires before operations that create lasting access. */
import { signal } from '@preact/signals';
import { type Item, isItem } from '../item.ts';

/** A prompt that a dialog shows while a request waits. */
export interface IdentityQuestion {
  /** Available methods, such as `password`; empty if only a new login helps. */
  readonly methods: readonly string[];
  /** Repeats the request or returns its rejection. */
  readonly settle: (isConfirmed: boolean) => void;
}

export const identityQuestion = signal<IdentityQuestion | null>(null);

/** Whether a rejection requires confirmation. */
export const requiresIdentity = (status: number, body: unknown): body is Item =>
  status === 403 && isItem(body) && Array.isArray(body.methods);

/** Prompts the user to confirm their identity. Resolves with true on success. */
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
