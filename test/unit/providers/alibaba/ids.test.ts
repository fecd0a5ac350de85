import { describe, expect, test } from '@jest/globals';
import { instanceIdOf, isInstanceType, isRegion } from '../../../../src/providers/alibaba/ids.ts';

describe('a provider ID', () => {
  test.each([
    ['cn-hangzhou.i-bp67acfmxazb4ph5', 'i-bp67acfmxazb4ph5'],
    ['alicloud://cn-hangzhou.i-bp67acfmxazb4ph5', 'i-bp67acfmxazb4ph5'],
    ['ap-southeast-1.i-t4n1', 'i-t4n1'],
    ['aws:///us-east-1a/i-0123456789abcdef0', undefined],
    ['azure:///subscriptions/s/resourceGroups/g', undefined],
    ['cn-hangzhou.eci-1', undefined],
    ['i-bp67acfmxazb4ph5', undefined],
    ['', undefined],
  ])('%j names %j', (providerId, instanceId) => {
    expect(instanceIdOf(providerId)).toBe(instanceId);
  });
});

describe('an instance type', () => {
  test.each([
    ['ecs.g7.large', true],
    ['ecs.ebmgn7ix.32xlarge', true],
    ['ebmc4.8xlarge', true],
    ['efg2.NH48ENE', true],
    ['large', false],
    ['.', false],
    ['ecs.*', false],
  ])('%s is one: %p', (text, isOne) => {
    expect(isInstanceType(text)).toBe(isOne);
  });
});

describe('a region', () => {
  test.each([
    ['cn-hangzhou', true],
    ['ap-southeast-1', true],
    ['cn-shanghai-finance-1', true],
    ['<html>', false],
    ['evil.example/', false],
  ])('%s is one: %p', (text, isOne) => {
    expect(isRegion(text)).toBe(isOne);
  });
});
