import { describe, expect, test } from '@jest/globals';
import type { CloudSettings } from '../../../../src/config/clouds/cloud-descriptor.ts';
import { cloudSettings } from '../../../../src/config/clouds/clouds.ts';
import { accepted, load } from '../loading.ts';

function settingsOf(flags: Readonly<Record<string, string>>): CloudSettings {
  const given = Object.fromEntries(Object.entries(flags).map(([name, text]) => [name, [text]]));
  return cloudSettings(accepted(load({ flags: given })).options);
}

describe('the settings of the chosen cloud', () => {
  test('are those of the options of AWS', () => {
    const settings = settingsOf({
      'cluster-name': 'one',
      'aws-release-excess-ips': 'true',
      'aws-use-primary-address': 'true',
      'aws-enable-prefix-delegation': 'true',
      'vpc-id': 'vpc-0123abcd',
      'eni-gc-interval': '1m',
      'azure-use-primary-address': 'false',
    });

    expect(settings).toEqual({
      releaseExcessIps: true,
      idleInterfaceDelay: 3_600_000,
      usePrimaryAddress: true,
      prefixDelegation: true,
      sparesOthers: false,
      scope: { networkId: 'vpc-0123abcd' },
      collection: { kind: 'on', interval: 60_000, dryRun: false },
    });
  });

  test('are those of the options of Alibaba Cloud, where no interface is ever idle', () => {
    const settings = settingsOf({
      ipam: 'alibabacloud',
      'alibaba-cloud-release-excess-ips': 'true',
      'alibaba-cloud-vpc-id': 'vpc-main',
      'idle-interface-delay': '1h',
      'aws-release-excess-ips': 'true',
      'eni-gc-interval': '1m',
      'cluster-name': 'one',
    });

    expect(settings).toEqual({
      releaseExcessIps: true,
      idleInterfaceDelay: undefined,
      usePrimaryAddress: true,
      prefixDelegation: false,
      sparesOthers: false,
      scope: { networkId: 'vpc-main' },
      collection: { kind: 'on', interval: 60_000, dryRun: false },
    });
  });

  test('are those of the options of Azure, whatever the options of AWS say', () => {
    const settings = settingsOf({
      ipam: 'azure',
      'azure-release-excess-ips': 'true',
      'azure-offered-configurations': 'own',
      'azure-use-primary-address': 'true',
      'idle-interface-delay': '1h',
      'aws-release-excess-ips': 'false',
      'aws-enable-prefix-delegation': 'true',
      'vpc-id': 'vpc-0123abcd',
    });

    expect(settings).toEqual({
      releaseExcessIps: true,
      idleInterfaceDelay: undefined,
      usePrimaryAddress: true,
      prefixDelegation: false,
      sparesOthers: true,
      scope: { networkId: undefined },
      collection: { kind: 'off' },
    });
  });
});
