import { describe, expect, test } from '@jest/globals';
import { nodeInstruments } from '../../../../src/controller/reporting/node-instruments.ts';
import type { FinishedRelease } from '../../../../src/node/release/unassignments.ts';
import type { LogLevel } from '../../../../src/observability/logger.ts';
import { createMetricRegistry } from '../../../../src/observability/metrics.ts';
import type { CloudFailureKind } from '../../../../src/providers/contract/cloud-failure.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';
import { recordingLogger } from '../../../support/recording-logger.ts';

describe('a release that ends', () => {
  test.each<[CloudFailureKind | undefined, boolean, LogLevel, string]>([
    [undefined, false, 'info', 'released addresses'],
    ['unreachable', true, 'info', 'addresses may have been released: reading the instance first'],
    ['fenced', false, 'debug', 'release deferred: outside the safe lease window'],
    ['stopped', false, 'debug', 'release deferred: releases are paused'],
    ['notAuthorized', false, 'warn', 'could not release addresses'],
  ])('has the failure %s (open: %j) and is logged at level %s', (kind, isOpen, level, message) => {
    const log = recordingLogger();
    const registry = createMetricRegistry({ measureProcess: false });
    const report = nodeInstruments({
      clock: new VirtualClock(),
      log,
      registry,
      events: { record: () => undefined, recordOnLease: () => undefined },
      collects: true,
    });
    const release: FinishedRelease = {
      kind: 'releaseIPs',
      interfaceId: 'eni-1',
      subnetId: 'subnet-1',
      holdings: ['10.0.0.1', '10.0.0.2'],
      count: 2,
      failure: kind && { kind, action: 'Unassign', code: 'Code', message: 'why', requestId: undefined },
      isOpen,
      duration: 100,
    };

    report({ kind: 'release', node: { name: 'one', uid: 'uid', nodeUid: undefined }, release });

    expect(log.lines.map((line) => [line.level, line.message])).toEqual([[level, message]]);
  });
});

describe('a node whose agent keeps changing its problem', () => {
  test('is logged a few times, and then rarely', async () => {
    const log = recordingLogger();
    const clock = new VirtualClock();
    const registry = createMetricRegistry({ measureProcess: false });
    const report = nodeInstruments({
      clock,
      log,
      registry,
      events: { record: () => undefined, recordOnLease: () => undefined },
      collects: true,
    });
    const flap = (name: string): void => {
      const node = { name, uid: 'uid', nodeUid: undefined };
      const message = `odd at ${clock.monotonic()}`;
      report({ kind: 'blocked', node, condition: { reason: 'NodeUnreadable', message } });
      report({ kind: 'blocked', node, condition: undefined });
    };

    for (let round = 0; round < 1000; round++) {
      flap('hostile');
      await clock.advance(1000);
    }
    flap('other');

    const lines = (name: string): number =>
      log.lines.filter(({ details }) => details['node'] === name).length;
    expect(lines('hostile')).toBeLessThan(30);
    expect(lines('other')).toBe(2);
  });
});
