import { describe, expect, test } from '@jest/globals';
import { agentChecks } from '../../../src/agent/agent-settings.ts';
import { blockChecks } from '../../../src/blocks/settings/block-pools.ts';
import { loadOptions } from '../../../src/config/load-options.ts';
import { type OptionNeed, optionNeeds } from '../../../src/config/option-needs.ts';
import type { RawFlags } from '../../../src/config/raw-option.ts';

const nowhere = {
  environment: {},
  readFile: (path: string): string => {
    throw new Error(`there is no ${path}`);
  },
  readDirectory: (): readonly string[] => [],
};

/** Flags that break the need and nothing else of its scope. */
function breaking({ scope, where = {} }: OptionNeed): RawFlags {
  const own = Object.entries(where).map(([name, [text = '']]) => [name, [text]] as const);
  return new Map<string, readonly string[]>(scope === 'cluster-pool' ? [['ipam', [scope]], ...own] : own);
}

describe('what options need of each other', () => {
  test.each(Object.entries<OptionNeed>(optionNeeds))(
    'is refused by the process in its words: %s',
    (_, need) => {
      const command = need.scope === 'cluster-pool' ? 'run' : (need.scope as 'agent' | 'nodeipam');
      const checks = command === 'agent' ? agentChecks : blockChecks;
      const loaded = loadOptions(breaking(need), nowhere, { command, checks });

      const problems = loaded.kind === 'refused' ? loaded.problems : [];
      const own = problems.filter((line) => line.startsWith(`${need.name}: `));
      expect(own).toEqual([
        expect.stringMatching(new RegExp(`is refused because ${need.because}( \\(.*\\))?; accepted: `)),
      ]);
      expect(own[0]?.endsWith(`; accepted: ${need.accepted}`)).toBe(true);
    },
  );
});
