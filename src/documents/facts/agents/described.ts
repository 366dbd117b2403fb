/** Descriptions of tools and sub-agents that a model reads. */
import type { JsonValue } from '../../../base/json/json.ts'
import type { FindingPlace } from '../../text/diagnostic.ts'
import type { Document } from '../../text/document.ts'
import type { KeywordUse } from '../../schemas/schema-keywords.ts'
import { schemasOf, type SchemaText } from '../../schemas/schemas.ts'
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
  const inner = schemasOf(workspace, document).flatMap(({ schema }) =>
    schema === undefined
      ? []
      : schema
          .uses('description')
          .flatMap((use) => (isText(use.value) ? [new SchemaDescription(use.value, schema, use)] : [])),
  )
  return [...own, ...inner]
}

const isText = (value: JsonValue): value is string => typeof value === 'string'

/** A description in a schema; computes its place on demand. */
class SchemaDescription implements DescribedText {
  readonly text: string
  readonly #schema: SchemaText
  readonly #use: KeywordUse

  constructor(text: string, schema: SchemaText, use: KeywordUse) {
    this.text = text
    this.#schema = schema
    this.#use = use
  }

  get at(): FindingPlace {
    const { spans, base } = this.#schema
    return spans.placeOf(base + this.#use.pointer)
  }
}
