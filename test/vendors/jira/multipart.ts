import type { VendorRequest } from '../server.ts';

/** Returns the file of a form with the single field `file`; undefined for other forms. */
export function uploadedFile({ body, headers }: VendorRequest): { name: string; content: Buffer } | undefined {
  const [, boundary] = /^multipart\/form-data; boundary="?([^";]+)"?$/.exec(headers['content-type'] ?? '') ?? [];
  if (boundary === undefined) return undefined;
  const start = Buffer.from(`--${boundary}\r\n`);
  const end = Buffer.from(`\r\n--${boundary}--`);
  const until = body.lastIndexOf(end);
  const headEnd = body.indexOf('\r\n\r\n');
  if (!body.subarray(0, start.length).equals(start) || until < 0 || headEnd < 0) return undefined;
  const head = body.subarray(start.length, headEnd).toString();
  const [, field, name] = /form-data; name="([^"]*)"; filename="([^"]*)"/i.exec(head) ?? [];
  if (field !== 'file' || name === undefined) return undefined;
  return { name, content: body.subarray(headEnd + 4, until) };
}
