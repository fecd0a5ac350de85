import { describe, expect, test } from '@jest/globals';
import { createJsonLogger } from '../../../src/observability/json-logger.ts';
import type { Logger, LogLevel } from '../../../src/observability/logger.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

interface Rig {
  readonly log: Logger;
  readonly clock: VirtualClock;
  readonly lines: () => unknown[];
}

function rig(level: LogLevel): Rig {
  const clock = new VirtualClock();
  const written: string[] = [];
  const log = createJsonLogger({ level, clock, destination: { write: (text) => written.push(text) } });
  return { log, clock, lines: () => written.map((line): unknown => JSON.parse(line)) };
}

describe('createJsonLogger', () => {
  test('writes level, time of the clock, details and message on a line, and nothing else', async () => {
    const { log, clock, lines } = rig('info');

    await clock.advance(1500);
    log.warn('subnet is almost empty', { subnet: 'subnet-0a', free: 3 });

    expect(lines()).toEqual([
      {
        level: 'warn',
        time: '2026-01-01T00:00:01.500Z',
        subnet: 'subnet-0a',
        free: 3,
        msg: 'subnet is almost empty',
      },
    ]);
  });

  test.each<[LogLevel, string[]]>([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
  ])('lets through, at level %s, the lines of the levels %j', (level, expected) => {
    const { log, lines } = rig(level);

    log.debug('m');
    log.info('m');
    log.warn('m');
    log.error('m');

    expect(lines()).toMatchObject(expected.map((name) => ({ level: name })));
  });

  test('gives children the bindings of all their parents', () => {
    const { log, lines } = rig('info');

    log.child({ cloud: 'aws' }).child({ node: 'a' }).info('m', { x: 1 });
    log.info('m');

    expect(lines()[0]).toMatchObject({ cloud: 'aws', node: 'a', x: 1 });
    expect(lines()[1]).not.toHaveProperty('node');
  });

  test('writes out errors in every place', () => {
    const { log, lines } = rig('info');
    const cause = Object.assign(new Error('socket closed'), { code: 'ECONNRESET' });
    const failure = Object.assign(new Error('cannot list', { cause }), { kind: 'unknown' });

    log.child({ last: failure }).error('m', { error: failure, all: [failure] });

    const written = {
      type: 'Error',
      message: 'cannot list',
      kind: 'unknown',
      cause: { type: 'Error', message: 'socket closed', code: 'ECONNRESET' },
    };
    expect(lines()).toMatchObject([{ last: written, error: written, all: [written] }]);
  });
});
