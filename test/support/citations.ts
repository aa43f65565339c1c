/** Parses which sections of the specification a text cites, and which sections a document has. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A reference to a Markdown document. A range such as 3.1 to 3.4 yields its two ends. */
export interface Citation {
  /** The document as written, with its folders if any. */
  readonly document: string;
  /** Line of the document's name, counted from 1. */
  readonly line: number;
  readonly sections: readonly CitedSection[];
}

export interface CitedSection {
  readonly number: string;
  /** Quotes after the number, which the section must contain. */
  readonly quoted: readonly string[];
}

export interface Section {
  readonly number: string;
  readonly line: number;
  /** Heading and text, down to the next numbered heading of any level. */
  readonly text: string;
}

// A citation may continue on the next line of a comment in TypeScript, SQL or a shell script.
const gap = /\s+(?:(?:\*|\/\/|--|#)\s+)?/.source;
const quotations = `(?:(?:,|${gap}and)?${gap}"[^"\\n]+")*`;
const section = `\\d{1,2}(?:\\.\\d{1,2})?(?![\\d.]*\\d)${quotations}`;
const citation = new RegExp(
  `(?<document>[\\w.:/-]*\\w\\.md)\\b(?:${gap}(?<sections>${section}(?:(?:,|${gap}and|${gap}to|,${gap}and)${gap}${section})*))?`,
  'g',
);

/** Returns all citations of Markdown documents in a text, in order. Ignores documents on the web. */
export function citationsOf(text: string): Citation[] {
  return [...text.matchAll(citation)]
    .map(({ groups, index }) => ({
      document: groups?.document as string,
      line: lineOf(text, index),
      sections: citedSections(groups?.sections ?? ''),
    }))
    .filter(({ document }) => !document.includes('://'));
}

function citedSections(text: string): CitedSection[] {
  return [...text.matchAll(new RegExp(`(\\d+(?:\\.\\d+)?)(${quotations})`, 'g'))].map(([, number, quoted]) => ({
    number: number as string,
    quoted: [...(quoted as string).matchAll(/"([^"]+)"/g)].map(([, words]) => words as string),
  }));
}

/** Returns the numbered sections of a document, in order: headings such as `## 1. Title` and `### 1.1 Title`. */
export function sectionsOf(markdown: string): Section[] {
  const headings = [...markdown.matchAll(/^#{2,} (?<number>\d+(?:\.\d+)*)\.? \S.*$/gm)];
  return headings.map(({ groups, index }, at) => ({
    number: groups?.number as string,
    line: lineOf(markdown, index),
    text: markdown.slice(index, headings[at + 1]?.index),
  }));
}

/**
 * Returns the sections of the same document that a text names: numbers in brackets, as in `(2.1)` or `(see 2.1, 3.4)`, or after
 * the word.
 */
export function ownReferencesOf(markdown: string): { number: string; line: number }[] {
  const references =
    /(?<!\.md )(?:\((?:see )?(?=\d+\.\d+[,;)])|\bsections? )(\d+(?:\.\d+)?(?:(?:, | and | to )\d+(?:\.\d+)?)*)(?=[^\d.]|\.\s|\.$)/gm;
  return [...markdown.matchAll(references)].flatMap(({ 1: numbers, index }) =>
    [...(numbers as string).matchAll(/[\d.]+/g)].map(([number]) => ({ number, line: lineOf(markdown, index) })),
  );
}

/** Returns the lines that name a section by number but no document. Ignores RFCs. */
export const bareSectionsOf = (text: string): number[] =>
  [...text.matchAll(/(?<!RFC \d+,? )\bsections? \d/gi)].map(({ index }) => lineOf(text, index));

/** Returns the text files of the project that may cite the specification, as paths below `root`. */
export function citingFiles(root: string): string[] {
  const below = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
      .filter((path) => /\.(ts|mjs|js|py|sql|md|html|css|json|ya?ml)$/.test(path));
  return [...['src', 'test', 'migrations'].flatMap(below), 'build.mjs', 'README.md'].sort();
}

export const readText = (root: string, path: string): string => readFileSync(join(root, path), 'utf8');

const lineOf = (text: string, index: number): number => text.slice(0, index).split('\n').length;
