import { authenticated } from '../../kernel/access/right.ts';
import type { Endpoint } from '../../kernel/collection/endpoint.ts';
import { streamed } from '../../kernel/http/reply.ts';
import { eventParameters } from './filters.ts';
import { EventStream, eventStreamType } from './stream.ts';

/** GET /api/events/stream/ (events.md 4.8) */
export const eventStream: Endpoint = {
  path: '/api/events/stream/',
  name: 'Event Stream',
  description: 'The events that the caller can see, as they happen.',
  operations: {
    GET: {
      summary:
        'Sends the events that the list would return as they happen, until the client disconnects or its token expires.',
      allowedFor: authenticated.allowedFor,
      filters: eventParameters,
      headers: { 'Last-Event-ID': 'The uuid of an event: the stream starts after it. Default: from now.' },
      selectable: true,
      output: { status: 200, types: [eventStreamType] },
      rejections: { 429: true, 503: true },
      handle: (request) => {
        const { eventStreams } = request.app;
        const stream = new EventStream(request);
        if (request.incoming.method !== 'HEAD') eventStreams.add(stream);
        // A buffering proxy would delay events.
        const headers = { 'X-Accel-Buffering': 'no' };
        return streamed(eventStreamType, (body) => eventStreams.open(stream, body), headers);
      },
    },
  },
};
