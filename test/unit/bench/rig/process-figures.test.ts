import { describe, expect, test } from '@jest/globals';
import { cpuTime, cpuTimeIn, peakMemory, peakMemoryIn } from '../../../../bench/rig/process-figures.ts';

describe('the reader of proc(5)', () => {
  test('reads VmHWM in kibibytes', () => {
    expect(peakMemoryIn('Name:\tnode\nVmPeak:\t  999 kB\nVmHWM:\t  2048 kB\nVmRSS:\t  1024 kB\n')).toBe(
      2 ** 21,
    );
  });

  test('refuses a status without VmHWM', () => {
    expect(() => peakMemoryIn('Name:\tkthreadd\n')).toThrow('VmHWM');
  });

  test('finds utime and stime after a name with any characters', () => {
    const stat = '42 (a) b (c) S 1 42 42 0 -1 4194560 9000 0 0 0 150 50 0 0 20 0 11 0 100 1000 200';

    expect(cpuTimeIn(stat)).toBe(2);
  });

  test('refuses statistics that are cut', () => {
    expect(() => cpuTimeIn('42 (node) S 1')).toThrow('cut short');
  });
});

test('the current process has memory and has used CPU', async () => {
  expect(await peakMemory(process.pid)).toBeGreaterThan(2 ** 20);
  expect(await cpuTime(process.pid)).toBeGreaterThan(0);
});
