import { expect, test } from '@jest/globals';
import {
  instanceIdOf,
  isInstanceId,
  isInstanceType,
  isNetworkId,
} from '../../../../src/providers/aws/ids.ts';

test.each<[string, boolean]>([
  ['vpc-0123abcd', true],
  ['vpc-0123456789abcdef0', true],
  ['vpc-0123456789abcdef', false],
  ['vpc-0123ABCD', false],
  ['vpc-*', false],
  ['vpc-0123abc?', false],
  ['vpc-0123abcd\n', false],
  ['VPC-0123abcd', false],
  ['__proto__', false],
  [`vpc-${'0'.repeat(300)}`, false],
  ['', false],
])('%j can be the id of a network: %s', (id, expected) => {
  expect(isNetworkId(id)).toBe(expected);
  expect(isInstanceId(id.replace('vpc', 'i').replace('VPC', 'I'))).toBe(expected);
});

test.each<[string, boolean]>([
  ['m5.large', true],
  ['u7in-16tb.224xlarge', true],
  ['m7i-flex.8xlarge', true],
  ['mac2-m2pro.metal', true],
  ['m5', false],
  ['m5.*', false],
  ['m5.large\n', false],
  [`m5.${'x'.repeat(300)}`, false],
])('%j can be an instance type: %s', (name, expected) => {
  expect(isInstanceType(name)).toBe(expected);
});

test.each<[string, string | undefined]>([
  ['aws:///us-east-1a/i-0123456789abcdef0', 'i-0123456789abcdef0'],
  ['aws:///i-0123456789abcdef0', 'i-0123456789abcdef0'],
  ['aws:////i-0123456789abcdef0', 'i-0123456789abcdef0'],
  ['aws://i-0123456789abcdef0', undefined],
  ['aws:///us-east-1a/i-12345678', 'i-12345678'],
  ['aws:///us-east-1a/i-0123456789abcdef0/more', undefined],
  ['aws:///us-east-1a/fargate-ip-10-0-0-1', undefined],
  ['aws:///us-east-1a/I-0123456789ABCDEF0', undefined],
  ['gce://project/zone/i-0123456789abcdef0', undefined],
  ['', undefined],
])('the provider ID %s names the instance %s', (providerId, instanceId) => {
  expect(instanceIdOf(providerId)).toBe(instanceId);
});
