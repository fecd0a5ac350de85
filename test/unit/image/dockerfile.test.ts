import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { packageDirectories } from '../../../image/bundled-packages.ts';
import { debianPackages, notices, sbom } from '../../../image/bill-of-materials.ts';
import { readDockerfile } from '../../../image/dockerfile.ts';

const own = new URL('../../../image/Dockerfile', import.meta.url);

describe('the Dockerfile', () => {
  test('is read with its stages, in order', () => {
    const [build, plugin, image] = readDockerfile(readFileSync(own, 'utf8'));

    expect(build).toMatchObject({ name: 'build', workdir: '/build' });
    expect(build?.steps.map(({ kind }) => kind)).toEqual([
      'copy',
      'copy',
      'run',
      'copy',
      'run',
      'run',
      'run',
    ]);
    expect(plugin).toMatchObject({ name: 'plugin', workdir: '/build' });
    expect(plugin?.steps.map(({ kind }) => kind)).toEqual(['copy', 'run', 'run']);
    expect(image).toMatchObject({
      user: '65532:65532',
      environment: { HOME: '/' },
      entrypoint: ['/opt/headwater/bin/headwater'],
      command: ['run'],
      steps: [
        { kind: 'copy', copy: { from: 'build', source: '/build/out', target: '/' } },
        { kind: 'copy', copy: { from: 'plugin', source: '/build/plugin/dist/headwater-ipam' } },
      ],
    });
  });

  test('runs nothing in its last stage, which is built for other machines too', () => {
    expect(
      readDockerfile(readFileSync(own, 'utf8'))
        .at(-1)
        ?.steps.map(({ kind }) => kind),
    ).toEqual(['copy', 'copy']);
  });

  test.each(['VOLUME /data', 'RUN\tls', 'FROM a AS b AS c', 'ENV HOME /', 'LABEL a=b', 'COPY a'])(
    'may not have %s, which nothing carries out',
    (line) => {
      expect(() => readDockerfile(`FROM node\n${line}\n`)).toThrow(
        `image/Dockerfile: not known here: ${line}`,
      );
    },
  );

  test('has the version of the package', () => {
    const { version } = JSON.parse(
      readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
    ) as { version: string };
    const chart = readFileSync(new URL('../../../charts/headwater/Chart.yaml', import.meta.url), 'utf8');

    expect(readDockerfile(readFileSync(own, 'utf8')).at(-1)?.labels['org.opencontainers.image.version']).toBe(
      version,
    );
    expect(chart).toContain(`\nappVersion: ${version}\n`);
  });
});

describe('the packages of the bundle', () => {
  const one = {
    name: 'one',
    version: '1.0.0',
    license: 'MIT',
    texts: ['Take it.'],
    integrity: 'sha512-AAEC',
  };
  const two = { ...one, name: '@scope/two', license: '(MIT OR Apache-2.0)', integrity: undefined };

  test('are those that the bundler read, packages within packages included', () => {
    const inputs = [
      'src/main.ts',
      'node_modules/a/x.js',
      'node_modules/a/node_modules/@b/c/y.js',
      'node_modules/a/z.js',
    ];

    expect(packageDirectories(inputs)).toEqual(['node_modules/a', 'node_modules/a/node_modules/@b/c']);
  });

  test('share a text in the notices when theirs is the same', () => {
    expect(notices([one, two])).toMatch(/one 1\.0\.0 \(MIT\)\n@scope\/two 1\.0\.0 .*\n\nTake it\.\n$/);
  });

  test('are components of the bill of materials, with the known facts', () => {
    const { components } = JSON.parse(sbom({ name: 'own', version: '1', license: 'MIT' }, [one, two])) as {
      components: unknown[];
    };

    expect(components).toEqual([
      expect.objectContaining({
        purl: 'pkg:npm/one@1.0.0',
        licenses: [{ license: { id: 'MIT' } }],
        hashes: [{ alg: 'SHA-512', content: '000102' }],
      }),
      expect.objectContaining({
        purl: 'pkg:npm/%40scope/two@1.0.0',
        licenses: [{ expression: '(MIT OR Apache-2.0)' }],
      }),
    ]);
  });

  test('of the base are listed with what they are called in Debian', () => {
    const [first] = debianPackages('libstdc++6 12.2.0-14+deb12u1 amd64\nbash 5.2.15-2+b7 amd64\n');

    expect(first).toEqual({
      name: 'libstdc++6',
      version: '12.2.0-14+deb12u1',
      purl: 'pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?arch=amd64',
    });
    expect(
      JSON.parse(sbom({ name: 'own', version: '1', license: 'MIT' }, [], first && [first])),
    ).toMatchObject({
      components: [{ type: 'application', 'bom-ref': first?.purl, name: 'libstdc++6' }],
    });
  });
});
