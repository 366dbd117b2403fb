/** The tool or agent that a call would reach, and whether its arguments fit. */
import { InexactNumberError, describeInexactNumber, unsafeNumberIn } from '../../../base/json/exact-number.ts'
import type { InvalidPlace } from '../../../base/failure.ts'
import { EXTERNAL_JSON, isJsonObject, parseJson, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { factsOfAgent, factsOfTool } from '../../../policy/callee-facts.ts'
import type { CallFacts } from '../../../policy/condition/decision.ts'
import { delegationSchema } from '../../../spec/delegation.ts'
import { isExternalModel } from '../../../spec/external.ts'
import type { BoundAgent, JsonSchema } from '../../../spec/snapshot.ts'
import { checkValue } from '../../../tools/check/check.ts'
import { depthBreach, sessionRunsBreach } from '../../limits/limits.ts'
import { agentNamed, offeredToolOf } from '../../session/bindings.ts'
import type { CallHandle } from '../../transaction/call-handle.ts'
import type { RunHandle } from '../../transaction/transaction.ts'
import { toolError } from '../settle.ts'

export interface CallTarget {
  readonly tool: CallFacts['tool']
  /** True for tools that the engine offers itself: no policy is attached to them. */
  readonly isBuiltin?: boolean
  /** The arguments must match all of them. */
  readonly schemas: readonly JsonSchema[]
}

/** @returns an error for the model where the call reaches nothing */
export function findTarget({ tx, run, record, tool }: CallHandle): CallTarget | { readonly error: JsonObject } {
  const builtin = offeredToolOf(record)
  if (builtin) return { tool: factsOfTool(builtin), schemas: builtin.inputSchemas, isBuiltin: true }
  if (tool) {
    const described = tool.inputSchemas.length === 0 ? tx.context.describedBy(tool) : undefined
    return { tool: factsOfTool(tool), schemas: described === undefined ? tool.inputSchemas : [described] }
  }
  const agent = agentNamed(run.snapshot, record.name)
  return agent
    ? findAgentTarget(run, agent)
    : { error: toolError('unknown_tool', `There is no tool named ${record.name}.`) }
}

export const noVersionError = ({ id, digest }: BoundAgent): JsonObject =>
  toolError(
    'no_deployed_version',
    digest === undefined
      ? `Nothing is deployed of ${id}, or its deployment has ended.`
      : `No version of ${id} can be run.`,
  )

function findAgentTarget(run: RunHandle, agent: BoundAgent): CallTarget | { readonly error: JsonObject } {
  const version = run.tx.context.childOf(agent)
  if (!version) return { error: noVersionError(agent) }
  if (isExternalModel(version.snapshot.model))
    return { error: toolError('agent_external', `${agent.id} is run by a client, so nothing can be delegated to it.`) }
  const chain = [run, ...run.ancestors()].map(({ record }) => record.agentName).toReversed()
  if (chain.includes(agent.id)) {
    const message = `${agent.id} is already at work here: ${[...chain, agent.id].join(' > ')}.`
    return { error: toolError('delegation_cycle', message) }
  }
  const depth = depthBreach(run)
  if (depth) {
    const message = `Delegation may be nested ${depth.value} deep; this would be ${depth.used}.`
    return { error: toolError('limit:max_subagent_depth', message) }
  }
  const runs = sessionRunsBreach(run)
  if (runs) {
    const message = `The session may have ${runs.value} runs and has ${runs.used}.`
    return { error: toolError('limit:max_runs_per_session', message) }
  }
  return {
    tool: factsOfAgent(agent, version.snapshot),
    schemas: [delegationSchema(agent.inputSchema, version.snapshot.inputContract)],
  }
}

/** The faults in arguments; empty for arguments that the target accepts. */
export function findArgumentProblems(target: CallTarget, value: JsonValue): readonly InvalidPlace[] {
  if (!isJsonObject(value)) return [{ path: '', message: 'must be a JSON object' }]
  if (typeof value['$unparsed'] === 'string') {
    const inexact = findInexactNumber(value['$unparsed'])
    if (inexact) return [inexact]
    const { maxLevels, maxValues } = EXTERNAL_JSON
    const message = `must be a JSON object of at most ${maxLevels} levels and ${maxValues.toLocaleString('en')} values; what was sent is not`
    return [{ path: '', message }]
  }
  // A number parsed by an SDK may differ from the one that the model wrote.
  const unsafe = unsafeNumberIn(value)
  if (unsafe) return [{ path: unsafe.pointer, message: describeInexactNumber(unsafe.value) }]
  return target.schemas.flatMap((schema) => checkValue(schema, value))
}

/** The inexact number for which JSON text was refused; undefined where it was refused for another reason. */
function findInexactNumber(text: string): InvalidPlace | undefined {
  try {
    parseJson(text)
  } catch (error) {
    if (error instanceof InexactNumberError)
      return { path: error.pointer, message: describeInexactNumber(error.written) }
  }
  return undefined
}
