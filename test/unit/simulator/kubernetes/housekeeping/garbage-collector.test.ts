import { describe, expect, test } from '@jest/globals';
import { ciliumNode, ciliumNodes, type Rig, rig } from '../model-rig.ts';

const nodes = '/api/v1/nodes';
const held = { finalizers: ['example.org/hold'] };

async function owner(send: Rig['send'], name: string): Promise<object> {
  const { body } = await send('POST', nodes, { metadata: { name } });
  return { apiVersion: 'v1', kind: 'Node', name, uid: body.metadata?.['uid'] };
}

function names(model: Rig['model']): readonly unknown[] {
  return model.list('ciliumnodes.cilium.io').map(({ metadata }) => metadata.name);
}

describe('the garbage collector', () => {
  test('does not run in a bare server', async () => {
    const { model, send } = rig();
    const reference = await owner(send, 'n1');
    await send('POST', ciliumNodes, ciliumNode('n1', { ownerReferences: [reference] }));

    await send('DELETE', `${nodes}/n1`);

    expect(names(model)).toEqual(['n1']);
  });

  test('deletes an object together with the last of its owners', async () => {
    const { model, send } = rig({ collectGarbage: true });
    const [first, second] = [await owner(send, 'n1'), await owner(send, 'n2')];
    await send('POST', ciliumNodes, ciliumNode('both', { ownerReferences: [first, second] }));
    await send('POST', ciliumNodes, ciliumNode('one', { ownerReferences: [first] }));
    await send('POST', ciliumNodes, ciliumNode('none'));

    await send('DELETE', `${nodes}/n1`);
    const left = names(model);
    const owners = model.get('ciliumnodes.cilium.io', 'both')?.metadata.ownerReferences;
    await send('DELETE', `${nodes}/n2`);

    expect(left).toEqual(['both', 'none']);
    expect(owners).toEqual([second]);
    expect(names(model)).toEqual(['none']);
  });

  test('deletes an object whose owner was gone before the object was created', async () => {
    const { model, send } = rig({ collectGarbage: true });

    await send(
      'POST',
      ciliumNodes,
      ciliumNode('late', { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'x', uid: 'gone' }] }),
    );

    expect(names(model)).toEqual([]);
  });

  test('lets an owner wait for its dependents when the request asks for that', async () => {
    const { model, send } = rig({ collectGarbage: true });
    const reference = await owner(send, 'n1');
    await send('POST', ciliumNodes, ciliumNode('held', { ownerReferences: [reference], ...held }));

    await send('DELETE', `${nodes}/n1?propagationPolicy=Foreground`);
    const waiting = model.get('nodes', 'n1')?.metadata.finalizers;
    await send('PATCH', `${ciliumNodes}/held`, { metadata: { finalizers: null } });

    expect(waiting).toEqual(['foregroundDeletion']);
    expect(names(model)).toEqual([]);
    expect(model.get('nodes', 'n1')).toBeUndefined();
  });

  test('leaves the dependents alone when the request asks for that', async () => {
    const { model, send } = rig({ collectGarbage: true });
    const reference = await owner(send, 'n1');
    await send('POST', ciliumNodes, ciliumNode('kept', { ownerReferences: [reference] }));

    await send('DELETE', `${nodes}/n1?propagationPolicy=Orphan`);

    expect(model.get('nodes', 'n1')).toBeUndefined();
    expect(model.get('ciliumnodes.cilium.io', 'kept')?.metadata.ownerReferences).toBeUndefined();
  });

  test('empties a namespace that is deleted, and then deletes the namespace', async () => {
    const { model, send } = rig({ collectGarbage: true });
    const inside = '/api/v1/namespaces/room';
    const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'x' }] };
    await send('POST', '/api/v1/namespaces', { metadata: { name: 'room' } });
    await send('POST', `${inside}/configmaps`, { metadata: { name: 'c' } });
    await send('POST', `${inside}/pods`, { metadata: { name: 'p' }, spec });

    await send('DELETE', inside);
    const waiting = model.get('namespaces', 'room')?.['status'];
    await send('DELETE', `${inside}/pods/p`, { gracePeriodSeconds: 0 });

    expect(waiting).toEqual({ phase: 'Terminating' });
    expect(model.list('configmaps')).toEqual([]);
    expect(model.get('namespaces', 'room')).toBeUndefined();
  });
});
