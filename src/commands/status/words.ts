// Counts, ages and names in the words of the commands that ask. Pure.

export function counted(count: number, noun: string, plural = 's'): string {
  return `${count} ${noun}${count === 1 ? '' : plural}`;
}

/** In s. */
export function ageInWords(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** `in_deficit`, `leftAlone`, `allocateIPs`, `allocateIpv6Prefix` */
export function nameInWords(name: string): string {
  return name
    .replaceAll('_', ' ')
    .replaceAll(/Ipv(?=[46])/g, ' IPv')
    .replaceAll(/(?<=[a-z46])[A-Z](?=[a-z])/g, (letter) => ` ${letter.toLowerCase()}`)
    .replaceAll(/(?<=[a-z])[A-Z]/g, ' $&');
}
