/** The result of one step of a check: `ok`, or a sentence that explains what to change. */
export interface LoginCheckStep {
  readonly step: string;
  readonly result: string;
}

/** The check of one identity provider. */
export interface LoginCheck {
  /** The name of the OpenID Connect provider, or the file or URL of SAML metadata. */
  readonly name: string;
  readonly protocol: 'oidc' | 'saml';
  readonly steps: readonly LoginCheckStep[];
}

export const passed = 'ok';

/** Whether every step has passed. */
export const hasPassed = ({ steps }: LoginCheck): boolean => steps.every(({ result }) => result === passed);
