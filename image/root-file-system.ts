// Carries the steps of image/Dockerfile out without Docker: node image/root-file-system.ts DIRECTORY
//
// The base of the last stage is a stand-in: this machine's Node.js and the few programs that bin/headwater calls, with the
// libraries they need. Stages before it run on this machine. What the image adds to its base is the very same.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { readDockerfile, type Stage } from './dockerfile.ts';

const root = join(import.meta.dirname, '..');

export interface RootFileSystem {
  /** The last stage. */
  readonly image: Stage;
  /** Paths of the files that the image adds to its base, and how long they are in all, in bytes. */
  readonly added: readonly string[];
  readonly size: number;
}

/** Makes `directory`, which must not be there. */
export function buildRootFileSystem(directory: string): RootFileSystem {
  if (existsSync(directory)) throw new Error(`${directory} is there already: name one that is not`);
  const stages = readDockerfile(readFileSync(join(import.meta.dirname, 'Dockerfile'), 'utf8'));
  const image = stages.at(-1);
  if (image === undefined) throw new Error('image/Dockerfile has no stage');
  const work = mkdtempSync(join(tmpdir(), 'headwater-image-'));
  try {
    const places = new Map<string, string>();
    for (const stage of stages.slice(0, -1)) {
      const place = join(work, stage.name ?? '');
      places.set(stage.name ?? '', place);
      carryOut(stage, place, places);
    }
    const before = new Set<string>();
    layBase(directory);
    for (const path of filesIn(directory)) before.add(path);
    carryOut(image, directory, places);
    const added = filesIn(directory).filter((path) => !before.has(path));
    const size = added.reduce((sum, path) => sum + statSync(join(directory, path)).size, 0);
    return { image, added, size };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function carryOut(stage: Stage, place: string, places: ReadonlyMap<string, string>): void {
  const inPlace = (path: string): string => join(place, resolve(stage.workdir, path));
  mkdirSync(inPlace('.'), { recursive: true });
  for (const step of stage.steps) {
    if (step.kind === 'run') {
      execFileSync('sh', ['-c', step.command], { cwd: inPlace('.'), stdio: ['ignore', 2, 2] });
      continue;
    }
    const { from, source, target } = step.copy;
    if (from === undefined) copyContext(join(root, source), inPlace(target));
    else cpSync(join(places.get(from) ?? '', source), inPlace(target), { recursive: true });
  }
}

/** All but what .dockerignore names. */
function copyContext(source: string, target: string): void {
  if (statSync(source).isFile()) {
    copyFileSync(source, target);
    return;
  }
  const ignored = new Set(readFileSync(join(root, '.dockerignore'), 'utf8').split('\n'));
  for (const name of readdirSync(source).filter((each) => !ignored.has(each))) {
    cpSync(join(source, name), join(target, name), { recursive: true });
  }
}

/** Programs that bin/headwater calls. */
const programs = ['sh', 'readlink', 'dirname'];

function layBase(directory: string): void {
  for (const name of ['dev', 'etc/headwater', 'proc', 'tmp', 'usr/local/bin', 'bin']) {
    mkdirSync(join(directory, name), { recursive: true });
  }
  const paths = programs.map((name) =>
    execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(),
  );
  const copies = [
    [process.execPath, 'usr/local/bin/node'],
    ...paths.map((path) => [path, `bin/${basename(path)}`]),
  ];
  for (const [from = '', to = ''] of copies) {
    copyFileSync(from, join(directory, to));
    for (const library of librariesOf(from)) {
      mkdirSync(join(directory, dirname(library)), { recursive: true });
      copyFileSync(library, join(directory, library));
    }
  }
}

function librariesOf(program: string): readonly string[] {
  const told = execFileSync('ldd', [program], { encoding: 'utf8' });
  return Array.from(told.matchAll(/(\/\S+) \(0x/g), ([, path = '']) => path);
}

/** Paths below `directory`, but no directories. */
function filesIn(directory: string): readonly string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length))
    .toSorted();
}

if (import.meta.main) {
  const [directory] = process.argv.slice(2);
  if (directory === undefined) throw new Error('node image/root-file-system.ts DIRECTORY');
  const { added, size } = buildRootFileSystem(resolve(directory));
  process.stdout.write(`${added.length} files beside Node.js and the base, ${(size / 1e6).toFixed(1)} MB\n`);
}
