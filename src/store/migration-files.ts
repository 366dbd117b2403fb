import { existsSync, readdirSync, readFileSync } from 'node:fs'

/**
 * The SQL text of every migration, in order; the first has number 1.
 * @param places where their directory may be, relative to `from`
 */
export function readMigrationFiles(places: readonly string[], from: string): readonly string[] {
  const directory = places.map((place) => new URL(place, from)).find((each) => existsSync(each))
  if (!directory) throw new Error('The migrations of the store are not part of this installation.')
  const names = readdirSync(directory).filter((name) => name.endsWith('.sql'))
  return names.sort().map((name) => readFileSync(new URL(name, directory), 'utf8'))
}
