import { describe, expect, test } from '@jest/globals';
import { drawScenario } from './draw-scenario.ts';
import { runScenario } from './run-scenario.ts';
import { regressionNames, loadScenario } from './load-scenario.ts';
import { scenarioText } from './scenario-text.ts';
import { seedsIn } from './seed-list.ts';

describe('a seed', () => {
  const scenarios = seedsIn('1..300').map(drawScenario);

  test('a seed draws 5 to 40 nodes, 1 to 4 hours and at least 50 faults, in order of time', () => {
    for (const { nodes, minutes, minMinutes, faults } of scenarios) {
      expect(nodes.length).toBeGreaterThanOrEqual(5);
      expect(nodes.length).toBeLessThanOrEqual(40);
      expect(minMinutes).toBe(60);
      expect(minutes).toBeLessThanOrEqual(240);
      expect(faults.length).toBeGreaterThanOrEqual(50);
      expect(faults.map(({ at }) => at)).toEqual(faults.map(({ at }) => at).toSorted((a, b) => a - b));
    }
  });

  test('a scenario is plain data, and its seed draws the same one each time', () => {
    for (const scenario of scenarios.slice(0, 20)) {
      expect(JSON.parse(JSON.stringify(scenario))).toEqual(scenario);
      expect(drawScenario(scenario.seed)).toEqual(scenario);
    }
  });

  test.each(['azure:1', 'alibaba:1'])('a scenario of another cloud is plain data, too: %s', (seed) => {
    const scenario = loadScenario(seed);

    expect(JSON.parse(JSON.stringify(scenario))).toEqual(scenario);
    expect(loadScenario(seed)).toEqual(scenario);
    expect(scenario.flags['ipam']).toBe(seed.startsWith('azure') ? 'azure' : 'alibabacloud');
    expect(scenario.faults.length).toBeGreaterThanOrEqual(50);
  });

  test('one seed gives one history, byte for byte, traced or not', async () => {
    const scenario = { ...drawScenario('4'), minutes: 12, minMinutes: 40 };
    const short = { ...scenario, faults: scenario.faults.filter(({ at }) => at < 700_000) };

    const [once, again] = [await runScenario(short), await runScenario(short, { trace: true })];

    expect(once.violations).toEqual([]);
    expect(once.lasted).toBeGreaterThanOrEqual(40 * 60_000);
    expect(again.digest).toBe(once.digest);
    expect(again.lines.length).toBeGreaterThan(500);
  });
});

test.each(regressionNames())(
  'the regression %s says why it is there, and so does its description',
  (name) => {
    const scenario = loadScenario(name);

    expect(scenario.why).toMatch(/^[A-Z].{40,}\.$/);
    expect(scenarioText(scenario)).toContain(scenario.why);
  },
);

test.each([
  ['3', ['3']],
  ['1..3', ['1', '2', '3']],
  ['a:1..2,x', ['a:1', 'a:2', 'x']],
  ['a, b', ['a', 'b']],
  ['a.json', ['a.json']],
])('%j stands for the seeds %j', (text, seeds) => {
  expect(seedsIn(text)).toEqual(seeds);
});
