/** Edits of a source that no import makes by itself, because a call would then be authorized or directed otherwise. */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { SIDE_EFFECT_CLASSES, type SideEffectClass } from '../spec/document.ts'
import type { DocumentEdit } from './merge.ts'

/** How strict a class is; -1 for no class. */
export const strictnessOf = (value: unknown): number => SIDE_EFFECT_CLASSES.indexOf(value as SideEffectClass)

/** True for an edit after which a call would be made again, without approval, or elsewhere, because a foreign document says so. */
export function isLooserEdit({ path, value }: DocumentEdit, author: JsonValue): boolean {
  const ours = path.reduce<JsonValue | undefined>((here, key) => {
    if (isJsonObject(here)) return here[key]
    return Array.isArray(here) ? here[Number(key)] : undefined
  }, author)
  const [top, part, , member] = path
  if (path.at(-1) === 'side_effect_class') return strictnessOf(value) < strictnessOf(ours)
  if (top === 'secrets') return ours !== undefined
  if (top !== 'spec') return false
  if (part === 'model') return ours !== undefined && (path.includes('base_url') || path.includes('secret'))
  if (part === 'mcp_servers') return ours !== undefined && member !== undefined
  if (part === 'tools' && member === 'mcp') return ours !== undefined
  if ((part === 'tools' || part === 'agents') && member === 'policies') return !keepsAll(ours, value)
  return part === 'decision' || part === 'conditions'
}

/** True where every policy that is attached stays attached. */
function keepsAll(before: JsonValue | undefined, after: JsonValue | undefined): boolean {
  const kept = new Set((Array.isArray(after) ? after : []).map((each) => JSON.stringify(each)))
  return !Array.isArray(before) || before.every((each: JsonValue | JsonObject) => kept.has(JSON.stringify(each)))
}
