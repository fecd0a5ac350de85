// The program kube-apiserver: built from the module that Kubernetes publishes, and kept outside the tree for the next time.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Of Kubernetes; go.mod requires the same. */
const version = 'v1.32.13';

const sources = join(import.meta.dirname, '../servers/kube-apiserver');

const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(version) ?? [];
const linkerFlags = [
  '-s -w',
  `-X k8s.io/component-base/version.gitVersion=${version}`,
  `-X k8s.io/component-base/version.gitMajor=${major}`,
  `-X k8s.io/component-base/version.gitMinor=${minor}`,
].join(' ');

export interface Building {
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Told how far it is. */
  readonly say: (line: string) => void;
}

/** Where the program is or will be: another place for each version and each change of what it is built from. */
export async function apiServerProgram(environment: NodeJS.ProcessEnv): Promise<string> {
  const hash = createHash('sha256').update(linkerFlags);
  for (const name of ['go.mod', 'go.sum', 'main.go']) hash.update(await readFile(join(sources, name)));
  const cache = environment['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'headwater', `kube-apiserver-${version}-${hash.digest('hex').slice(0, 12)}`);
}

export async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Builds the program at `path`. Rejects with what Go said last if that fails; then there is nothing at `path`. */
export async function buildApiServer(path: string, { environment, signal, say }: Building): Promise<void> {
  const env = { ...environment, CGO_ENABLED: '0' };
  const unfinished = `${path}.${process.pid}`;
  await mkdir(join(path, '..'), { recursive: true });
  say(`building kube-apiserver ${version} into ${path}: minutes the first time`);
  try {
    let total = 0;
    await go(['list', '-deps', '.'], { env, signal, onOut: () => total++ });
    let done = 0;
    const onError = (): void => {
      if (++done % 100 === 0) say(`  ${done} of at most ${total} packages are compiled`);
    };
    const build = ['build', '-v', '-trimpath', '-ldflags', linkerFlags, '-o', unfinished, '.'];
    await go(build, { env, signal, onError });
    await rename(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}

interface GoRun {
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  readonly onOut?: (line: string) => void;
  readonly onError?: (line: string) => void;
}

function go(args: readonly string[], { env, signal, onOut, onError }: GoRun): Promise<void> {
  const said: string[] = [];
  return new Promise((resolve, reject) => {
    const child = spawn('go', args, { cwd: sources, env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    createInterface({ input: child.stdout }).on('line', (line) => onOut?.(line));
    createInterface({ input: child.stderr }).on('line', (line) => {
      said.push(line);
      if (said.length > 20) said.shift();
      onError?.(line);
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`go ${args[0]} failed; what it said last:\n${said.join('\n')}`));
    });
  });
}
