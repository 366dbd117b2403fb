/** Effect keys of Tool documents: the labels, the template, and the key of one call. Source: docs/design/policies.md#effect-keys */
import { shortenText } from '../../base/text/cut-text.ts'
import { digestOf } from '../../base/digest.ts'
import { canonicalJson, type JsonValue } from '../../base/json/json.ts'
import type { SideEffectClass } from '../../spec/document.ts'
import { EFFECT_REPEATS, type EffectRepeat } from '../../spec/effect.ts'
import { cacheTemplates, readArgumentTemplate, type ReadTemplate } from './argument-template.ts'
import { readDuration } from './duration.ts'
import { argumentAt } from './path.ts'

export const KEY_NOUN = 'An effect key'
export const EFFECT_KEY = 'svc/effect-key'
export const EFFECT_WINDOW = 'svc/effect-window'
export const EFFECT_REPEAT = 'svc/effect-repeat'

/** A longer key is kept as its digest. */
const MAX_KEY_BYTES = 512
/** Characters shown of a longer key. */
const SHOWN_CHARACTERS = 96
type Labels = Readonly<Record<string, string>>

/** Reads a template such as `refund:{args.order}`. */
export const readEffectTemplate = (text: string): ReadTemplate => readArgumentTemplate(text, KEY_NOUN)

const templateOf = cacheTemplates(KEY_NOUN)

export interface EffectKey {
  readonly key: string
  readonly shown: string
}

/**
 * The key of a call.
 * @returns undefined for a tool that declares none; `missing` is the placeholder whose argument the call lacks
 */
export function effectKeyOf(labels: Labels, args: JsonValue): EffectKey | { readonly missing: string } | undefined {
  const text = labels[EFFECT_KEY]
  if (text === undefined) return undefined
  const read = templateOf(text)
  // Lint refuses such a label. If one was published nevertheless, its calls cannot be distinguished by keys.
  if ('problem' in read) return { missing: text }
  const parts: string[] = []
  for (const part of read.template) {
    if (typeof part === 'string') {
      parts.push(part)
      continue
    }
    const value = argumentAt(args, part.path)
    if (value === undefined) return { missing: part.path }
    parts.push(keyText(value))
  }
  return boundedKey(parts.join(''))
}

/** Characters that separate the parts of a key are encoded, so that two calls never share a key by chance. */
const keyText = (value: JsonValue): string =>
  typeof value === 'string'
    ? value.replaceAll(/[%:{}]/g, (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`)
    : canonicalJson(value)

/** A key as it is kept: longer ones by their digest. */
export function boundedKey(text: string): EffectKey {
  const shown = shortenText(text, SHOWN_CHARACTERS)
  if (text.length * 3 <= MAX_KEY_BYTES || Buffer.byteLength(text) <= MAX_KEY_BYTES) return { key: text, shown }
  return { key: digestOf(text), shown }
}

/** Milliseconds for which a call that was made holds its key; undefined = for ever. */
export const effectWindowOf = (labels: Labels): number | undefined => {
  const text = labels[EFFECT_WINDOW]
  return text === undefined ? undefined : readDuration(text)
}

/** What happens to a second call with a key. An unknown label asks a person. */
export function effectRepeatOf(labels: Labels, sideEffectClass: SideEffectClass | undefined): EffectRepeat {
  const label = labels[EFFECT_REPEAT]
  if (label === undefined) return sideEffectClass === 'idempotent_write' ? 'return' : 'ask'
  return EFFECT_REPEATS.find((each) => each === label) ?? 'ask'
}
