import { expect, test } from '@jest/globals';
import { inShort, rig } from '../model-rig.ts';

const events = '/api/v1/namespaces/default/events';
const hour = 3_600_000;

test('the API server deletes Events an hour after their last write', async () => {
  const { clock, model, send, watch } = rig();
  const event = (name: string): object => ({
    metadata: { name },
    involvedObject: { kind: 'Node', name: 'n' },
  });
  await send('POST', events, event('old'));
  await send('POST', events, event('renewed'));
  const seen = await watch(`${events}?resourceVersion=${model.revision}&timeoutSeconds=86400`);
  await clock.advance(hour / 2);
  await send('PATCH', `${events}/renewed`, { count: 2 });

  await clock.advance(hour / 2);
  const first = (await send('GET', events)).body.items?.map(({ metadata }) => metadata?.['name']);
  await clock.advance(hour / 2);

  expect(first).toEqual(['renewed']);
  expect(model.list('events')).toEqual([]);
  await clock.advance(0);
  expect(inShort(seen.events)).toEqual(['MODIFIED renewed', 'DELETED old', 'DELETED renewed']);
});
