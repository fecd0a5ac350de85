import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';

interface Output {
  readonly entryPoint?: string;
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
  readonly inputs: Readonly<Record<string, unknown>>;
}

const root = new URL('../../../', import.meta.url);
const { outputs } = JSON.parse(readFileSync(new URL('dist/meta.json', root), 'utf8')) as {
  outputs: Readonly<Record<string, Output>>;
};

/** The chunk that starts with this source. */
function chunkOf(source: string): string {
  const [path = ''] = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === source) ?? [];
  return path;
}

/** What a process has read that has loaded these chunks: their sources, and those of all that they import. */
function sourcesOf(...sources: readonly string[]): readonly string[] {
  const loaded = new Set<string>();
  const load = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const { path: next, kind } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && next in outputs) load(next);
  };
  for (const source of sources) load(chunkOf(source));
  return [...loaded].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
}

const isOfCloud = (source: string): boolean =>
  /node_modules\/(@aws-sdk|@smithy|@azure|@alicloud)\/|src\/(providers\/(aws|azure|alibaba|gce)|node|manager)\//.test(
    source,
  );

describe('the bundle that a process loads', () => {
  test.each(['cluster-pool-mode', 'node-modes'])('holds no cloud and no SDK for blocks: %s', (mode) => {
    const loaded = sourcesOf('src/main.ts', 'src/commands/run.ts', `src/blocks/modes/${mode}.ts`);

    expect(loaded).toContain('src/blocks/allocation/allocator.ts');
    expect(loaded.filter(isOfCloud)).toEqual([]);
  });

  test('holds the core, and blocks nowhere, for a cloud', () => {
    const loaded = sourcesOf('src/main.ts', 'src/commands/run.ts', 'src/controller/eni/eni-mode.ts');

    expect(loaded.some(isOfCloud)).toBe(true);
    expect(loaded).not.toContain('src/blocks/allocation/allocator.ts');
  });

  test('holds the client of Kubernetes, and neither a cloud nor the controller, for the command status', () => {
    const loaded = sourcesOf('src/main.ts', 'src/commands/status.ts');

    expect(loaded).toContain('src/kubernetes/transport/undici-transport.ts');
    expect(loaded.filter((source) => isOfCloud(source) || source === 'src/controller/controller.ts')).toEqual(
      [],
    );
  });
});
