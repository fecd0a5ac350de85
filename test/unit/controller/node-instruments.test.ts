import { describe, expect, test } from '@jest/globals';
import { nodeInstruments } from '../../../src/controller/node-instruments.ts';
import type { FinishedRelease } from '../../../src/node/unassignments.ts';
import type { LogLevel } from '../../../src/observability/logger.ts';
import { createMetricRegistry } from '../../../src/observability/metrics.ts';
import type { CloudFailureKind } from '../../../src/providers/cloud-failure.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

describe('the end of a release', () => {
  test.each<[CloudFailureKind | undefined, boolean, LogLevel, string]>([
    [undefined, false, 'info', 'took back addresses of a node'],
    ['unreachable', true, 'info', 'addresses of a node may have been taken back: looking before going on'],
    ['fenced', false, 'debug', 'too early or too late in our lease to take addresses back'],
    ['stopped', false, 'debug', 'addresses are not taken back for now'],
    ['notAuthorized', false, 'warn', 'could not take back addresses of a node'],
  ])('by %s (open: %j) is told at level %s', (kind, isOpen, level, message) => {
    const log = recordingLogger();
    const registry = createMetricRegistry({ measureProcess: false });
    const { onRelease } = nodeInstruments({ log, registry, tell: () => undefined, collects: true });
    const release: FinishedRelease = {
      kind: 'releaseIPs',
      interfaceId: 'eni-1',
      subnetId: 'subnet-1',
      count: 2,
      failure: kind && { kind, action: 'Unassign', code: 'Code', message: 'why', requestId: undefined },
      isOpen,
      duration: 100,
    };

    onRelease('one', release);

    expect(log.lines.map((line) => [line.level, line.message])).toEqual([[level, message]]);
  });
});
