import { describe, expect, test } from '@jest/globals';
import type { NodeRequirements } from '../../../../src/node/demand/node-requirements.ts';
import { chooseSecurityGroups } from '../../../../src/node/allocate/security-group-choice.ts';
import { attachment } from '../../providers/interfaces.ts';
import { eni, infrastructure, requirements, view } from '../allocation-facts.ts';
import { failure } from '../outcomes.ts';

const known = infrastructure([], {
  securityGroups: [
    { id: 'sg-3', networkId: 'vpc-1', tags: { k: '3', shared: 'yes' } },
    { id: 'sg-1', networkId: 'vpc-1', tags: { k: '1', shared: 'yes' } },
    { id: 'sg-2', networkId: 'vpc-2', tags: { k: '2', shared: 'yes' } },
  ],
});
const first = eni(0, 0, { securityGroupIds: ['sg-8', 'sg-9'] });

describe('the security groups of a new interface', () => {
  test.each<[string, Partial<NodeRequirements>, readonly string[]]>([
    ['those that are named, as they are named', { securityGroupIds: ['sg-z', 'sg-a'] }, ['sg-z', 'sg-a']],
    ['names come before tags', { securityGroupIds: ['sg-z'], securityGroupTags: { k: '1' } }, ['sg-z']],
    ['those with the tags', { securityGroupTags: { k: '1' } }, ['sg-1']],
    [
      'all with the tags in the network, in order',
      { securityGroupTags: { shared: 'yes' } },
      ['sg-1', 'sg-3'],
    ],
    ['those of the first interface otherwise', {}, ['sg-8', 'sg-9']],
  ])('are %s', (_, node, ids) => {
    const choice = chooseSecurityGroups(requirements(node), known, view([eni(1), first]));

    expect(choice).toEqual({ kind: 'chosen', ids });
  });

  test.each<[string, NodeRequirements['securityGroupTags'], string]>([
    ['a value', { k: '9' }, 'k=9'],
    ['one of several', { shared: 'yes', k: '9' }, 'shared=yes, k=9'],
    ['only in another network', { k: '2' }, 'k=2'],
  ])('are not others when tags match nothing: %s', (_, securityGroupTags, wanted) => {
    const choice = chooseSecurityGroups(requirements({ securityGroupTags }), known, view([first]));

    expect(choice).toEqual({ kind: 'noSecurityGroupMatches', wanted });
  });

  test.each([
    ['it is not known', [eni(1)]],
    ['it has none', [eni(0, 0, { securityGroupIds: [] })]],
    ['it is on another card', [eni(0, 0, { attachment: attachment({ networkCard: 1 }) })]],
    ['there is no interface', []],
  ])('are unknown when those of the first interface are needed and %s', (_, interfaces) => {
    expect(chooseSecurityGroups(requirements(), known, view(interfaces))).toEqual({
      kind: 'securityGroupsUnknown',
      networkId: 'vpc-1',
    });
  });
});

describe('the choice while security groups cannot be read', () => {
  const found = failure('notAuthorized');
  const deniedIn = (id: string) => infrastructure([], { denied: { securityGroups: new Map([[id, found]]) } });
  const denied = deniedIn(requirements().networkId);

  test.each<[string, Partial<NodeRequirements>, ReturnType<typeof chooseSecurityGroups>]>([
    ['names are taken', { securityGroupIds: ['sg-1'] }, { kind: 'chosen', ids: ['sg-1'] }],
    ['those of the first interface are taken', {}, { kind: 'chosen', ids: ['sg-8', 'sg-9'] }],
    [
      'tags say why they find nothing',
      { securityGroupTags: { k: '1' } },
      { kind: 'networkUnreadable', failure: found },
    ],
  ])('is made where it can be: %s', (_, node, expected) => {
    expect(chooseSecurityGroups(requirements(node), denied, view([first]))).toEqual(expected);
  });

  test('says of tags that nothing matches if those of another network cannot be read', () => {
    const node = requirements({ securityGroupTags: { k: '1' } });

    const choice = chooseSecurityGroups(node, deniedIn('vpc-other'), view([first]));

    expect(choice).toEqual({ kind: 'noSecurityGroupMatches', wanted: 'k=1' });
  });
});
