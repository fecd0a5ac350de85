import { describe, expect, test } from '@jest/globals';
import { parsePoolSpecs } from '../../../src/config/pool-specs.ts';

const both = {
  ipv4: { cidrs: ['10.0.0.0/16', '10.1.0.0/16'], maskSize: 24 },
  ipv6: { cidrs: ['fd00::/104'], maskSize: 120 },
};

describe('pools to create', () => {
  test.each<[string, object]>([
    [
      'blue=ipv4-cidrs:10.0.0.0/16,10.1.0.0/16;ipv4-mask-size:24;ipv6-cidrs:fd00::/104;ipv6-mask-size:120',
      { blue: both },
    ],
    [
      'a=ipv4-cidrs: 10.0.0.0/8 ; ipv4-mask-size: 24;,b=ipv6-cidrs:fd00::/104;ipv6-mask-size:120',
      {
        a: { ipv4: { cidrs: ['10.0.0.0/8'], maskSize: 24 } },
        b: { ipv6: both.ipv6 },
      },
    ],
    [
      '{"blue":"ipv4-cidrs:10.0.0.0/16,10.1.0.0/16;ipv4-mask-size:24;ipv6-cidrs:fd00::/104;ipv6-mask-size:120"}',
      { blue: both },
    ],
    [
      'a=ipv4-cidrs:10.0.0.0/8;ipv4-mask-size:24;allow-first-ip:true;allow-last-ip:false',
      {
        a: { ipv4: { cidrs: ['10.0.0.0/8'], maskSize: 24 }, allowFirstIP: true },
      },
    ],
    ['{}', {}],
  ])('are read from %s', (text, expected) => {
    expect(Object.fromEntries(parsePoolSpecs(text) ?? [])).toEqual(expected);
  });

  test.each([
    'blue',
    'blue=10.0.0.0/8',
    'blue=ipv4-cidrs:10.0.0.0/8',
    'blue=ipv4-mask-size:24',
    'blue=ipv4-cidrs:10.0.0.0/8;ipv4-mask-size:33',
    'blue=ipv4-cidrs:10.0.0.0/8;ipv4-mask-size:x',
    'blue=ipv4-cidrs:10.0.0.0/8;ipv4-mask-size:24;colour:blue',
    'blue=ipv4-cidrs:10.0.0.0/8;ipv4-mask-size:24;ipv4-mask-size:25',
    'blue=ipv4-cidrs:10.0.0.0/8;ipv4-mask-size:24;allow-first-ip:perhaps',
    'Blue=ipv4-cidrs:10.0.0.0/8;ipv4-mask-size:24',
    'blue=ipv4-cidrs:10.0.0.0/8;ipv4-mask-size:24,blue=ipv4-cidrs:11.0.0.0/8;ipv4-mask-size:24',
    '{"blue":7}',
    '{"blue"',
  ])('are refused as %s', (text) => {
    expect(parsePoolSpecs(text)).toBeUndefined();
  });
});
