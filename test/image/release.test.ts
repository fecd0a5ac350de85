// Whole releases of a repository made of this checkout: each builds what the image adds to its base, which takes a while.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const work = mkdtempSync(join(tmpdir(), 'headwater-release-test-'));
const repository = join(work, 'repository');
const environment = {
  ...process.env,
  // Packages that one build downloaded are not downloaded again.
  npm_config_prefer_offline: 'true',
  // Independent of the git identity of this machine.
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  HEADWATER_HELM: join(work, 'none'),
  HEADWATER_DOCKER: join(work, 'none'),
};

interface Answer {
  readonly code: number | null;
  readonly lines: readonly string[];
  readonly err: string;
}

function release(args: readonly string[], more: Readonly<Record<string, string>> = {}): Answer {
  const words = [join(repository, 'release/run.ts'), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    cwd: repository,
    encoding: 'utf8',
    env: { ...environment, ...more },
  });
  return { code: status, lines: stdout.split('\n').filter((line) => line !== ''), err: stderr };
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: repository, encoding: 'utf8', env: environment }).trim();
}

/** A program that writes its arguments into `log`, and fails when they start with `refused`. */
function standIn(name: string, log: string, refused = 'nothing'): string {
  const path = join(work, name);
  writeFileSync(path, `#!/bin/sh\necho "$*" >> '${log}'\n[ "$1" != ${refused} ]\n`);
  chmodSync(path, 0o755);
  return path;
}

function sumsIn(directory: string): ReadonlyMap<string, string> {
  const lines = readFileSync(join(directory, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
  return new Map(lines.map((line) => line.split('  ').toReversed() as [string, string]));
}

beforeAll(() => {
  const left = ['.git', 'node_modules', 'dist', 'coverage', 'releases'];
  for (const name of readdirSync(root).filter((each) => !left.includes(each))) {
    cpSync(join(root, name), join(repository, name), { recursive: true });
  }
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'Releaser');
  git('config', 'user.email', 'releaser@example.com');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'All of it');
});

afterAll(() => rmSync(work, { recursive: true, force: true }));

describe('a release', () => {
  test.each([
    ['no version', [], /^release: name one version: node release\/run\.ts VERSION/],
    ['what is no version', ['v2'], /^release: "v2" is no version: name one such as 1\.2\.0/],
    ['an unknown flag', ['9.9.9', '--push'], /^release: Unknown option '--push'/],
    ['a version that was', ['0.0.1'], /^release: 0\.0\.1 comes before .*: name a later version$/m],
  ])('is refused in one line when it names %s', (_, args, line) => {
    const { code, lines, err } = release(args);

    expect({ code, lines }).toEqual({ code: 2, lines: [] });
    expect(err.trimEnd().split('\n')).toEqual([expect.stringMatching(line)]);
  });

  test('is refused in one line when the checkout has changes', () => {
    const path = join(repository, 'README.md');
    const before = readFileSync(path, 'utf8');
    writeFileSync(path, `${before}.`);

    const { code, err } = release(['9.9.9']);

    writeFileSync(path, before);
    expect(code).toBe(2);
    expect(err).toBe(
      'release: the checkout has changes that are in no commit (" M README.md"): commit or remove them\n',
    );
  });

  test('names in one line where it failed, and leaves everything as it was', () => {
    const [out, before] = [join(work, 'failed'), git('rev-parse', 'HEAD')];
    const helm = standIn('failing', join(work, 'failing.log'), 'package');

    const { code, lines, err } = release(['9.9.9', '--out', out], { HEADWATER_HELM: helm });

    expect({ code, lines }).toEqual({ code: 1, lines: [] });
    expect(err).toMatch(
      /^release: failed at "\S+failing package charts\/headwater .*": nothing is committed, tagged or left behind\n$/,
    );
    expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag')]).toEqual([before, '', '']);
    expect(existsSync(out)).toBe(false);
  });

  test('runs dry without changing anything, then really with the same bytes, and tags last', () => {
    const [dryOut, out] = [join(work, 'dry'), join(work, 'real')];
    const before = git('rev-parse', 'HEAD');

    const dry = release(['9.9.9', '--dry-run', '--out', dryOut]);

    expect({ code: dry.code, err: dry.code === 0 ? '' : dry.err }).toEqual({ code: 0, err: '' });
    expect(dry.lines).toEqual([
      ...[
        'SHA256SUMS',
        'headwater-9.9.9-THIRD-PARTY-NOTICES',
        'headwater-9.9.9-image-layer.tar.gz',
        'headwater-9.9.9-sbom.cdx.json',
      ].map((name) => `made ${join(dryOut, name)}`),
      'NOT made: the archive of the chart, because no helm is on the PATH, and HEADWATER_HELM names none. Make it by: helm package charts/headwater',
      expect.stringMatching(
        /^NOT made: the image, because no Docker engine answers\. Make it by: docker buildx build --file image\/Dockerfile --platform linux\/amd64,linux\/arm64 .* --tag headwater:9\.9\.9 \.$/,
      ),
      'dry run: nothing is committed, v9.9.9 is not tagged',
    ]);
    expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag')]).toEqual([before, '', '']);
    execFileSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: dryOut });

    const log = join(work, 'log');
    const programs = { HEADWATER_HELM: standIn('helm', log), HEADWATER_DOCKER: standIn('docker', log) };
    const real = release(['9.9.9', '--out', out], programs);

    expect({ code: real.code, last: real.lines.at(-1) }).toEqual({
      code: 0,
      last: 'tagged v9.9.9; publish it by: git push --atomic origin HEAD v9.9.9',
    });
    expect(sumsIn(out)).toEqual(sumsIn(dryOut));
    const revision = git('rev-parse', 'v9.9.9^{commit}');
    expect([git('rev-parse', 'HEAD'), git('rev-parse', 'HEAD^')]).toEqual([revision, before]);
    expect(git('show', '--format=%an %s', '--name-only').split('\n').filter(Boolean)).toEqual([
      'Releaser Headwater 9.9.9',
      'charts/headwater/Chart.yaml',
      'docs/install-eks.md',
      'docs/install-self-managed-aws.md',
      'docs/upgrade.md',
      'image/Dockerfile',
      'package-lock.json',
      'package.json',
    ]);
    expect(git('status', '--porcelain')).toBe('');
    expect(readFileSync(log, 'utf8').trimEnd().split('\n')).toEqual([
      'version',
      'version --format {{.Server.Version}}',
      expect.stringMatching(/^package charts\/headwater --destination \/\S+$/),
      expect.stringMatching(
        `^buildx build --file image/Dockerfile --platform linux/amd64,linux/arm64 --label org.opencontainers.image.revision=${revision} --tag headwater:9.9.9 --output type=oci,dest=/\\S+/headwater-9.9.9-image.oci.tar .$`,
      ),
    ]);

    expect(release(['9.9.9', '--out', out]).err).toBe(
      'release: v9.9.9 is tagged already: name a later version\n',
    );
  });

  test('has its version in what the image runs and in its bill of materials', () => {
    const out = join(work, 'real');
    const unpacked = mkdtempSync(join(work, 'unpacked-'));
    execFileSync('tar', ['--extract', '--file', join(out, 'headwater-9.9.9-image-layer.tar.gz')], {
      cwd: unpacked,
    });
    const program = join(unpacked, 'opt/headwater/bin/headwater');
    const bill = JSON.parse(readFileSync(join(out, 'headwater-9.9.9-sbom.cdx.json'), 'utf8')) as unknown;

    const env = { ...environment, HEADWATER_NODE: process.execPath };
    expect(execFileSync(program, ['--version'], { encoding: 'utf8', env })).toBe('9.9.9\n');
    expect(bill).toMatchObject({ metadata: { component: { name: 'headwater', version: '9.9.9' } } });
  });
});
