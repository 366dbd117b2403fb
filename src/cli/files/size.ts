import { usageFailure } from '../../base/usage-failure.ts'

const UNITS = ['B', 'KiB', 'MiB', 'GiB'] as const

/** Formats a number of bytes: `184 KiB`, `21.4 MiB`. */
export function formatSize(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** power
  return `${power === 0 || value >= 100 ? Math.round(value) : Number(value.toFixed(1))} ${UNITS[power]}`
}

/** Bytes of an option: `500`, `10k`, `5MiB`; undefined when it was not given. */
export function readSize(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined
  const match = /^(\d+(?:\.\d+)?)\s*(?:([kmg])(?:i?b)?|b)?$/i.exec(text)
  if (!match) throw usageFailure(`--${option} takes a size such as 500k, 10MiB or 1g, not "${text}".`)
  return Math.floor(Number(match[1]) * 1024 ** ' kmg'.indexOf((match[2] ?? ' ').toLowerCase()))
}
