// Code blocks of the pages for users, and the commands in them.
import { readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);

/** From the root of the checkout. */
export const pagesWithCommands: readonly string[] = [
  'README.md',
  'bench/notes.md',
  ...[
    'aws-access',
    'cidr-modes',
    'compatibility',
    'dashboards',
    'hostile-agents',
    'install-ack',
    'install-aks',
    'install-eks',
    'install-kubeadm',
    'install-self-managed-aws',
    'migrate',
    'network',
    'reasons',
    'security',
    'simulation',
    'sizing',
    'troubleshooting',
    'two-releases',
    'upgrade',
    'without-cilium',
  ].map((name) => `docs/${name}.md`),
];

export interface Block {
  readonly language: string;
  readonly text: string;
  /** Whether the line above says that it is not tested. */
  readonly isUntested: boolean;
}

export function blocksOf(page: string): readonly Block[] {
  return blocksIn(readFileSync(new URL(page, root), 'utf8'));
}

export function blocksIn(markdown: string): readonly Block[] {
  return Array.from(
    markdown.matchAll(/([^\n]*)\n\n?```(\w*)\n(.*?)\n```$/gms),
    ([, before = '', language = '', text = '']) => ({
      language,
      text,
      isUntested: /not tested here/i.test(before),
    }),
  );
}

/** Each command of a shell block as its words: joins continued lines and drops comments. */
export function commandsIn(text: string): readonly (readonly string[])[] {
  return text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
    .flatMap((line) => line.split(/ && | \| /))
    .map(wordsOf);
}

function wordsOf(line: string): readonly string[] {
  return Array.from(line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g), ([word]) => word.replaceAll(/['"]/g, ''));
}
