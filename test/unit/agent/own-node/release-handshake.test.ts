import { describe, expect, test } from '@jest/globals';
import { handshakeAnswers, isLeaving } from '../../../../src/agent/own-node/offered-addresses.ts';

describe('the handshake', () => {
  test.each([
    ['marked-for-release', 'free', 'ready-for-release'],
    ['marked-for-release', 'taken', 'do-not-release'],
    ['marked-for-release', 'not offered', 'do-not-release'],
    ['marked-for-release', 'taken, not offered', 'do-not-release'],
    ['released', 'not offered', null],
    ['released', 'taken, not offered', null],
    ['released', 'free', undefined],
    ['released', 'taken', undefined],
    ['ready-for-release', 'free', undefined],
    ['ready-for-release', 'not offered', undefined],
    ['do-not-release', 'taken', undefined],
    ['do-not-release', 'not offered', undefined],
    ['anything', 'free', undefined],
  ])('of an address that is %s and %s: %s', (state, place, answer) => {
    const whereabouts = { isOffered: !place.includes('not offered'), isTaken: place.includes('taken') };

    expect(handshakeAnswers({ '10.0.0.1': state }, () => whereabouts).get('10.0.0.1')).toBe(answer);
  });

  test.each([
    [undefined, false],
    [null, false],
    ['do-not-release', false],
    ['marked-for-release', true],
    ['ready-for-release', true],
    ['released', true],
    ['anything', true],
    [7, true],
  ])('with the state %s hands the address over: %s', (state, expected) => {
    expect(isLeaving(state)).toBe(expected);
  });

  test.each([undefined, null, 'text', []])('that is no map, %j, is answered with nothing', (shown) => {
    expect(handshakeAnswers(shown, () => ({ isOffered: true, isTaken: false })).size).toBe(0);
  });
});
