import { second } from '../../kernel/clock.ts';

/** An event in the form that receivers get, with keys in this order. */
export interface EventPayload {
  /** UTC with six digits and no zone. */
  readonly timestamp: string;
  readonly message: string;
  readonly type: string;
  readonly context: Readonly<Record<string, string>>;
  readonly levelname: string;
}

/** A stored event. `context` is JSON. */
export interface SentEvent {
  readonly at: number;
  readonly type: string;
  readonly level: string;
  readonly message: string;
  readonly context: string;
}

export const payloadOf = ({ at, context, level, message, type }: SentEvent): EventPayload => ({
  timestamp: timestampOf(at),
  message,
  type,
  context: JSON.parse(context),
  levelname: level.toUpperCase(),
});

/** The body of a chat message for Slack and compatible receivers, which escape nothing else. */
export const chatMessageOf = ({ message }: Pick<EventPayload, 'message'>): string =>
  JSON.stringify({ text: message.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') });

/** Encodes a form with the same five names and the context as JSON. */
export const formOf = (payload: EventPayload): string =>
  new URLSearchParams({ ...payload, context: JSON.stringify(payload.context) }).toString();

const timestampOf = (at: number): string =>
  `${new Date(Math.floor(at / 1000)).toISOString().slice(0, 19)}.${String(((at % second) + second) % second).padStart(6, '0')}`;
