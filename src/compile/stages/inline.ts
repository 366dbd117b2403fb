/** Puts files that agents name in by value: instructions, schemas, the script of a scripted model. */
import { MAX_COST } from '../../documents/facts/cost-cap.ts'
import { readOutageTerms } from '../../documents/facts/outage.ts'
import { readWholeLimit, type WholeLimit } from '../../documents/facts/whole-limits.ts'
import { MODEL_FALLBACK, namesFallbackFile, readModelFallback } from '../../documents/facts/agents/model-fallback.ts'
import { isOnlineProvider, type AgentDocument, type ModelSpec } from '../../spec/document.ts'
import { readMoney, type Money } from '../../spec/price.ts'
import { readModelScript } from '../../documents/facts/agents/model-script.ts'
import { CONTEXT_RULE, readContextRule } from '../../documents/facts/agents/context-rule.ts'
import type { ContextRule } from '../../spec/context-rule.ts'
import type { ScriptTurn } from '../../spec/snapshot.ts'
import { readFileMember } from './file.ts'
import { inlineSchema, inlineSchemaFile } from './schema.ts'
import {
  failUnchecked,
  reportFinding,
  type BundleAgent,
  type DocumentPlace,
  type CompileState,
} from '../state/state.ts'

/** The annotation for an agent's input schema. Source: docs/design/http.md#start */
const INPUT_CONTRACT = 'svc/input-schema'

export function inlineSchemas(state: CompileState): void {
  for (const member of state.members) inlineMember(state, member)
}

function inlineMember(state: CompileState, member: BundleAgent): void {
  const { document, agent } = member
  const spot = (pointer: string): DocumentPlace => ({ document, pointer })
  member.instructions = readInstructions(state, agent, spot) ?? ''
  const script = readScript(state, agent, spot)
  if (script) member.script = script
  const contract = agent.metadata.annotations?.[INPUT_CONTRACT]
  const contractSchema =
    contract === undefined
      ? undefined
      : inlineSchemaFile(state, contract, spot('/metadata/annotations/svc~1input-schema'))
  if (contractSchema !== undefined) member.contract = contractSchema
  const maxToolCalls = readLimit(agent, spot, 'svc/max-tool-calls')
  if (maxToolCalls !== undefined) member.maxToolCalls = maxToolCalls
  const tokens = readLimit(agent, spot, 'svc/max-tokens-per-session')
  const runs = readLimit(agent, spot, 'svc/max-runs-per-session')
  if (tokens !== undefined || runs !== undefined)
    member.sessionLimits = { ...(tokens !== undefined && { tokens }), ...(runs !== undefined && { runs }) }
  const maxCost = readMaxCost(agent, spot)
  if (maxCost !== undefined) member.maxCost = maxCost
  member.outage = readOutageTerms(agent.metadata.annotations ?? {})
  const context = readContext(agent, spot)
  if (context) member.context = context
  const fallback = readFallback(state, agent, spot)
  if (fallback !== undefined) member.fallback = fallback
  const output = agent.output?.schema && inlineSchema(state, agent.output.schema, spot('/output/schema'))
  if (output !== undefined) member.outputSchema = output
  for (const each of [...member.bindings, ...member.edges]) {
    const schema =
      each.binding.input_schema &&
      inlineSchema(state, each.binding.input_schema, spot(`${each.at.pointer}/input_schema`))
    if (schema !== undefined) each.input = schema
  }
}

const annotationPointer = (name: string): string => `/metadata/annotations/${name.replace('/', '~1')}`

/** An annotation that is a limit. Source: docs/design/models-and-tools.md#limits */
function readLimit(
  agent: AgentDocument,
  spot: (pointer: string) => DocumentPlace,
  annotation: WholeLimit,
): number | undefined {
  const text = agent.metadata.annotations?.[annotation]
  if (text === undefined) return undefined
  const read = readWholeLimit(annotation, text)
  if ('value' in read) return read.value
  return failUnchecked('limits/whole-number', spot(annotationPointer(annotation)))
}

function readMaxCost(agent: AgentDocument, spot: (pointer: string) => DocumentPlace): Money | undefined {
  const text = agent.metadata.annotations?.[MAX_COST]
  if (text === undefined) return undefined
  return readMoney(text) ?? failUnchecked('limits/cost-cap', spot(annotationPointer(MAX_COST)))
}

function readContext({ metadata }: AgentDocument, spot: (pointer: string) => DocumentPlace): ContextRule | undefined {
  const text = metadata.annotations?.[CONTEXT_RULE]
  if (text === undefined) return undefined
  const read = readContextRule(text)
  return 'rule' in read ? read.rule : failUnchecked('limits/context', spot(annotationPointer(CONTEXT_RULE)))
}

function readFallback(
  state: CompileState,
  agent: AgentDocument,
  spot: (pointer: string) => DocumentPlace,
): readonly ModelSpec[] | undefined {
  const text = agent.metadata.annotations?.[MODEL_FALLBACK]
  if (text === undefined) return undefined
  const at = spot(annotationPointer(MODEL_FALLBACK))
  const file = namesFallbackFile(text) ? readFileMember(state, 'models', 'model/fallback', text, at) : { text }
  if (!file) return undefined
  const fallback = readModelFallback(file.text, agent.spec.model)
  return 'models' in fallback ? fallback.models : reportFinding(state, 'model/fallback', at, fallback.problem)
}

function readInstructions(
  state: CompileState,
  agent: AgentDocument,
  spot: (pointer: string) => DocumentPlace,
): string | undefined {
  const { ref, text, version } = agent.spec.instructions
  const at = spot(`/spec/instructions/${ref === undefined ? 'text' : 'ref'}`)
  if (ref === undefined) return text
  return readFileMember(state, 'instructions', 'agent/instructions-missing-file', ref, at, version)?.text
}

function readScript(
  state: CompileState,
  agent: AgentDocument,
  spot: (pointer: string) => DocumentPlace,
): readonly ScriptTurn[] | undefined {
  const { provider, provider_options: options } = agent.spec.model
  const ref = options?.['script']
  // The project may map any other name to the scripted model.
  if (typeof ref !== 'string' || isOnlineProvider(provider)) return undefined
  const at = spot('/spec/model/provider_options/script')
  const file = readFileMember(state, 'script', 'model/script', ref, at)
  if (!file) return undefined
  const script = readModelScript(file)
  return 'turns' in script ? script.turns : failUnchecked('model/script', at)
}
