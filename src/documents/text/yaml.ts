/**
 * Reads YAML and JSON for lint, compile and publish, so that all parts read a document in the same way.
 * YAML 1.2 core schema without tags and merge keys; limits turn hostile text into findings.
 * Source: docs/design/security.md#documents-of-others
 */
import { YAMLException, type Event } from 'js-yaml'
import { jsonDepth } from '../../base/json/json.ts'
import { pointerTo } from '../../base/json/pointer.ts'
import { isMergeKey, MERGE_KEY, mergeKeyEdits } from './merge-keys.ts'
import type { Diagnostic } from './diagnostic.ts'
import { createSpans } from './document.ts'
import { eventsOf } from './events.ts'
import { memberOf, type YamlNode } from './node.ts'
import { everyNode } from './nodes.ts'
import type { SourceText } from './source.ts'
import { jsonFault, stopOf, unfilledTemplate, yamlFault, type TextFault } from './text-fault.ts'
import {
  MAX_NESTING,
  TOO_DEEP,
  UnfilledTemplate,
  YamlLimitExceeded,
  YamlNodeBuilder,
  yamlFinding,
  type OffsetRange,
} from './yaml-nodes.ts'

/** Maximum bytes of a file. */
export const MAX_FILE_BYTES = 1024 * 1024

export interface YamlReading {
  /** Roots of the documents of the file, in order. Empty if the text cannot be parsed. */
  readonly roots: readonly YamlNode[]
  readonly findings: readonly Diagnostic[]
}

/** Parses a file: `.json` as JSON, every other as YAML 1.2. */
export function readYaml(source: SourceText): YamlReading {
  if (Buffer.byteLength(source.text) > MAX_FILE_BYTES)
    return refuse(
      source,
      'doc/too-large',
      [0, 0],
      `The file is larger than ${MAX_FILE_BYTES / 1024} KiB.`,
      'Move long texts to files of their own and name them with `ref`.',
    )
  if (source.path.endsWith('.json')) {
    if (jsonDepth(source.text) > MAX_NESTING) return refuse(source, 'doc/too-large', [0, 0], TOO_DEEP)
    const fault = jsonFault(source.text)
    if (fault !== undefined) return refuse(source, 'doc/syntax', [fault.start, fault.end], fault.message)
  }
  let events: readonly Event[]
  try {
    events = eventsOf(source.text, MAX_NESTING)
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    if (error.reason.includes('maxDepth')) {
      const at = stopOf(source.text, error)
      return refuse(source, 'doc/too-large', [at, at + 1], TOO_DEEP)
    }
    return refuseFault(source, yamlFault(source.text, error))
  }
  return buildNodes(source, events)
}

function buildNodes(source: SourceText, events: readonly Event[]): YamlReading {
  const builder = new YamlNodeBuilder(source, events)
  try {
    const roots = builder.roots()
    return { roots, findings: [...builder.findings, ...roots.flatMap((root) => mergeKeyFindings(source, root))] }
  } catch (error) {
    if (error instanceof YamlLimitExceeded) return { roots: [], findings: builder.findings }
    if (!(error instanceof UnfilledTemplate)) throw error
    const end = source.text.indexOf('}}', error.start) + 2
    return refuseFault(source, unfilledTemplate(source.text, error.start, end))
  }
}

/** Merge keys, which would be read as keys with this name. In quotes, `<<` is a name. */
function mergeKeyFindings(source: SourceText, root: YamlNode): Diagnostic[] {
  if (!source.text.includes(MERGE_KEY)) return []
  const spans = createSpans(source, root)
  return everyNode(spans).flatMap(({ node, pointer }) => {
    const member = node.alias ? undefined : memberOf(node, MERGE_KEY)
    if (member === undefined || !isMergeKey(source, member)) return []
    return yamlFinding(
      source,
      'doc/unknown-key',
      [member.start, member.end],
      'Merge keys are not read: YAML 1.2 has none.',
      {
        fix: {
          description: 'Write the merged keys out.',
          edits: mergeKeyEdits(spans, pointerTo(pointer, MERGE_KEY)),
        },
      },
    )
  })
}

const refuse = (source: SourceText, rule: string, place: OffsetRange, message: string, fix?: string): YamlReading => ({
  roots: [],
  findings: [yamlFinding(source, rule, place, message, fix === undefined ? {} : { fix })],
})

function refuseFault(source: SourceText, { start, end, message, fix, instead }: TextFault): YamlReading {
  const refused = refuse(source, 'doc/syntax', [start, end], message, fix)
  if (instead === undefined || fix === undefined) return refused
  const edits = [{ path: source.path, range: source.span(start, end), text: instead }]
  return { roots: [], findings: refused.findings.map((each) => ({ ...each, fix: { description: fix, edits } })) }
}
