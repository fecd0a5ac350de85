// Reads the few instructions that image/Dockerfile is made of. Everything else is refused: it would not be carried out.

export interface Copy {
  /** The stage that it comes from; the context if not given. */
  readonly from: string | undefined;
  readonly source: string;
  readonly target: string;
}

export type Step =
  | { readonly kind: 'copy'; readonly copy: Copy }
  | { readonly kind: 'run'; readonly command: string };

export interface Stage {
  readonly base: string;
  readonly name: string | undefined;
  readonly workdir: string;
  readonly steps: readonly Step[];
  readonly labels: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  /** `user:group`, as numbers. */
  readonly user: string | undefined;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
}

const fresh = {
  workdir: '/',
  steps: [],
  labels: {},
  environment: {},
  user: undefined,
  entrypoint: [],
  command: [],
} as const;

/** The stages in their order. Throws, naming the line that it does not know. */
export function readDockerfile(text: string): readonly Stage[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const stages: Stage[] = [];
  for (const line of lines) {
    const [, word = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (word === 'FROM') {
      stages.push(stageOf(line, rest));
      continue;
    }
    const last = stages.pop();
    const known = last === undefined ? undefined : readers[word]?.(rest, last);
    if (last === undefined || known === undefined)
      throw new Error(`image/Dockerfile: not known here: ${line}`);
    stages.push({ ...last, ...known });
  }
  return stages;
}

function stageOf(line: string, text: string): Stage {
  const [, base, name] = /^(?:--platform=\S+ )?(\S+)(?: AS (\S+))?$/.exec(text) ?? [];
  if (base === undefined) throw new Error(`image/Dockerfile: not known here: ${line}`);
  return { ...fresh, base, name };
}

/** Undefined where it does not know the rest of the line. */
type Reader = (rest: string, stage: Stage) => Partial<Stage> | undefined;

function assignment(text: string): Readonly<Record<string, string>> | undefined {
  const [, key, value = ''] = /^([\w.]+)="(.*)"$/.exec(text) ?? [];
  return key === undefined ? undefined : { [key]: value };
}

const readers: Readonly<Record<string, Reader>> = {
  WORKDIR: (workdir) => ({ workdir }),
  USER: (user) => ({ user }),
  ENTRYPOINT: (words) => ({ entrypoint: JSON.parse(words) as string[] }),
  CMD: (words) => ({ command: JSON.parse(words) as string[] }),
  RUN: (command, { steps }) => ({ steps: [...steps, { kind: 'run', command }] }),
  LABEL: (text, { labels }) => {
    const label = assignment(text);
    return label && { labels: { ...labels, ...label } };
  },
  ENV: (text, { environment }) => {
    const variable = assignment(text);
    return variable && { environment: { ...environment, ...variable } };
  },
  COPY: (text, { steps }) => {
    const [, from, source, target] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(text) ?? [];
    if (source === undefined || target === undefined) return undefined;
    return { steps: [...steps, { kind: 'copy', copy: { from, source, target } }] };
  },
};
