import { describe, expect, test } from '@jest/globals';
import { controllerFlags, unlikeDefaultLines } from '../../../../src/commands/demo/controller-options.ts';
import { type OptionName, optionTable } from '../../../../src/config/option-table.ts';

const at = { kubeconfig: '/tmp/kubeconfig', endpoint: 'http://127.0.0.1:1', region: 'eu-central-1' };

/** Options that only name places, and have no default to differ from. */
const whereabouts = ['k8s-kubeconfig-path', 'ec2-api-endpoint', 'aws-region'];

const flags = controllerFlags(at).map((flag) => {
  const [, name = '', value = ''] = /^--([^=]+)=(.*)$/.exec(flag) ?? [];
  return { flag, name: name as OptionName, value };
});

describe('the options of the controller in the demonstration', () => {
  test.each(flags)('include $flag, which the controller accepts', ({ name, value }) => {
    expect(optionTable[name].kind.parse(value)).toBeDefined();
  });

  test.each(flags.filter(({ name }) => !whereabouts.includes(name)))(
    'include $flag, which is shown because it differs from the default',
    ({ flag, name, value }) => {
      const { kind, default: given } = optionTable[name];
      const fallback = typeof given === 'string' ? given : '';
      const line = unlikeDefaultLines().find((each) => each.trim().startsWith(`${flag} `));

      expect(kind.parse(fallback)).not.toEqual(kind.parse(value));
      expect(line).toContain(`default: ${fallback} `);
    },
  );
});
