/** The effect key of a Tool document, with the arguments that it names. Source: docs/design/policies.md#effect-keys */
import type { JsonValue } from '../../base/json/json.ts'
import type { ArgumentTemplate } from '../../policy/condition/argument-template.ts'
import { EFFECT_KEY, readEffectTemplate } from '../../policy/condition/effect-key.ts'
import type { PathSegment } from '../../policy/condition/segment.ts'
import { domainBelow, finiteValues } from '../../policy/prove/domains.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { mappingIn, type Document } from '../text/document.ts'
import { firstMissingStep } from '../text/property.ts'
import { toolInput } from './agents/inputs.ts'
import { textMember } from './agents/bindings.ts'
import type { Workspace } from '../workspace/workspace.ts'

export const labelOfTool = (tool: Document, label: string): string | undefined =>
  textMember(mappingIn(tool, 'metadata', 'labels'), label)

export const labelPointer = (label: string): string => `/metadata/labels/${label.replaceAll('/', '~1')}`

/** An argument that a key names. */
export interface KeyArgument {
  /** `args.order`. */
  readonly path: string
  readonly segments: readonly PathSegment[]
  readonly isOptional: boolean
  /** Its schema allows one value at most. */
  readonly isFixed: boolean
  /** Its schema, where one place states it. */
  readonly schema: JsonValue | undefined
}

/** The template of a tool's key; undefined where there is none or it cannot be read. */
export function effectTemplateOf(tool: Document): ArgumentTemplate | undefined {
  const text = labelOfTool(tool, EFFECT_KEY)
  const read = text === undefined ? undefined : readEffectTemplate(text)
  return read && 'template' in read ? read.template : undefined
}

/** The arguments that a key names, as the input schema of the document describes them; those that are missing there left out. */
export function keyArguments(workspace: Workspace, tool: Document, template: ArgumentTemplate): readonly KeyArgument[] {
  const found = toolInput(workspace, tool)
  // Nothing is known of the arguments if the schema is missing or unreadable.
  if (!found) return []
  const schema: JsonSchema = found.value
  return template.flatMap((part): KeyArgument[] => {
    if (typeof part === 'string') return []
    const { segments } = part
    if (firstMissingStep(schema, segments)) return []
    const domain = domainBelow([schema], segments)
    const values = finiteValues(domain)
    const [only, ...more] = domain.schemas
    return [
      {
        path: part.path,
        segments,
        isOptional: domain.absent,
        isFixed: values !== undefined && values.length <= 1,
        schema: more.length === 0 ? only?.schema : undefined,
      },
    ]
  })
}
