import * as v from 'valibot';
import { customerContext } from '../../activity/events/context.ts';
import { record } from '../../activity/events/record.ts';
import type { Request } from '../../kernel/access/request.ts';
import { anyOf, ownersOf, staff } from '../../kernel/access/right.ts';
import { describeFields, type Endpoint } from '../../kernel/collection/endpoint.ts';
import { FieldError, inputOf, readOnly, type WritableField } from '../../kernel/collection/field.ts';
import { constant } from '../../kernel/collection/representation.ts';
import { validate } from '../../kernel/collection/validate.ts';
import { sql } from '../../kernel/db/sql.ts';
import { HttpError, notFound } from '../../kernel/http/error.ts';
import { UploadedFile } from '../../kernel/http/multipart.ts';
import { empty, json, type Reply } from '../../kernel/http/reply.ts';
import { type CustomerRow, customers } from './customers.ts';
import { imageType } from './image-type.ts';

const maxImageBytes = 2_097_152;
const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const notAnImage = 'Upload a valid image. The file you uploaded was either not an image or a corrupted image.';

interface Image {
  readonly content: Buffer;
  readonly type: string;
}

/** The `image` part of the body. Its content determines the type, not its name. */
const imageInput = (required: boolean): { image: WritableField<Image> } => ({
  image: {
    ...readOnly('image upload', {}, constant('null')),
    input: inputOf(
      { required },
      {
        schema: v.instance(UploadedFile, ({ input }) =>
          input === '' && required
            ? 'No file was submitted.'
            : 'The submitted data was not a file. Check the encoding type on the form.',
        ),
        resolve: ({ content }) => {
          if (content.length === 0) throw new FieldError(['The submitted file is empty.']);
          if (content.length > maxImageBytes) throw new HttpError(413, { detail: 'Request body is too large.' });
          const type = imageType(content);
          if (type === undefined) throw new FieldError([notAnImage]);
          return { content, type };
        },
      },
    ),
  },
});

/** The right to change the image of a customer (core.md 6.6). */
const changers = anyOf(staff, ownersOf('id'));

function findWritable(request: Request): CustomerRow {
  const customer = customers.find(request);
  changers.require(request, customer);
  return customer;
}

function read(request: Request): Reply {
  const customer = customers.find(request);
  const image = request.db.get<{ content_type: string; content: Buffer }>(
    sql`SELECT content_type, content FROM customer_image WHERE customer_id = ${customer.id}`,
  );
  if (!image) throw notFound();
  return { status: 200, body: image.content, type: image.content_type, headers: {}, conditional: true };
}

function store(request: Request, required: boolean): Reply {
  const customer = findWritable(request);
  // Validate as a partial update; the check below reports a missing file.
  const { image } = validate(imageInput(required), request, 'change');
  if (!image && required) throw new HttpError(400, { image: ['No file was submitted.'] });
  request.checkPreconditions();
  if (image) {
    request.db.run(sql`
      INSERT INTO customer_image (customer_id, content_type, content)
      VALUES (${customer.id}, ${image.type}, ${image.content})
      ON CONFLICT DO UPDATE SET content_type = excluded.content_type, content = excluded.content`);
    record(request, 'customer_update_succeeded', customerContext(customer));
  }
  const exists = request.db.value(sql`SELECT 1 FROM customer_image WHERE customer_id = ${customer.id}`) !== undefined;
  return json({ image: exists ? `${request.base}/api/customers/${customer.uuid}/image/` : null });
}

function remove(request: Request): Reply {
  const customer = findWritable(request);
  request.checkPreconditions();
  const { changes } = request.db.run(sql`DELETE FROM customer_image WHERE customer_id = ${customer.id}`);
  if (changes > 0) record(request, 'customer_update_succeeded', customerContext(customer));
  return empty();
}

const { allowedFor } = changers;
const types = ['multipart/form-data'];
const response = {
  status: 200,
  shape: { type: 'object', properties: { image: { type: ['string', 'null'], format: 'uri' } } },
};

/** /api/customers/<uuid>/image/ (core.md 6.6) */
export const customerImage: Endpoint = {
  path: '/api/customers/:key/image/',
  name: 'Customer Image',
  description: 'The logo of a customer: PNG, JPEG, GIF or WebP.',
  bodyLimit: maxImageBytes + 65_536,
  actions: (request) =>
    changers.may(request, customers.find(request))
      ? { PUT: describeFields(imageInput(true), request, 'replace') }
      : undefined,
  operations: {
    GET: {
      summary: 'Returns the image.',
      allowedFor: 'Any user who can see the customer.',
      output: { status: 200, types: imageTypes },
      handle: read,
    },
    PUT: {
      summary: 'Stores an image.',
      allowedFor,
      input: { fields: imageInput(true), purpose: 'replace', types },
      output: response,
      handle: (request) => store(request, true),
    },
    PATCH: {
      summary: 'Stores an image if one is sent.',
      allowedFor,
      input: { fields: imageInput(false), purpose: 'change', types },
      output: response,
      handle: (request) => store(request, false),
    },
    DELETE: { summary: 'Removes the image.', allowedFor, output: { status: 204 }, handle: remove },
  },
};
