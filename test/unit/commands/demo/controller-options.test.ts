import { describe, expect, test } from '@jest/globals';
import {
  controllerFlags,
  demoCloudNames,
  unlikeDefaultLines,
} from '../../../../src/commands/demo/controller-options.ts';
import { type OptionName, optionTable } from '../../../../src/config/option-table.ts';

const flags = demoCloudNames.flatMap((cloud) =>
  controllerFlags(cloud, []).map((flag) => {
    const [, name = '', value = ''] = /^--([^=]+)=(.*)$/.exec(flag) ?? [];
    return { cloud, flag, name: name as OptionName, value };
  }),
);

describe('the options of the controller in the demonstration', () => {
  test.each(flags)('on $cloud include $flag, which the controller accepts', ({ name, value }) => {
    expect(optionTable[name].kind.parse(value)).toBeDefined();
  });

  test.each(flags)(
    'on $cloud include $flag, which is shown because it differs from the default',
    ({ cloud, flag, name, value }) => {
      const { kind, default: given } = optionTable[name];
      const fallback = typeof given === 'string' ? given : '';
      const line = unlikeDefaultLines(cloud).find((each) => each.trim().startsWith(`${flag} `));

      expect(kind.parse(fallback)).not.toEqual(kind.parse(value));
      expect(line).toContain(`default: ${fallback} `);
    },
  );

  test('begin with the places of the embedded parts', () => {
    expect(controllerFlags('azure', ['--azure-endpoint=https://127.0.0.1:1'])[0]).toBe(
      '--azure-endpoint=https://127.0.0.1:1',
    );
  });
});
