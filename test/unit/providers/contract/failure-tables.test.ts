import { describe, expect, test } from '@jest/globals';
import { failureOf as ofAlibaba } from '../../../../src/providers/alibaba/errors.ts';
import { failureOf as ofAws } from '../../../../src/providers/aws/errors.ts';
import { failureOf as ofAzure } from '../../../../src/providers/azure/errors.ts';
import { CallError } from '../../../../src/providers/gate/cloud-call.ts';
import { failureOf as ofGce } from '../../../../src/providers/gce/errors.ts';

const clouds = {
  AWS: (error: CallError) => ofAws('CreateNetworkInterface', error),
  Azure: (error: CallError) => ofAzure({ name: 'VirtualMachineScaleSetVMs.Update' }, error),
  'Alibaba Cloud': (error: CallError) => ofAlibaba({ name: 'CreateNetworkInterface' }, error),
  'Google Cloud': (error: CallError) => ofGce('instances.updateNetworkInterface', error),
};

describe.each(Object.entries(clouds))('a code of %s', (_, failureOf) => {
  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'is unknown although every object has a member %s',
    (code) => {
      const error = new CallError({ result: 'refused', code, message: 'no', status: 418 });

      expect(failureOf(error)).toEqual({
        kind: 'unknown',
        action: expect.any(String),
        code,
        message: 'no',
        requestId: undefined,
      });
    },
  );
});
