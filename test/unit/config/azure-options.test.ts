import { describe, expect, test } from '@jest/globals';
import { sourceInWords } from '../../../src/config/option-source.ts';
import { accepted, load, type Outside, problemsOf } from './loading.ts';

const [one, two] = ['00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-00000000000B'];

describe('the subscriptions', () => {
  test.each<[string, Outside, readonly string[]]>([
    ['a flag', { flags: { 'azure-subscription-id': [`${one},${two}`] } }, [one, two]],
    ['the variable of the option', { environment: { CILIUM_AZURE_SUBSCRIPTION_ID: one } }, [one]],
    ['the variable of older versions', { environment: { AZURE_SUBSCRIPTION_ID: one } }, [one]],
    [
      'the variable of the option before that of older versions',
      { environment: { CILIUM_AZURE_SUBSCRIPTION_ID: one, AZURE_SUBSCRIPTION_ID: two } },
      [one],
    ],
    [
      'a file before the variable of older versions',
      {
        flags: { 'config-dir': ['/c'] },
        files: { '/c/azure-subscription-id': one },
        environment: { AZURE_SUBSCRIPTION_ID: two },
      },
      [one],
    ],
  ])('come from %s', (_, outside, expected) => {
    expect(accepted(load(outside)).options.azureSubscriptionId).toEqual(expected);
  });

  test('are refused by the name of the variable that they come from', () => {
    const environment = { AZURE_SUBSCRIPTION_ID: 'production' };

    expect(problemsOf(load({ flags: { ipam: ['azure'] }, environment }))).toEqual([
      expect.stringContaining(
        'azure-subscription-id: "production" from the environment variable AZURE_SUBSCRIPTION_ID is refused',
      ),
    ]);
  });
});

test('older variables of cilium-operator set the other options of Azure, too', () => {
  const { options, sources } = accepted(
    load({
      environment: {
        AZURE_RESOURCE_GROUP: 'MC_größe(1)',
        AZURE_USER_ASSIGNED_IDENTITY_ID: one,
        AZURE_USE_PRIMARY_ADDRESS: 'true',
      },
    }),
  );

  expect(options).toMatchObject({
    azureResourceGroup: ['MC_größe(1)'],
    azureUserAssignedIdentityId: one,
    azureUsePrimaryAddress: true,
  });
  expect(sourceInWords('azure-resource-group', sources['azure-resource-group'])).toBe(
    'the environment variable AZURE_RESOURCE_GROUP',
  );
});

describe('an option of another cloud', () => {
  const given = { 'aws-release-excess-ips': ['true'], 'azure-resource-group': ['nodes'] };

  test.each([
    ['eni', 'azure-resource-group', 'it is an option of --ipam=azure, and this is --ipam=eni'],
    ['azure', 'aws-release-excess-ips', 'it is an option of --ipam=eni, and this is --ipam=azure'],
  ])('is a notice with --ipam=%s', (ipam, option, reason) => {
    const { notices, warnings } = accepted(
      load({ flags: { ...given, ipam: [ipam], 'cluster-name': ['one'] } }),
    );

    expect(notices).toEqual([
      {
        kind: 'notice',
        message: 'option has no effect',
        details: { option, from: `the flag --${option}`, reason },
      },
    ]);
    expect(warnings).toEqual([]);
  });

  test('is none where several clouds have it', () => {
    const filters = {
      'subnet-ids-filter': ['vsw-1'],
      'subnet-tags-filter': ['a=b'],
      'instance-tags-filter': ['a=b'],
    };
    const flags = { ...filters, ipam: ['alibabacloud'], 'cluster-name': ['one'] };

    expect(accepted(load({ flags })).notices).toEqual([]);
  });

  test.each<[string, Outside]>([
    ['a directory, which is shared', { files: { '/c/azure-resource-group': 'nodes' } }],
    ['a variable that other programs read', { environment: { AZURE_RESOURCE_GROUP: 'nodes' } }],
  ])('is no notice from %s', (_, outside) => {
    const { notices } = accepted(load({ ...outside, flags: { 'config-dir': ['/c'] } }));

    expect(notices).toEqual([]);
  });

  test('may have any value', () => {
    const { options } = accepted(load({ environment: { AZURE_SUBSCRIPTION_ID: 'production' } }));

    expect(options.azureSubscriptionId).toEqual([]);
  });

  test('does not limit the tags of interfaces that Azure does not make', () => {
    const tags = Array.from({ length: 60 }, (_, index) => `tag${index}=1`).join();

    expect(problemsOf(load({ flags: { 'eni-tags': [tags], ipam: ['azure'] } }))).toEqual([]);
  });
});

test('a limit of Azure can be raised by its name', () => {
  const text = 'VirtualMachineScaleSetVMs.Update-per-VM=24:0.2,arm-reads=500:50';

  const { options } = accepted(load({ flags: { 'cloud-quota-overrides': [text] } }));

  expect([...options.cloudQuotaOverrides]).toEqual([
    ['VirtualMachineScaleSetVMs.Update-per-VM', { capacity: 24, refill: 0.2 }],
    ['arm-reads', { capacity: 500, refill: 50 }],
  ]);
});
