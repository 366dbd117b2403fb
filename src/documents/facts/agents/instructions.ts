/** The instructions of an agent, wherever they stand. */
import type { FindingPlace } from '../../text/diagnostic.ts'
import type { Document } from '../../text/document.ts'
import { createSource } from '../../text/source.ts'
import { partsOf } from '../../workspace/texts.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export interface InstructionsText {
  readonly text: string
  /**
   * The place of a part of the text; parts must be requested from start to end. For inline instructions it is the whole text where
   * the part is not written literally.
   */
  placeOf(start: number, length: number): FindingPlace
}

/** Undefined where there are none, or where they cannot be found. */
export function instructionsOf(workspace: Workspace, agent: Document): InstructionsText | undefined {
  if (agent.kind !== 'Agent') return undefined
  const [inline] = agent.texts('spec.instructions.text')
  if (inline !== undefined) return { text: inline.value, placeOf: partsOf(agent.source, inline, inline.value) }
  const [ref] = agent.texts('spec.instructions.ref')
  const version = agent.at('spec.instructions.version')[0]?.value
  if (ref === undefined) return undefined
  const found = workspace.resolve(
    agent,
    ref.value,
    typeof version === 'string' || typeof version === 'number' ? version : undefined,
  )
  if (!('path' in found)) return undefined
  const source = createSource(found.path, workspace.text(found.path))
  return {
    text: source.text,
    placeOf: (start, length) => ({ path: found.path, pointer: '', range: source.span(start, start + length) }),
  }
}
