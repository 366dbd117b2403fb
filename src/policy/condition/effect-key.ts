/** Effect keys of Tool documents: the labels, the template, and the key of one call. Source: policies, section 8. */
import { shortenText } from '../../base/cut-text.ts'
import { digestOf } from '../../base/digest.ts'
import { canonicalJson, type JsonValue } from '../../base/json/json.ts'
import type { SideEffectClass } from '../../spec/document.ts'
import { EFFECT_REPEATS, type EffectRepeat } from '../../spec/effect.ts'
import { readDuration } from './duration.ts'
import { argumentAt, readArgumentPath } from './path.ts'

export const EFFECT_KEY = 'svc/effect-key'
export const EFFECT_WINDOW = 'svc/effect-window'
export const EFFECT_REPEAT = 'svc/effect-repeat'

/** A longer key is kept as its digest. */
const MAX_KEY_BYTES = 512
/** Characters shown of a longer key. */
const SHOWN_CHARACTERS = 96
/** A template is read again for every call; longer ones are refused before that. */
const MAX_TEMPLATE = 1024

type Labels = Readonly<Record<string, string>>

/** Texts and argument paths, in order. */
export type EffectKeyTemplate = readonly (string | { readonly path: string })[]

export type ReadTemplate =
  { readonly template: EffectKeyTemplate } | { readonly problem: string; readonly placeholder?: string }

/** Reads a template such as `refund:{args.order}`. A path without `args.` is none: a key names what it depends on. */
export function readEffectTemplate(text: string): ReadTemplate {
  if (text === '') return { problem: 'An effect key is not empty.' }
  if (text.length > MAX_TEMPLATE) return { problem: `An effect key has at most ${MAX_TEMPLATE} characters.` }
  const template: (string | { path: string })[] = []
  let rest = text
  while (rest !== '') {
    const [plain] = /^[^{}]*/.exec(rest)!
    if (plain !== '') template.push(plain)
    rest = rest.slice(plain.length)
    if (rest === '') break
    const [whole, inner] = /^\{([^{}]*)\}/.exec(rest) ?? []
    if (whole === undefined || inner === undefined) return { problem: 'A brace of an effect key has no partner.' }
    const path = inner.startsWith('args') ? readArgumentPath(inner) : undefined
    if (!path || path.segments.length === 0)
      return {
        problem: `"${inner}" is no argument; a placeholder is an argument path: {args.order}.`,
        placeholder: inner,
      }
    template.push({ path: path.text })
    rest = rest.slice(whole.length)
  }
  return { template }
}

/** The argument paths that a template names. */
export const placeholdersOf = (template: EffectKeyTemplate): readonly string[] =>
  template.flatMap((part) => (typeof part === 'string' ? [] : [part.path]))

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

const templates = new Map<string, ReadTemplate>()
/** Cached templates of all versions that a process runs, some hundred bytes each. */
const MAX_TEMPLATES = 1000

function templateOf(text: string): ReadTemplate {
  let read = templates.get(text)
  if (!read) {
    if (templates.size >= MAX_TEMPLATES) templates.clear()
    templates.set(text, (read = readEffectTemplate(text)))
  }
  return read
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
