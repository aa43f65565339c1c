import { request as send } from 'node:http';

/** A request of the benchmark. Ten `#` in its target or body are replaced with a number that is new in each request. */
export interface BenchRequest {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly target: string;
  readonly token?: string;
  readonly body?: string;
}

/** A response as received: headers in pairs, without those that node:http adds. */
export interface RecordedResponse {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

/** The placeholder of the number in a target or body. */
export const numberMark = '##########';

/** The Host of every request, so that all servers return the same links. */
const host = 'tenantry.example';

/** Formats the request line and the headers of a request. */
export const headersOf = ({ token, body }: BenchRequest): Record<string, string> => ({
  Host: host,
  ...(token !== undefined && { Authorization: `Token ${token}` }),
  ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }),
});

/** Sends one request. */
export function ask(url: string, request: BenchRequest, number = 0): Promise<RecordedResponse> {
  return new Promise((resolve, reject) => {
    const fresh = (text: string): string => text.replace(numberMark, String(number).padStart(numberMark.length, '0'));
    const outgoing = send(
      url + fresh(request.target),
      { method: request.method, headers: headersOf(request) },
      (message) => {
        const chunks: Buffer[] = [];
        message.on('data', (chunk: Buffer) => chunks.push(chunk));
        message.on('error', reject);
        message.on('end', () => {
          const body = Buffer.concat(chunks).toString();
          resolve({ status: message.statusCode as number, headers: comparable(message.rawHeaders), body });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(request.body === undefined ? undefined : fresh(request.body));
  });
}

/** Returns the value of a header, in any case. */
export const headerOf = ({ headers }: RecordedResponse, name: string): string | undefined =>
  headers.find((_, i) => i % 2 === 1 && headers[i - 1]?.toLowerCase() === name.toLowerCase());

function comparable(raw: readonly string[]): string[] {
  return raw.filter((_, i) => !/^(date|connection|keep-alive)$/i.test(raw[i - (i % 2)] as string));
}

/** Sends all requests, a few at a time. Responses are in the order of the requests. */
export async function askAll(url: string, requests: readonly BenchRequest[]): Promise<RecordedResponse[]> {
  const responses: RecordedResponse[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < requests.length; i = next++) responses[i] = await ask(url, requests[i] as BenchRequest, i);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return responses;
}
