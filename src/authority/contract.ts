/** What changed about an input or an output, of an agent or of a tool. */
import type { JsonSchema } from '../spec/snapshot.ts'
import { versionChange, type ChangePlace, type VersionChange } from './change.ts'
import { acceptsAll, compareSchemas } from './schema.ts'

/** How an input changed. A new optional property narrows nothing, even if callers could already send it to an open object. */
export function inputChanges(place: ChangePlace, before: JsonSchema, after: JsonSchema): readonly VersionChange[] {
  const name = place.tool === undefined ? 'input' : `${place.tool}: input`
  if (!acceptsAll(after, before, true))
    return [
      versionChange('input.narrowed', {
        ...place,
        say: `${name} accepts less than before, or is not proven to accept as much`,
      }),
    ]
  if (!acceptsAll(before, after))
    return [versionChange('input.widened', { ...place, say: `${name} accepts more than before` })]
  return acceptsAll(after, before)
    ? []
    : [versionChange('input.widened', { ...place, say: `${name} describes more than before` })]
}

export function outputChanges(place: ChangePlace, before: JsonSchema, after: JsonSchema): readonly VersionChange[] {
  const name = place.tool === undefined ? 'output' : `${place.tool}: output`
  const verdict = compareSchemas(before, after)
  if (verdict === 'equal') return []
  return verdict === 'narrowed'
    ? [versionChange('output.narrowed', { ...place, say: `${name} is stricter` })]
    : [
        versionChange('output.widened', {
          ...place,
          say: `${name} guarantees less than before, or is not proven to guarantee as much`,
        }),
      ]
}
