interface Made {
  readonly url: string;
  readonly uuid: string;
}

export declare class Onboarding {
  constructor(url: string, token: string);
  takeIn(wish: { company: string; project: string; manager: string }): Promise<{ customer: Made; project: Made }>;
  stop(machine: string): Promise<unknown>;
  troubles(): Promise<string[]>;
}
