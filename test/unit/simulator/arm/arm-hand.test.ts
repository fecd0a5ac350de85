import { expect, test } from '@jest/globals';
import { ArmHand, oneMore } from '../../../support/arm-hand.ts';
import { armRig, groupPath, ownNicPath, vmPath } from './arm-rig.ts';

test.each([
  ['a VM', groupPath + vmPath],
  ['an interface', groupPath + ownNicPath],
])('a change by hand of %s that another one overtakes is refused, and changes nothing', async (_, path) => {
  const rig = armRig();
  const [slow, quick] = [new ArmHand(rig.gateway), new ArmHand(rig.gateway)];
  const send = slow.send.bind(slow);
  let isFirst = true;
  slow.send = async (method, ...request) => {
    const answer = await send(method, ...request);
    if (!isFirst) return answer;
    isFirst = false;
    expect(await quick.change(path, oneMore('of-the-quick'))).toBeLessThan(300);
    await rig.time.advance(60_000);
    return answer;
  };

  const status = await slow.change(path, oneMore('of-the-slow'));
  await rig.time.advance(60_000);

  const shown = JSON.stringify((await rig.send('GET', path)).body);
  expect(status).toBe(412);
  expect(shown).toContain('of-the-quick');
  expect(shown).not.toContain('of-the-slow');
});
