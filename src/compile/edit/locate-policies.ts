/** Locates compiled policies, and each of their comparisons, in their documents. */
import { isJsonObject } from '../../base/json/json.ts'
import { comparisonsIn } from '../../documents/facts/policies/comparisons.ts'
import type { Document } from '../../documents/text/document.ts'
import type { LineRange, WrittenPolicy } from '../../spec/explanation.ts'
import type { PolicyEntry } from '../../spec/policy-set.ts'
import { toPublished } from '../stages/choose-version.ts'
import { openEditedWorkspace, type EditedTexts } from './edited-workspace.ts'

/** Lines shown per policy; a longer policy is shown without its text. */
const MAX_LINES = 2000

/**
 * One for each policy whose document is among the texts. A document whose content differs from the compiled one is left
 * out, so that nobody sees lines that do not decide.
 */
export function locatePolicies(entries: readonly PolicyEntry[], texts: EditedTexts): readonly WrittenPolicy[] {
  const workspace = openEditedWorkspace(texts)
  const found = new Map<string, WrittenPolicy>()
  for (const { policy, version, origin } of entries) {
    const name = `${policy}@${version}`
    const compiled = new Set<string>(origin.flatMap(({ digest }) => digest ?? []))
    if (found.has(name)) continue
    const document = workspace.documents.find(
      (each) => each.kind === 'Policy' && each.identity?.id === policy && compiled.has(digestAs(each, policy, version)),
    )
    const written = document && readWritten(document, name, texts.edited.includes(document.path))
    if (written) found.set(name, written)
  }
  return [...found.values()]
}

/** Digest of the document under the version that it was compiled as. For work in progress this is not the written version. */
function digestAs({ value }: Document, id: string, version: string): string {
  const metadata = isJsonObject(value['metadata']) ? value['metadata'] : {}
  return toPublished('Policy', id, version, { ...value, metadata: { ...metadata, version } }).digest
}

function readWritten(document: Document, policy: string, isEdited: boolean): WrittenPolicy | undefined {
  const { path, source } = document
  const whole = linesOf(document, '')
  if (!whole || whole.to - whole.from >= MAX_LINES) return undefined
  const comparisons = comparisonsIn(document).flatMap(({ text, pointer }) => {
    const range = linesOf(document, pointer, false)
    return range ? [{ text, ...range }] : []
  })
  return {
    policy,
    path,
    isEdited,
    firstLine: whole.from,
    lines: Array.from({ length: whole.to - whole.from + 1 }, (_, at) => source.line(whole.from + at)),
    decision: linesOf(document, '/spec/decision') ?? null,
    comparisons,
  }
}

/** The lines of a value, without the empty ones after it. */
function linesOf(document: Document, pointer: string, withKey = true): LineRange | undefined {
  const span = document.spanOf(pointer)
  if (!span) return undefined
  const from = ((withKey && document.keySpanOf(pointer)) || span).start.line
  const text = document.source.text.slice(span.start.offset, span.end.offset).trimEnd()
  return { from, to: span.start.line + text.split('\n').length - 1 }
}
