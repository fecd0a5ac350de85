// The string formats that the API server checks in custom resources. It ignores every other format
// (https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation).
import { isIP, isIPv4, isIPv6 } from 'node:net';

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const dateTime = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const mac = /^([0-9a-f]{2}([:-]))([0-9a-f]{2}\2){4,6}[0-9a-f]{2}$|^([0-9a-f]{4}\.){2,3}[0-9a-f]{4}$/i;
const hostname = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i;

function isCidr(text: string): boolean {
  const [address = '', prefix = '', ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0 || !/^\d{1,3}$/.test(prefix)) return false;
  return Number(prefix) <= (family === 4 ? 32 : 128);
}

function isUri(text: string): boolean {
  return text.startsWith('/') || URL.canParse(text);
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}

const stringFormats: Readonly<Record<string, (text: string) => boolean>> = {
  cidr: isCidr,
  date: isDate,
  'date-time': (text) => dateTime.test(text) && !Number.isNaN(Date.parse(text)),
  email: (text) => /^[^@\s]+@[^@\s]+$/.test(text),
  hostname: (text) => text.length <= 255 && hostname.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  mac: (text) => mac.test(text),
  uri: isUri,
  uuid: (text) => uuid.test(text),
};

/** The check of a format; undefined if any string is valid. */
export function stringFormat(name: string): ((text: string) => boolean) | undefined {
  return Object.hasOwn(stringFormats, name) ? stringFormats[name] : undefined;
}
