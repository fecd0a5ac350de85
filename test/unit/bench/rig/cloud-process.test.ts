import { describe, expect, test } from '@jest/globals';
import { servedModelIn } from '../../../../bench/rig/cloud-process.ts';

describe('what a served model says of itself', () => {
  test('is where it is, the environment of its clients, and the flags of a controller', () => {
    const lines = [
      '# Azure with 3 machines; its state and its faults: https://127.0.0.1:4598/_headwater/',
      '# --azure-endpoint=https://127.0.0.1:4598 --azure-metadata-endpoint=http://127.0.0.1:4597',
      'export NODE_EXTRA_CA_CERTS=azure.pem',
      'export AZURE_CLIENT_SECRET=a=b',
    ];

    expect(servedModelIn(lines)).toEqual({
      url: 'https://127.0.0.1:4598',
      variables: { NODE_EXTRA_CA_CERTS: 'azure.pem', AZURE_CLIENT_SECRET: 'a=b' },
      flags: ['--azure-endpoint=https://127.0.0.1:4598', '--azure-metadata-endpoint=http://127.0.0.1:4597'],
    });
  });

  test('is an error without a place', () => {
    expect(() => servedModelIn(['export AZURE_CLIENT_SECRET=a'])).toThrow('does not say where it is');
  });
});
