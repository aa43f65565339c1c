import { everybody } from '../../kernel/access/right.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { streamed } from '../../kernel/http/reply.ts';
import { eventParameters } from './filters.ts';
import { EventStream, eventStreamType } from './stream.ts';

/** The events as they happen (events.md 4.8). */
export const eventStream: Endpoint = {
  path: '/api/events/stream/',
  name: 'Event Stream',
  description: 'The events that the caller sees, as they happen.',
  operations: {
    GET: {
      summary: 'Sends the events that the list would show as they happen, until the client goes or its token ends.',
      allowedFor: everybody.allowedFor,
      filters: eventParameters,
      headers: {
        'Last-Event-ID': 'The uuid of an event: the stream begins with the one that follows it. Default: from now on.',
      },
      selectable: true,
      output: { status: 200, types: [eventStreamType] },
      refusals: { 429: true, 503: true },
      handle: (request) => {
        const { eventStreams } = request.app;
        const stream = new EventStream(request);
        if (request.incoming.method !== 'HEAD') eventStreams.add(stream);
        // A proxy that gathers answers would keep the events.
        const headers = { 'X-Accel-Buffering': 'no' };
        return streamed(eventStreamType, (body) => eventStreams.open(stream, body), headers);
      },
    },
  },
};
