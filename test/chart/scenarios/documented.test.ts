// Runs the helm commands of the pages, in the order of the pages, on a real API server.
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedCluster } from '../../e2e/rig/shared-cluster.ts';
import { blocksOf, commandsIn, pagesWithCommands } from '../../support/documented-commands.ts';
import { argumentsOf, objectsIn } from '../../../rig/manifests.ts';
import { chart, helmDone } from '../rig/helm.ts';
import { helmIn, installed, namespace } from '../rig/installation.ts';

const directory = mkdtempSync(join(tmpdir(), 'documented-'));

/** Each helm command with the files that the page names. */
function commandsOf(page: string): readonly (readonly string[])[] {
  const values = join(directory, 'headwater.yaml');
  const blocks = [...blocksOf('docs/install-eks.md'), ...blocksOf(page)];
  const shown = blocks.filter(({ text }) => text.startsWith('# headwater.yaml\n')).at(-1);
  writeFileSync(values, shown?.text ?? '');
  const places: Readonly<Record<string, string>> = {
    'charts/headwater': chart,
    'charts/headwater/values-localstack.yaml': `${chart}/values-localstack.yaml`,
    'headwater.yaml': values,
  };
  return blocksOf(page)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => commandsIn(text))
    .filter(([program]) => program === 'helm')
    .map(([, ...words]) =>
      words.map((word) => places[word] ?? word).filter((word) => !/^>|rendered/.test(word)),
    );
}

const pages = pagesWithCommands.filter((page) => commandsOf(page).length > 0);

describe('the helm commands of the pages', () => {
  const shared = sharedCluster({ nodes: 1, withoutAgents: true, withoutRoles: true });

  afterEach(async () => {
    for (const release of ['headwater', 'headwater-next', 'headwater-blocks'])
      await helmIn(shared().api, 'uninstall', release, '--ignore-not-found');
  });

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test('are found in the pages', () => {
    expect(pages).toEqual([
      'README.md',
      'docs/cidr-modes.md',
      'docs/install-ack.md',
      'docs/install-aks.md',
      'docs/install-eks.md',
      'docs/install-kubeadm.md',
      'docs/install-self-managed-aws.md',
      'docs/migrate.md',
      'docs/two-releases.md',
      'docs/upgrade.md',
      'docs/without-cilium.md',
    ]);
  });

  test.each(pages)('do what the page says, one after the other: %s', async (page) => {
    const { api } = shared();
    const commands = commandsOf(page);
    const needsOne = ['upgrade', 'rollback', 'uninstall'].includes(commands[0]?.[0] ?? '');
    if (needsOne) await helmIn(api, ...(commandsOf('docs/install-eks.md')[0] ?? []));

    for (const words of commandsOf(page)) {
      expect(words.at(words.indexOf('--namespace') + 1)).toBe(namespace);
      if (words[0] === 'template') {
        expect(argumentsOf(objectsIn(await helmDone(...words)))).toContain('run');
        continue;
      }
      // A page may show several ways to install a release.
      if (words[0] === 'install') await helmIn(api, 'uninstall', words[1] ?? '', '--ignore-not-found');
      await helmIn(api, ...words);
      const isThere = (await installed(api)).includes(`Deployment ${words[1] ?? ''}`);
      expect([words.slice(0, 2), isThere]).toEqual([words.slice(0, 2), words[0] !== 'uninstall']);
    }
  });
});
