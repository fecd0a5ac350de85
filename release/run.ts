// Makes a release: node release/run.ts VERSION [--dry-run] [--out DIRECTORY]
//
// Everything happens in a clone, so that a release that fails leaves the checkout as it was. The commit that sets the version
// enters the checkout once all is made, and the tag comes last. --dry-run makes the same artifacts, commits and tags nothing.
// Nothing is pushed.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { makeArtifacts } from './artifacts.ts';
import { answerOf, carryOut, findPrograms, ProgramFailure } from './programs.ts';
import { tagOf, versionedFiles, versionProblem, withVersion } from './versioned-files.ts';

const root = join(import.meta.dirname, '..');
const usage = 'node release/run.ts VERSION [--dry-run] [--out DIRECTORY]';

/** What a person has to set right first, in one line. */
class Refusal extends Error {}

interface Wish {
  readonly version: string;
  readonly isDry: boolean;
  readonly out: string;
}

function main(args: readonly string[]): void {
  const wish = wishOf(args);
  const { version, isDry, out } = wish;
  refuseWhere(problemOf(wish));
  const base = answerOf(root, 'git', 'rev-parse', 'HEAD');
  const date = answerOf(root, 'git', 'show', '--no-patch', '--format=%ct', base);
  const work = mkdtempSync(join(tmpdir(), 'headwater-release-'));
  const [checkout, made] = [join(work, 'checkout'), join(work, 'made')];
  try {
    mkdirSync(made);
    carryOut(root, 'git', 'clone', '--quiet', root, checkout);
    carryOut(checkout, 'git', 'checkout', '--quiet', '--detach', base);
    setVersion(checkout, version);
    if (!isDry) commit(checkout, version);
    const revision = answerOf(checkout, 'git', 'rev-parse', 'HEAD');
    const programs = findPrograms(process.env);
    const notMade = makeArtifacts({ checkout, version, date, revision, programs, out: made });
    cpSync(made, out, { recursive: true });
    for (const name of readdirSync(out).toSorted()) say(`made ${join(out, name)}`);
    for (const { what, because, remedy } of notMade)
      say(`NOT made: ${what}, because ${because}. Make it by: ${remedy}`);
    if (isDry) return say(`dry run: nothing is committed, ${tagOf(version)} is not tagged`);
    carryOut(root, 'git', 'fetch', '--quiet', checkout, revision);
    carryOut(root, 'git', 'merge', '--quiet', '--ff-only', revision);
    carryOut(root, 'git', 'tag', '--annotate', '--message', `Headwater ${version}`, tagOf(version), revision);
    say(`tagged ${tagOf(version)}; publish it by: git push --atomic origin HEAD ${tagOf(version)}`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function wishOf(args: readonly string[]): Wish {
  const options = { 'dry-run': { type: 'boolean', default: false }, out: { type: 'string' } } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const [version, ...others] = positionals;
    if (version === undefined || others.length > 0) throw new Error('name one version');
    const out = resolve(values.out ?? join(root, 'releases', version));
    return { version, isDry: values['dry-run'], out };
  } catch (error) {
    throw new Refusal(`${error instanceof Error ? error.message : String(error)}: ${usage}`);
  }
}

function problemOf({ version, out }: Wish): string | undefined {
  if (!existsSync(join(root, '.git'))) return 'this is no checkout of git: clone the repository';
  const { version: current } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  const tags = answerOf(root, 'git', 'tag', '--list').split('\n');
  const problem = versionProblem(version, { current, tags });
  if (problem !== undefined) return problem;
  const [changed] = answerOf(root, 'git', 'status', '--porcelain').split('\n');
  if (changed !== '')
    return `the checkout has changes that are in no commit ("${changed}"): commit or remove them`;
  if (existsSync(out) && readdirSync(out).length > 0)
    return `${out} is not empty: name another directory by --out`;
  return undefined;
}

function refuseWhere(problem: string | undefined): void {
  if (problem !== undefined) throw new Refusal(problem);
}

function setVersion(checkout: string, version: string): void {
  for (const file of versionedFiles) {
    const path = join(checkout, file.path);
    writeFileSync(path, withVersion(file, readFileSync(path, 'utf8'), version));
  }
}

/** Nothing to commit where the files say the version already, as before a first release. */
function commit(checkout: string, version: string): void {
  if (answerOf(checkout, 'git', 'status', '--porcelain') === '') return;
  // By whom the checkout commits; a clone does not know.
  for (const key of ['user.name', 'user.email']) {
    const value = answerOf(root, 'git', 'config', '--default', '', '--get', key);
    if (value !== '') carryOut(checkout, 'git', 'config', key, value);
  }
  carryOut(checkout, 'git', 'commit', '--quiet', '--all', '--message', `Headwater ${version}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  main(process.argv.slice(2));
} catch (error) {
  const isFailure = error instanceof ProgramFailure;
  if (!isFailure && !(error instanceof Refusal)) throw error;
  const { message } = error;
  process.stderr.write(
    `release: ${isFailure ? `failed at "${message}": nothing is committed, tagged or left behind` : message}\n`,
  );
  process.exitCode = isFailure ? 1 : 2;
}
