import { useRef, useState } from 'preact/hooks';
import { fieldProblems, type Item, isItem, pathOf, problemOf } from '../api/api.ts';
import { type FormField, type InputValue, inputValueOf, valueToSend } from '../api/fields.ts';
import type { EditResponse } from './conflict.tsx';

/** Input by field name. */
export type Input = Readonly<Record<string, InputValue>>;

interface FormOptions {
  readonly fields: readonly FormField[];
  /** The object to edit; undefined for a new one. */
  readonly item: Item | undefined;
  /** Initial values of a new object. */
  readonly initialValues: Item;
  readonly send: (body: Item | FormData) => Promise<EditResponse>;
  /** Receives all input after every change. */
  readonly onInput: ((input: Input) => void) | undefined;
}

/** The errors of the last response. */
interface Rejection {
  /** Messages by field. */
  readonly problems: Readonly<Record<string, string>>;
  /** Errors by field as the server sent them. */
  readonly details: Item;
  /** The message about the whole form. */
  readonly message: string;
  /** Whether the same request may succeed later. */
  readonly canRetry: boolean;
  /** Fields that another user has changed meanwhile. */
  readonly conflicts: readonly string[];
}

const noRejection: Rejection = { problems: {}, details: {}, message: '', canRetry: false, conflicts: [] };

export interface FormState extends Rejection {
  readonly input: Input;
  readonly isSending: boolean;
  readonly initial: (field: FormField) => InputValue;
  readonly current: (field: FormField) => InputValue;
  readonly change: (field: FormField, value: InputValue) => void;
  /** Sends the form. Resolves with whether the server accepted it. */
  readonly submit: () => Promise<boolean>;
  /** Discards the input of fields in conflict. */
  readonly useTheirs: () => void;
}

/** The input of a form, and the response to it. */
export function useFormState({ fields, initialValues, item, onInput, send }: FormOptions): FormState {
  const [input, setInput] = useState<Input>({});
  // Controls that choose a value themselves call `change` late, when `input` is stale.
  const latest = useRef(input);
  const [rejection, setRejection] = useState(noRejection);
  const [isSending, setSending] = useState(false);
  const initial = (field: FormField): InputValue => inputValueOf(field, (item ?? initialValues)[field.name]);
  const current = (field: FormField): InputValue => input[field.name] ?? initial(field);
  const replaceInput = (next: Input): void => {
    latest.current = next;
    setInput(next);
  };

  async function submit(): Promise<boolean> {
    const isSent = (field: FormField): boolean =>
      JSON.stringify(comparable(field, current(field))) !== JSON.stringify(comparable(field, initial(field))) ||
      current(field) instanceof File ||
      (item === undefined && (field.isRequired || field.name in initialValues || current(field) === true));
    const sentFields = fields.filter(isSent);
    const body = Object.fromEntries(sentFields.map((field) => [field.name, valueToSend(field, current(field))]));
    setSending(true);
    const response = await send(sentFields.some((field) => current(field) instanceof File) ? asForm(body) : body);
    setSending(false);
    if (!response.isOk) setRejection(rejectionOf(fields, response));
    return response.isOk;
  }

  return {
    ...rejection,
    input,
    isSending,
    initial,
    current,
    submit,
    change: (field, value) => {
      replaceInput({ ...latest.current, [field.name]: value });
      // The error was about the previous value.
      setRejection(({ details, problems, ...others }) => ({
        ...others,
        problems: without(problems, field.name),
        details: without(details, field.name),
      }));
      onInput?.(latest.current);
    },
    useTheirs: () => {
      const { conflicts } = rejection;
      replaceInput(Object.fromEntries(Object.entries(input).filter(([name]) => !conflicts.includes(name))));
      setRejection({ ...rejection, conflicts: [], message: '' });
    },
  };
}

/** Sorts the errors of a response by field. Those of other fields become part of the message. */
function rejectionOf(fields: readonly FormField[], { body, changed = [], status }: EditResponse): Rejection {
  const problems = status === 400 ? fieldProblems(body) : {};
  const known = new Set(fields.map(({ name }) => name));
  const others = Object.entries(problems).flatMap(([name, text]) => (known.has(name) ? [] : [`${name}: ${text}`]));
  return {
    problems,
    details: status === 400 && isItem(body) ? body : {},
    message: [problemOf(body), ...others].filter((text) => text !== '').join(' '),
    canRetry: status === 0 || status >= 500,
    conflicts: changed,
  };
}

/** Removes a member from an object. */
const without = <T>(members: Readonly<Record<string, T>>, name: string): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(members).filter(([other]) => other !== name));

/** Normalises a value for comparison. Links are equal if their paths are. */
const comparable = ({ kind }: FormField, typed: InputValue): InputValue =>
  kind === 'link' && typeof typed === 'string' ? pathOf(typed) : typed;

/** Converts a body with files to form data. */
function asForm(body: Item): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    if (value instanceof File) form.set(name, value);
    else if (value !== null) form.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value));
  }
  return form;
}
