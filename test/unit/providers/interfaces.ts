// Network interfaces for tests: a complete record, with the changes that a test gives.
import type { Attachment, NetworkInterface } from '../../../src/providers/contract/network-interface.ts';

export function attachment(change: Partial<Attachment> = {}): Attachment {
  return {
    id: 'attach-1',
    instanceId: 'i-1',
    deviceIndex: 0,
    networkCard: 0,
    state: 'attached',
    deleteOnTermination: true,
    ...change,
  };
}

/** `eni-1`, the first interface of `i-1`, unless changed. */
export function networkInterface(change: Partial<NetworkInterface> = {}): NetworkInterface {
  return {
    id: 'eni-1',
    description: '',
    networkId: 'vpc-1',
    subnetId: 'subnet-1',
    zone: 'us-west-1a',
    mac: '02:00:00:00:00:01',
    primaryAddress: '10.0.0.4',
    publicAddress: undefined,
    addresses: [],
    prefixes: [],
    securityGroupIds: ['sg-1'],
    tags: {},
    reservedFor: undefined,
    attachment: attachment(),
    ...change,
  };
}

/** `count` addresses of 10.0.`third`.0/24, from `first` on. */
export function addresses(count: number, third = 0, first = 10): string[] {
  return Array.from({ length: count }, (_, index) => `10.0.${third}.${first + index}`);
}
