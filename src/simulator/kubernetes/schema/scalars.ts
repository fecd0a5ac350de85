// The scalar shapes of built-in types, and common lists and maps of them.
import type { JsonValue } from '../json-value.ts';
import { DecodeError } from './decode-error.ts';
import { decodeMicroTime, decodeTime, type ReadTime } from './go-time.ts';
import { canonicalQuantity } from './quantity.ts';
import { list, map, type ScalarShape, type WireShape } from './wire-shape.ts';

function scalar(goType: string, zero: JsonValue, read: ScalarShape['read']): ScalarShape {
  return { kind: 'scalar', goType, zero, read };
}

const onlyText = (value: JsonValue): string | undefined => (typeof value === 'string' ? value : undefined);

function integer(bits: 32 | 64): ScalarShape {
  const goType = `int${bits}`;
  const limit = 2 ** (bits - 1);
  return scalar(goType, 0, (value) => {
    if (typeof value !== 'number') return undefined;
    if (Number.isInteger(value) && value >= -limit && value < limit) return value;
    throw new DecodeError(`json: cannot unmarshal number ${value} into Go value of type ${goType}`);
  });
}

function timeScalar(decode: (text: string) => ReadTime): ScalarShape {
  return scalar('string', null, (value) => {
    if (typeof value !== 'string') return undefined;
    const result = decode(value);
    if ('error' in result) throw new DecodeError(result.error);
    return result.time;
  });
}

export const text: WireShape = scalar('string', '', onlyText);
export const flag: WireShape = scalar('bool', false, (value) =>
  typeof value === 'boolean' ? value : undefined,
);
export const int32: WireShape = integer(32);
export const int64: WireShape = integer(64);
export const time: WireShape = timeScalar(decodeTime);
export const microTime: WireShape = timeScalar(decodeMicroTime);
/** Base64. */
export const bytes: WireShape = scalar('[]uint8', null, onlyText);
export const intOrString: WireShape = scalar('intstr.IntOrString', 0, (value) =>
  typeof value === 'string' || typeof value === 'number' ? value : undefined,
);
export const quantity: WireShape = scalar('resource.Quantity', '0', (value) =>
  typeof value === 'string' || typeof value === 'number' ? canonicalQuantity(String(value)) : undefined,
);
/** Any value, unchecked: parts of a type that this model does not use. */
export const open: WireShape = scalar('', null, (value) => value);

export const texts: WireShape = list(text);
export const textMap: WireShape = map(text);
export const quantities: WireShape = map(quantity);
