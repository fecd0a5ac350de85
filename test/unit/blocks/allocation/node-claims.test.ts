import { describe, expect, test } from '@jest/globals';
import { BlockLedger } from '../../../../src/blocks/allocation/block-ledger.ts';
import { NodeClaims } from '../../../../src/blocks/allocation/node-claims.ts';
import { cidrText } from '../../../../src/blocks/set/cidr.ts';
import { cidr } from './holder-model.ts';

const a = { name: 'a', uid: 'uid-a' };

class Scene {
  readonly ledger = new BlockLedger([
    { pool: 'blue', cidr: cidr('10.0.0.0/24'), maskSize: 28 },
    { pool: 'red', cidr: cidr('10.1.0.0/24'), maskSize: 28 },
    { pool: 'blue', cidr: cidr('fd00::/120'), maskSize: 124 },
  ]);
  hasNode: boolean | undefined = false;
  readonly claims = new NodeClaims(this.ledger, 4, () => this.hasNode);

  /** What counts for nothing, and what is held. */
  hold(...texts: string[]): readonly (readonly string[])[] {
    const without = this.claims.hold(a, texts.map(cidr));
    return [without.map(cidrText), this.ledger.heldBy(a.uid).map(cidrText)];
  }
}

describe('the claims of an object without a Node', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['as many blocks as the bound', ['10.0.0.0/26'], []],
    ['no block of more than the bound', ['10.0.0.0/25'], ['10.0.0.0/25']],
    ['the first ones up to the bound', ['10.0.0.0/27', '10.0.0.32/27', '10.0.0.64/28'], ['10.0.0.64/28']],
    ['as many of each pool', ['10.0.0.0/26', '10.1.0.0/26'], []],
    ['as many of each family', ['10.0.0.0/26', 'fd00::/122'], []],
    ['what is in no pool', ['192.168.0.0/16', '10.0.0.0/26'], []],
  ])('are %s', (_, shown, without) => {
    const [found, held] = new Scene().hold(...shown);

    expect(found).toEqual(without);
    expect(held).toEqual(shown.filter((text) => !without.includes(text)));
  });

  test('are first what this process gave', () => {
    const scene = new Scene();
    const given = scene.ledger.allocate('ipv4', a.uid, { pool: 'blue' })?.cidr;
    expect(given && cidrText(given)).toBe('10.0.0.0/28');
    scene.claims.noteGiven(a, given === undefined ? [] : [given]);
    expect(scene.claims.room(a, { pool: 'blue', family: 'ipv4' })).toBe(3);

    expect(scene.hold('10.0.0.64/26', '10.0.0.0/28')).toEqual([['10.0.0.64/26'], ['10.0.0.0/28']]);
  });

  test('are all of it where that was there first', () => {
    const scene = new Scene();
    scene.ledger.trust(a.uid, cidr('10.0.0.0/25'));

    expect(scene.hold('10.0.0.0/25', '10.0.0.128/28')).toEqual([['10.0.0.128/28'], ['10.0.0.0/25']]);
  });
});

describe('the claims of an object', () => {
  test('are whole while it is not known whether it has a Node, and decided then', () => {
    const scene = new Scene();
    scene.hasNode = undefined;
    expect(scene.hold('10.0.0.0/25')).toEqual([[], ['10.0.0.0/25']]);
    expect(scene.claims.undecided).toEqual(['a']);

    scene.hasNode = false;
    expect(scene.hold('10.0.0.0/25')).toEqual([['10.0.0.0/25'], []]);
    expect(scene.claims.undecided).toEqual([]);
  });

  test('are whole for its life once its Node was there', () => {
    const scene = new Scene();
    scene.hasNode = true;
    scene.hold('10.0.0.0/25');
    scene.hasNode = false;

    expect(scene.hold('10.0.0.0/25')).toEqual([[], ['10.0.0.0/25']]);
    expect(scene.claims.room(a, { pool: 'blue', family: 'ipv4' })).toBe(Infinity);

    scene.claims.forget(a);
    expect(scene.hold('10.0.0.0/25')[0]).toEqual(['10.0.0.0/25']);
  });
});
