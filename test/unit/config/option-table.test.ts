import { describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import type { ListenAddress } from '../../../src/observability/listen-address.ts';
import type { LogLevel } from '../../../src/observability/logger.ts';
import { optionGroups } from '../../../src/config/option-row.ts';
import { optionsOfCommand } from '../../../src/config/option-scope.ts';
import {
  environmentNameOf,
  optionNames,
  type OptionName,
  type Options,
  optionTable,
  propertyOf,
} from '../../../src/config/option-table.ts';
import { optionsWithoutEffect } from '../../../src/config/options/options-without-effect.ts';

type Same<A, B> = [A, B] extends [B, A] ? true : false;

/** Compiles only if the table gives these types. */
const typesAsPromised: [
  Same<Options['ipam'], 'azure' | 'alibabacloud' | 'cluster-pool' | 'multi-pool' | 'eni'>,
  Same<Options['enableIpv4'], boolean | undefined>,
  Same<Options['vpcId'], string | undefined>,
  Same<Options['limitIpamApiQps'], number | undefined>,
  Same<Options['resyncInterval'], number>,
  Same<Options['subnetIdsFilter'], readonly string[]>,
  Same<Options['k8sNamespace'], string>,
  Same<Options['serveAddr'], ListenAddress>,
  Same<Options['logLevel'], LogLevel>,
] = [true, true, true, true, true, true, true, true, true];

describe('the table of options', () => {
  test('gives the types that it declares', () => {
    expect(typesAsPromised).not.toContain(false);
  });

  test.each<[OptionName, keyof Options, string]>([
    ['parallel-alloc-workers', 'parallelAllocWorkers', 'CILIUM_PARALLEL_ALLOC_WORKERS'],
    ['k8s-api-server', 'k8sApiServer', 'CILIUM_K8S_API_SERVER'],
    ['enable-ipv4', 'enableIpv4', 'CILIUM_ENABLE_IPV4'],
    ['vpc-id', 'vpcId', 'HEADWATER_VPC_ID'],
    ['config-dir', 'configDir', 'HEADWATER_CONFIG_DIR'],
  ])('%s is %s in the code and %s in the environment', (name, property, variable) => {
    expect(propertyOf(name)).toBe(property);
    expect(environmentNameOf(name)).toBe(variable);
  });

  test('gives no two options the same property or variable', () => {
    const all = [...new Set([...optionNames, ...Object.keys(optionsWithoutEffect.run.reasons)])];

    expect(new Set(optionNames.map(propertyOf)).size).toBe(optionNames.length);
    expect(new Set(all.map(environmentNameOf)).size).toBe(all.length);
  });

  test.each(Object.entries(optionsWithoutEffect))(
    'has no option without effect in %s that has one there',
    (command, { reasons }) => {
      const effective: readonly string[] = optionsOfCommand(command as keyof typeof optionsWithoutEffect);

      expect(Object.keys(reasons).filter((name) => effective.includes(name))).toEqual([]);
    },
  );

  test.each(optionNames.map((name) => [name]))('has every part of %s', (name) => {
    const { kind, help, group } = optionTable[name];

    expect(help).toMatch(/^[A-Z].*\.$/);
    expect(kind.accepts).toMatch(/\S/);
    expect(optionGroups[group]).toMatch(/\S/);
  });

  test('never takes options of one process from a shared directory', () => {
    const ownToTheProcess = optionNames.filter((name) => !optionTable[name].fromConfigDir);

    expect(ownToTheProcess.toSorted()).toEqual([
      'agent-health-port',
      'boot-id-file',
      'cilium-node-spec',
      'config-dir',
      'exclude-ips',
      'ipv4-range',
      'ipv6-range',
      'k8s-namespace',
      'leader-election-lease-duration',
      'leader-election-lease-name',
      'leader-election-renew-deadline',
      'leader-election-retry-period',
      'node-name',
      'node-selector',
      'prometheus-serve-addr',
      'resolv-conf-directories',
      'serve-addr',
      'socket-path',
      'state-dir',
      'ui',
    ]);
  });

  test('has no pattern that repeats anything over 1,000 times, which Helm refuses in the schema of the chart', async () => {
    const schema = await readFile(
      new URL('../../../charts/headwater/values.schema.json', import.meta.url),
      'utf8',
    );
    const repeats = [...schema.matchAll(/\{(\d+),(\d*)\}/g)].flatMap(([, ...bounds]) => bounds.map(Number));

    expect(repeats.length).toBeGreaterThan(0);
    expect(Math.max(...repeats)).toBeLessThanOrEqual(1000);
  });
});
