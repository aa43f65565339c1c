import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Item, isItem, problemOf, request } from '../api/api.ts';
import { type ApiResponse, saveFile } from '../api/connection.ts';
import { formFieldsOf } from '../api/fields.ts';
import { optimistically } from '../api/optimistic.ts';
import { refresh, useRequest } from '../api/reading.ts';
import { t } from '../i18n/words.ts';
import { Button } from './button.tsx';
import type { Description } from './creation.tsx';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { Icon } from './icons.tsx';
import { notify } from './toast.tsx';

interface Post {
  readonly title: string;
  readonly method?: 'POST' | 'DELETE';
  readonly path: string;
  /** The expected change of an object, shown immediately. */
  readonly expected?: { readonly path: string; readonly change: Item };
  /** Runs on success. */
  readonly done?: (() => Promise<void>) | undefined;
}

/** Sends a POST without a body, shows the result and refreshes the lists. */
export async function post({ title, method = 'POST', path, expected, done }: Post): Promise<void> {
  const act = () => request<unknown>(method, path);
  const { body, isOk } = await (expected ? optimistically(expected.path, expected.change, act) : act());
  const serverMessage = isItem(body) ? problemOf(body) : '';
  notify(serverMessage || (isOk ? t('{title}: done.', { title }) : t('{title} failed.', { title })), {
    tone: isOk ? 'good' : 'bad',
  });
  if (!isOk) return;
  refresh();
  await done?.();
}

/** A button that sends a POST without a body. */
export function PostButton({
  about,
  icon,
  class: style = 'btn sm',
  ...sent
}: Post & {
  /** The object of the action, for screen readers. */
  readonly about: string;
  readonly icon?: string;
  readonly class?: string;
}): JSX.Element {
  const { title } = sent;
  const [isBusy, setBusy] = useState(false);
  return (
    <button
      type="button"
      class={style}
      aria-label={`${title}: ${about}`}
      aria-busy={isBusy}
      disabled={isBusy}
      onClick={async () => {
        setBusy(true);
        await post(sent);
        setBusy(false);
      }}
    >
      {icon && <Icon name={icon} />}
      {title}
    </button>
  );
}

/** A button that saves a file, which `read` requests. */
export const DownloadButton = ({
  title,
  fileName,
  read,
}: {
  readonly title: string;
  readonly fileName: string;
  readonly read: () => Promise<ApiResponse<Blob>>;
}): JSX.Element => (
  <Button
    icon="download"
    onClick={async () => {
      const content = await read();
      if (content.isOk) saveFile(content.body, fileName);
      else notify(problemOf(content.body), { tone: 'bad' });
    }}
  >
    {title}
  </Button>
);

/** A button that opens a form for a POST, with fields from OPTIONS. Renders nothing for users without the right. */
export function PostForm({
  title,
  path,
  initialValues,
  done,
}: {
  readonly title: string;
  readonly path: string;
  /** The initial values of the form. */
  readonly initialValues?: Item;
  readonly done: () => Promise<void>;
}): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  const { value: response } = useRequest<Description>('OPTIONS', path);
  const post = response?.isOk ? response.body.actions?.POST : undefined;
  if (post === undefined) return null;
  return (
    <>
      <button type="button" class="btn sm" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {title}
      </button>
      {isOpen && (
        <Dialog title={title} onClose={() => setOpen(false)}>
          <Form
            fields={formFieldsOf(post, undefined)}
            {...(initialValues && { initialValues })}
            button={title}
            onCancel={() => setOpen(false)}
            send={async (body) => {
              const created = await request<unknown>('POST', path, { body });
              if (created.isOk) {
                setOpen(false);
                notify(t('{title}: done.', { title }));
                refresh();
                await done();
              }
              return created;
            }}
          />
        </Dialog>
      )}
    </>
  );
}
