import { expect, test } from '@jest/globals';
import { permissionOf } from '../../../../src/providers/alibaba/errors.ts';
import { alibabaLimits } from '../../../../src/providers/alibaba/limits.ts';
import { ramPermissions } from '../../../support/ram-policy.ts';

test('the shipped RAM policy allows each call that Headwater sends, and no other', () => {
  expect([...ramPermissions].sort()).toEqual([...alibabaLimits.keys()].map(permissionOf).sort());
});
