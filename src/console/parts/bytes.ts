/** `3.2 MiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const units = ['KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes / 1024
  let at = 0
  for (; value >= 1024 && at < units.length - 1; at++) value /= 1024
  return `${value.toFixed(1)} ${units[at]}`
}
