import * as v from 'valibot';
import type { Request } from '../../../kernel/access/request.ts';
import { collection } from '../../../kernel/collection/collection.ts';
import type { Endpoint } from '../../../kernel/collection/endpoint.ts';
import {
  FieldError,
  inputOf,
  readOnly,
  readOnlyText,
  readOnlyTime,
  uuidField,
  type WritableField,
} from '../../../kernel/collection/field.ts';
import { linked, uuidOf } from '../../../kernel/collection/filter.ts';
import { link, selfLink } from '../../../kernel/collection/links.ts';
import { linkValue, numberValue, optionalLink } from '../../../kernel/collection/representation.ts';
import { sql } from '../../../kernel/db/sql.ts';
import { HttpError, notFound } from '../../../kernel/http/error.ts';
import { UploadedFile } from '../../../kernel/http/multipart.ts';
import type { Reply } from '../../../kernel/http/reply.ts';
import type { EntityKind } from '../../catalogue/entity-kind.ts';
import { stateValue } from '../../catalogue/resource-row.ts';
import { createEntity, deleteEntity } from '../../entities/entities.ts';
import { issueAdders, issueOf } from './comments.ts';
import { issues } from './issues.ts';
import { type AuthoredRow, deletionByAuthors, isDescribed, projectOfIssue, visibleToAuthors } from './rights.ts';

interface AttachmentRow extends AuthoredRow {
  readonly issue_id: number;
  readonly name: string;
  readonly size: number;
}

const largestFile = 10_485_760;
const maxNameLength = 255;

/** A part of a multipart body; shown as the address of its bytes. */
const file: WritableField<UploadedFile, true> = {
  ...readOnly('file upload', { type: 'string', format: 'uri' }, linkValue('jira-attachments', 'a.uuid', 'file/')),
  help: `At most ${largestFile} bytes.`,
  input: inputOf(
    { required: true, update: false, storedIn: false },
    {
      schema: v.instance(UploadedFile, 'The submitted data was not a file. Check the encoding type on the form.'),
      resolve: (passed) => {
        if (passed.content.length === 0) throw new FieldError(['The submitted file is empty.']);
        if (passed.content.length > largestFile) throw new HttpError(413, { detail: 'Request body is too large.' });
        return passed;
      },
    },
  ),
};

const attachments = collection<AttachmentRow>()({
  path: 'jira-attachments',
  kind: 'JIRA Attachment',
  description: 'Files attached to issues of JIRA projects.',
  table: 'jira_attachment',
  alias: 'a',
  fields: {
    url: selfLink('jira-attachments', 'a.uuid'),
    uuid: uuidField(),
    issue: link({
      required: true,
      update: false,
      to: () => issues,
      key: '(SELECT uuid FROM jira_issue WHERE id = a.issue_id)',
    }),
    file,
    name: readOnlyText(),
    size: readOnly('integer', { type: 'integer' }, numberValue),
    user: readOnly(
      'field',
      { type: ['string', 'null'], format: 'uri' },
      optionalLink('users', '(SELECT uuid FROM user WHERE id = a.user_id)'),
    ),
    created: readOnlyTime(),
    state: readOnlyText(stateValue),
    error_message: readOnlyText(),
  },
  visible: visibleToAuthors('', projectOfIssue('a.issue_id'), (user) => sql`a.user_id = ${user}`),
  described: isDescribed,
  filters: { issue: linked('a.issue_id', 'jira_issue', () => issues), issue_uuid: uuidOf('a.issue_id', 'jira_issue') },
  orderings: {},
  order: '-a.created',
  create: {
    rightWith: issueAdders,
    run: (request, { file: { content, name }, issue }, columns) => {
      const short = [...name].slice(-maxNameLength).join('');
      const id = createEntity(request, attachment, issueOf(request.db, issue).settings_id, {
        ...columns,
        name: short,
        size: content.length,
      });
      request.db.insert('jira_attachment_file', { attachment_id: id, content });
      return id;
    },
  },
  delete: { ...deletionByAuthors, run: (request, row) => deleteEntity(request, attachment, row) },
});

/** JIRA.Attachment as an entity. */
export const attachment: EntityKind = {
  name: 'Attachment',
  table: 'jira_attachment',
  owners: [{ column: 'issue_id', table: 'jira_issue' }],
  distinguishedBy: ['issue_id', 'name'],
  driverInput: (db, id) => {
    const { name, size } = db.one<AttachmentRow>(sql`SELECT * FROM jira_attachment WHERE id = ${id}`);
    const content = db.value<Buffer>(sql`SELECT content FROM jira_attachment_file WHERE attachment_id = ${id}`);
    return { values: { name, size }, parameters: { content } };
  },
  stored: () => ({}),
};

/** Uploaded files are only downloads: no browser may render one as a page of this origin. */
function download(request: Request): Reply {
  const { id, name } = attachments.find(request);
  const content = request.db.value<Buffer>(sql`SELECT content FROM jira_attachment_file WHERE attachment_id = ${id}`);
  if (!content) throw notFound();
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return {
    status: 200,
    body: content,
    type: 'application/octet-stream',
    headers: { 'Content-Disposition': `attachment; filename*=UTF-8''${encoded}` },
    conditional: false,
  };
}

const [list, detail] = attachments.endpoints();

export const attachmentEndpoints: readonly Endpoint[] = [
  // The file and the other parts of a multipart body.
  { ...list, bodyLimit: largestFile + 65_536 },
  detail,
  {
    path: '/api/jira-attachments/:key/file/',
    name: 'JIRA Attachment File',
    description: 'The bytes of an attachment.',
    actions: (request) => {
      attachments.find(request);
      return undefined;
    },
    operations: {
      GET: {
        summary: 'Downloads the file.',
        allowedFor: attachments.spec.visible.allowedFor,
        output: { status: 200, types: ['application/octet-stream'] },
        handle: download,
      },
    },
  },
];
