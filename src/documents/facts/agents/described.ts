/** Descriptions of tools and sub-agents that a model reads. */
import type { FindingPlace } from '../../text/diagnostic.ts'
import type { Document } from '../../text/document.ts'
import { schemasOf } from '../../schemas/schemas.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export interface DescribedText {
  readonly text: string
  readonly at: FindingPlace
}

const PLACES = ['spec.description', 'spec.tools.*.description', 'spec.agents.*.description']

/** Descriptions of tools, sub-agents and their arguments; those of policies are for people. */
export function describedTexts(workspace: Workspace, document: Document): DescribedText[] {
  if (document.kind !== 'Agent' && document.kind !== 'Tool') return []
  const own = PLACES.flatMap((place) => document.texts(place)).map((at) => ({ text: at.value, at }))
  const inner = schemasOf(workspace, document)
    .flatMap(({ schema }) => schema ?? [])
    .flatMap((schema) =>
      schema
        .uses('description')
        .flatMap(({ value, pointer }) =>
          typeof value === 'string' ? [{ text: value, at: schema.placeOf(pointer) }] : [],
        ),
    )
  return [...own, ...inner]
}
