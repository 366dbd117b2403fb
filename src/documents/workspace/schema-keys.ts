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

/** The place that a path has in a table of places, where `*` stands for the names and indexes that authors choose. */
export const placeOfPath = (places: readonly string[], path: readonly (string | number)[]): string | undefined =>
  places.find((place) => {
    const parts = place === '' ? [] : place.split('.')
    return parts.length === path.length && parts.every((part, at) => part === '*' || part === path[at])
  })

/** Keys of the mapping at a path, in the order of the schema; undefined for a mapping whose keys the author chooses. */
export function keysAtPath(schema: SchemaName, path: readonly (string | number)[]): readonly string[] | undefined {
  const table: SchemaKeys = keys[schema]
  return table[placeOfPath(Object.keys(table), path) ?? '-']
}

/** Keys of the mapping at a pointer; empty for a mapping whose keys the author chooses. */
export const knownKeysAt = (schema: SchemaName, pointer: string): readonly string[] =>
  keysAtPath(schema, segmentsOf(pointer)) ?? []
