import { parseAllDocuments, stringify } from 'yaml'

/** What a document of a kind has at the least; short documents in tests leave it out. */
const LEAST: Readonly<Record<string, object>> = {
  Agent: {
    apiVersion: 'svc/v1',
    kind: 'Agent',
    metadata: { name: 'desk', namespace: 'acme', version: '1.0.0' },
    spec: {
      purpose: 'Answers questions.',
      instructions: { text: 'Help.' },
      model: { provider: 'scripted', name: 'script' },
    },
  },
  Tool: {
    apiVersion: 'svc/v1',
    kind: 'Tool',
    metadata: { name: 'refund', namespace: 'pay', version: '1.0.0' },
    spec: {},
  },
  Policy: {
    apiVersion: 'svc/v1',
    kind: 'Policy',
    metadata: { name: 'limit', namespace: 'pay', version: '1.0.0' },
    spec: { decision: { type: 'deny' } },
  },
  Bundle: {
    apiVersion: 'svc/v1',
    kind: 'Bundle',
    metadata: { name: 'all', namespace: 'acme', version: '1.0.0' },
    spec: { root: 'agent.yaml' },
  },
}

/** Files with their documents filled up to whole ones. Texts that say `apiVersion` themselves stay as they are. */
export const complete = (files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [path, /\.ya?ml$/.test(path) ? filled(text) : text]))

function filled(text: string): string {
  if (text.includes('apiVersion') || !text.startsWith('kind:')) return text
  return parseAllDocuments(text)
    .map((each) => each.toJS() as { kind: string })
    .map((each) => stringify(merge(LEAST[each.kind], each, ''), { lineWidth: 0 }))
    .join('---\n')
}

/** Alternatives: what an example writes stands in place of all of these. */
const INSTEAD: Readonly<Record<string, readonly string[]>> = { '/spec/instructions': ['ref', 'text'] }

function merge(least: unknown, written: unknown, pointer: string): unknown {
  if (!isMapping(least) || !isMapping(written)) return written === undefined ? least : written
  const others = INSTEAD[pointer] ?? []
  const replaced = others.some((key) => key in written)
  const kept = Object.entries(least).filter(([key]) => !(replaced && others.includes(key)))
  const keys = new Set([...kept.map(([key]) => key), ...Object.keys(written)])
  const base = Object.fromEntries(kept)
  return Object.fromEntries(
    [...keys].map((key) => [key, key in written ? merge(base[key], written[key], `${pointer}/${key}`) : base[key]]),
  )
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
