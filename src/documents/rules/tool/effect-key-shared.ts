import { EFFECT_KEY } from '../../../policy/condition/effect-key.ts'
import { effectTemplateOf, labelPointer } from '../../facts/effect-keys.ts'
import type { LintRule } from '../../facts/rule.ts'
import type { Document } from '../../text/document.ts'
import { memoizePerWorkspace } from '../../workspace/memoize.ts'

export const toolEffectKeyShared: LintRule = {
  severity: 'info',
  law: 'Each tool has effect keys of its own, unless one is meant to stop the other.',
  fix: 'Begin the keys with two different words, or keep them if the tools do the same thing.',
  reason: 'Calls of tools with one key space stop each other.',
  crossFile: true,
  kinds: ['Tool'],
  check(document, report, { workspace }) {
    const space = spaceOf(document)
    const other =
      space === undefined
        ? undefined
        : toolsBySpace(workspace)
            .get(space)
            ?.find((each) => isOther(each, document))
    if (other?.identity)
      report(
        labelPointer(EFFECT_KEY),
        `${other.identity.namespace}.${other.identity.name} has the same keys: each call stops one of the other.`,
      )
  },
}

const toolsBySpace = memoizePerWorkspace((workspace): ReadonlyMap<string, readonly Document[]> => {
  const spaces = new Map<string, Document[]>()
  for (const document of workspace.documents) {
    const space = document.kind === 'Tool' ? spaceOf(document) : undefined
    if (space !== undefined) spaces.set(space, [...(spaces.get(space) ?? []), document])
  }
  return spaces
})

/** What the keys of a tool have in common. */
const spaceOf = (tool: Document): string | undefined =>
  effectTemplateOf(tool)
    ?.map((part) => (typeof part === 'string' ? part : '{}'))
    .join('')

/** Versions of one tool share their keys on purpose. */
const isOther = ({ identity: a }: Document, { identity: b }: Document): boolean =>
  a !== undefined && b !== undefined && (a.namespace !== b.namespace || a.name !== b.name)
