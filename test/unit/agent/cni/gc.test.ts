import { describe, expect, test } from '@jest/globals';
import { AgentRig, type CallOptions, printed } from '../agent-rig.ts';

async function refusal(rig: AgentRig, verb: string, options: CallOptions = {}): Promise<unknown> {
  const answer = await rig.call(verb, options);
  expect(answer.exit).toBe(1);
  const { code, msg, cniVersion } = printed(answer);
  return { code, msg, cniVersion };
}

describe('GC', () => {
  const list = (...containers: readonly string[]) =>
    containers.map((containerID) => ({ containerID, ifname: 'eth0' }));

  test.each<[string, object, readonly string[]]>([
    ['a list keeps what it names', { 'cni.dev/valid-attachments': list('c1', 'c9') }, ['other', 'c1']],
    ['the older key counts too', { 'cni.dev/attachments': list('c2') }, ['other', 'c2']],
    ['an empty list keeps nothing of the network', { 'cni.dev/valid-attachments': [] }, ['other']],
    ['a list that is null is empty', { 'cni.dev/valid-attachments': null }, ['other']],
    ['an older key that is null is empty', { 'cni.dev/attachments': null }, ['other']],
    [
      'the key counts before the older one',
      { 'cni.dev/valid-attachments': null, 'cni.dev/attachments': list('c1') },
      ['other'],
    ],
    ['no list keeps everything', {}, ['other', 'c1', 'c2']],
  ])('by which %s', async (_, conf, kept) => {
    const rig = new AgentRig();
    await rig.call('ADD', { env: { CNI_CONTAINERID: 'other' }, conf: { name: 'other' } });
    for (const id of ['c1', 'c2']) await rig.call('ADD', { env: { CNI_CONTAINERID: id } });

    const answer = await rig.call('GC', { conf });

    expect(answer).toMatchObject({ exit: 0, out: '' });
    expect(answer.note !== undefined).toBe(Object.keys(conf).length === 0);
    expect([...rig.ipam.holdings.attachments()].map(({ container }) => container)).toEqual(kept);
  });

  test.each([{}, 'c1', [7], [{ containerID: 'c1' }]])(
    'refuses %j as a list, and releases nothing',
    async (valid) => {
      const rig = new AgentRig();
      await rig.call('ADD');

      expect(await refusal(rig, 'GC', { conf: { 'cni.dev/valid-attachments': valid } })).toMatchObject({
        code: 6,
      });
      expect(rig.held).toHaveLength(1);
    },
  );

  test('fails, to be repeated, when the record cannot be written', async () => {
    const rig = new AgentRig();
    await rig.call('ADD');
    rig.recordProblem = 'no space left on device';

    expect(await refusal(rig, 'GC', { conf: { 'cni.dev/valid-attachments': [] } })).toMatchObject({
      code: 11,
    });
    expect(rig.held).toHaveLength(1);
  });
});
