// Quantities in canonical form: no fraction, and the largest unit that allows it.
// https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
import { DecodeError } from './decode-error.ts';

const form = /^([+-]?)(\d*)\.?(\d*)([eE][+-]?\d+|[KMGTPE]i|[numkMGTPE]?)$/;
const decimalUnits: readonly string[] = ['m', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const smallUnits: readonly string[] = ['n', 'u', ...decimalUnits];
const binaryUnits: readonly string[] = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
/** Quantities are stored in thousandths and parsed in billionths. */
const precision = 6;
const smallestExponent = -9;

/** Throws `DecodeError` for malformed text. */
export function canonicalQuantity(text: string): string {
  const match = form.exec(text);
  const [, sign = '', whole = '', fraction = '', unit = ''] = match ?? [];
  if (match === null || whole + fraction === '') {
    throw new DecodeError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  const digits = BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`);
  return inFormOf(unit, roundedUp(digits * scaleOf(unit), 10n ** BigInt(fraction.length + precision)));
}

/** Rounds up, so a request never shrinks. */
function roundedUp(value: bigint, divisor: bigint): bigint {
  const whole = value / divisor;
  return value > whole * divisor ? whole + 1n : whole;
}

/** The canonical form keeps the given family of units. */
function inFormOf(unit: string, thousandths: bigint): string {
  if (unit.endsWith('i')) return binary(thousandths);
  return /^[eE]./.test(unit) ? exponential(thousandths) : decimal(thousandths);
}

/** Billionths in one of a unit. */
function scaleOf(unit: string): bigint {
  const binaryPower = unit === '' ? -1 : binaryUnits.indexOf(unit);
  if (binaryPower > 0) return 1024n ** BigInt(binaryPower) * 10n ** 9n;
  const power = smallUnits.indexOf(unit);
  const exponent = power >= 0 ? (power - 3) * 3 : Number(unit.slice(1));
  return exponent < smallestExponent ? 1n : 10n ** BigInt(exponent - smallestExponent);
}

function binary(thousandths: bigint): string {
  const value = thousandths / 1000n;
  if (value * 1000n !== thousandths || (value < 1024n && value > -1024n)) return decimal(thousandths);
  const { rest, times } = divided(value, 1024n, binaryUnits.length - 1);
  return `${rest}${binaryUnits[times] ?? ''}`;
}

function decimal(thousandths: bigint): string {
  if (thousandths === 0n) return '0';
  const { rest, times } = divided(thousandths, 1000n, decimalUnits.length - 1);
  return `${rest}${decimalUnits[times] ?? ''}`;
}

function exponential(thousandths: bigint): string {
  if (thousandths === 0n) return '0';
  const { rest, times } = divided(thousandths, 1000n, decimalUnits.length - 1);
  const exponent = (times - 1) * 3;
  return exponent === 0 ? String(rest) : `${rest}e${exponent}`;
}

/** Divides `value` by `divisor` while the result is whole, at most `max` times. */
function divided(
  value: bigint,
  divisor: bigint,
  max: number,
): { readonly rest: bigint; readonly times: number } {
  let rest = value;
  let times = 0;
  while (times < max && rest !== 0n && rest % divisor === 0n) {
    rest /= divisor;
    times++;
  }
  return { rest, times };
}
