/** The forms of references between documents. Source: docs/design/bundles-and-authority.md#references */
import { parse, Range } from 'semver'
import { cutText } from '../../base/text/cut-text.ts'
import { memoizeByText } from './memoize-by-text.ts'

/** A tool or an agent by logical id, `namespace.name[@range]`. */
export interface LogicalRef {
  /** `namespace.name`. */
  readonly id: string
  readonly namespace: string
  readonly name: string
  /** The range after the `@`; undefined without one. */
  readonly range?: string
}

const LOGICAL = /^([^\s@/]+)\.([^\s@/.]+)(?:@([^]*))?$/

export const readLogicalRef = memoizeByText((text): LogicalRef | undefined => {
  const match = LOGICAL.exec(text)
  if (match === null) return undefined
  const [, namespace = '', name = '', range] = match
  return range === undefined
    ? { id: `${namespace}.${name}`, namespace, name }
    : { id: `${namespace}.${name}`, namespace, name, range }
})

export function isLogicalId(text: string): boolean {
  const ref = readLogicalRef(text)
  return ref !== undefined && ref.range === undefined
}

/** True for a range that npm's semver accepts, except the empty one. */
export const isVersionRange = (text: string): boolean => text.trim() !== '' && rangeOf(text) !== undefined

const rangeOf = memoizeByText((text): Range | undefined => {
  try {
    return new Range(text)
  } catch {
    return undefined
  }
})

/** Whether a version satisfies a range; without a range every release does. */
export const fitsRange = (version: string, range = '*'): boolean => testOf(range)?.(version) === true

/** Whether a version satisfies a range; undefined for an invalid range. */
const testOf = memoizeByText((written) => {
  const range = isVersionRange(written) ? rangeOf(written) : undefined
  if (range === undefined) return undefined
  return memoizeByText((text) => {
    const version = versionOf(text)
    return version !== null && range.test(version)
  })
})

/** An exact semver version: no `v`, no range. */
export const isVersion = (text: string): boolean => /^\d/.test(text) && versionOf(text) !== null

/**
 * The version that a text clearly means, without a leading `v` and with all three numbers. Undefined if information would be
 * lost: `1.2.3.4`, dates and ranges mean no single version.
 */
export function completeVersion(text: string): string | undefined {
  const [, numbers, label] = /^\s*v?(\d+(?:\.\d+){0,2})((?:[-+][a-z][\w.+-]*)?)\s*$/i.exec(text) ?? []
  if (numbers === undefined) return undefined
  const version = [...numbers.split('.'), '0', '0'].slice(0, 3).join('.') + label
  return isVersion(version) ? version : undefined
}

/** True for a prerelease, which a range includes only if it names one. */
export const isPrerelease = (text: string): boolean => (versionOf(text)?.prerelease.length ?? 0) > 0

const versionOf = memoizeByText((text) => parse(text))

/** The parsed `spec.agents[].ref`. */
export type AgentRef =
  | { readonly form: 'path'; readonly path: string }
  | { readonly form: 'pinned'; readonly id: string; readonly version: string }
  | { readonly form: 'floating'; readonly id: string }
  | { readonly form: 'range'; readonly id: string; readonly range: string }
  | { readonly form: 'versioned-path'; readonly path: string; readonly version: string }
  | { readonly form: 'unknown' }

const DOCUMENT_EXTENSION = /\.(?:ya?ml|json)$/

/** A reference with `/` or a document extension is a path; every other is a logical id. */
export function readAgentRef(text: string): AgentRef {
  const at = text.lastIndexOf('@')
  const before = at > 0 ? text.slice(0, at) : text
  if (before.includes('/') || DOCUMENT_EXTENSION.test(before))
    return at > 0 ? { form: 'versioned-path', path: before, version: text.slice(at + 1) } : { form: 'path', path: text }
  const logical = readLogicalRef(text)
  if (logical === undefined) return { form: 'unknown' }
  const { id, range } = logical
  if (range === undefined) return { form: 'floating', id }
  return isVersion(range) ? { form: 'pinned', id, version: range } : { form: 'range', id, range }
}

/** Names that every provider accepts for a tool. */
export const WIRE_NAME = /^[a-zA-Z0-9_-]{1,64}$/

/**
 * The name of a tool or sub-agent on the wire, derived from the last part of its id.
 * Source: docs/design/models-and-tools.md#where-a-tool-runs
 */
export const deriveWireName = (name: string): string =>
  WIRE_NAME.test(name) ? name : cutText(name.replaceAll(/[^A-Za-z0-9_-]/g, '_'), 64).text

/** The tools that the engine itself executes. Source: docs/design/models-and-tools.md#built-in-tools */
export const BUILTIN_TOOLS: readonly string[] = [
  'svc.ask_user',
  'svc.request_input',
  'svc.read_file',
  'svc.wait_until',
  'svc.wait_event',
]
