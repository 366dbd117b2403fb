/** The keys that the schemas of the documents know, by the mapping in which they belong. */
import { keys } from '../generated/keys.js'
import { segmentsOf } from '../../base/json/pointer.ts'

export type SchemaName = keyof typeof keys

type SchemaKeys = Readonly<Record<string, readonly string[]>>

/** Above this many places a list does not help: a key such as `description` belongs everywhere. */
const MAX_HOMES = 3

/** The shallowest places where a key belongs, as dotted paths; empty where there are none or too many. */
export function homesOfKey(schema: SchemaName, key: string): string[] {
  const table: SchemaKeys = keys[schema]
  const homes = Object.entries(table)
    .filter(([, members]) => members.includes(key))
    .map(([path]) => (path === '' ? key : `${path}.${key}`))
  const depth = (path: string): number => path.split('.').length
  const shallowest = Math.min(...homes.map(depth))
  const best = homes.filter((home) => depth(home) === shallowest)
  return best.length <= MAX_HOMES ? best : []
}

/** Keys of the mapping at a pointer, in the order of the schema; empty for a mapping whose keys the author chooses. */
export function knownKeysAt(schema: SchemaName, pointer: string): readonly string[] {
  const table: SchemaKeys = keys[schema]
  const segments = segmentsOf(pointer)
  const path = Object.keys(table).find((candidate) => {
    const parts = candidate === '' ? [] : candidate.split('.')
    return parts.length === segments.length && parts.every((part, index) => part === '*' || part === segments[index])
  })
  return path === undefined ? [] : table[path]!
}
