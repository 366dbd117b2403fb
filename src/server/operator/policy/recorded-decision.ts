/** A stored decision with the facts it was made from. */
import { toIsoText } from '../../../base/clock.ts'
import { isJsonObject, type JsonObject, textOf, objectOf } from '../../../base/json/json.ts'
import type { RecordedDecision } from '../../../operations/decisions.ts'
import { runsById, starterAbove } from '../../../spec/run/run-starter.ts'
import type { Run } from '../../../spec/run/run.ts'
import type { Session } from '../../../spec/run/session.ts'
import type { AgentSnapshot } from '../../../spec/snapshot.ts'
import type { RunStep } from '../../../spec/step.ts'
import type { RunStarter } from '../../../spec/run/starter.ts'
import type { CallRow } from '../../../store/session-update.ts'

/** @param ancestors nearest first */
export function toRecordedDecision(
  step: RunStep,
  session: Session,
  run: Run,
  call: CallRow,
  snapshot: AgentSnapshot,
  ancestors: readonly Run[],
): RecordedDecision {
  const { content } = step
  const tool = textOf(content['name'])
  const recorded = objectOf(step.hidden?.['facts'])
  return {
    decisionId: step.id,
    runId: run.id,
    sessionId: session.id,
    agent: run.agentName,
    versionLabel: run.versionLabel,
    ancestors: ancestors.map(({ agentName, versionLabel }) => ({ agent: agentName, versionLabel })),
    toolCallId: call.callId,
    tool,
    ref: call.ref,
    arguments: call.arguments,
    argsDigest: call.argumentsDigest,
    state: call.state,
    decision: textOf(content['decision']),
    explanation: textOf(content['explanation']),
    policies: Array.isArray(content['policies']) ? content['policies'] : [],
    recordedAt: toIsoText(step.startedAt),
    history: objectOf(recorded['history']) as RecordedDecision['history'],
    facts: factsOf(recorded, starterAbove(run, runsById(ancestors), session), run, call, tool, snapshot),
  }
}

/** The facts of a decision: those recorded with it, and those that never change. */
function factsOf(
  recorded: JsonObject,
  starter: RunStarter,
  run: Run,
  call: CallRow,
  wire: string,
  snapshot: AgentSnapshot,
): JsonObject {
  const { agent, tools } = versionFactsOf(snapshot)
  return {
    agent,
    tool: tools.get(wire) ?? {
      id: call.ref,
      version: '',
      wire_name: wire,
      kind: 'agent',
      labels: {},
      ...objectOf(recorded['tool']),
    },
    run: {
      depth: run.depth,
      is_subagent: run.depth > 0,
      trigger_type: starter.triggerType,
      ...objectOf(recorded['run']),
    },
    session: objectOf(recorded['session']),
    principal: {
      type: PRINCIPALS[starter.triggerType],
      id: starter.triggeredBy ?? '',
      ...(starter.triggerName !== null && { trigger_name: starter.triggerName }),
    },
    ...(isJsonObject(recorded['sources']) && { sources: recorded['sources'] }),
    ...(isJsonObject(recorded['effect']) && { effect: recorded['effect'] }),
    svc:
      recorded['dispatch'] === undefined ? NO_DISPATCH : { dispatch: { trigger: recorded['dispatch'] }, limit: 'none' },
  }
}

const NO_DISPATCH: JsonObject = { dispatch: { trigger: 'none' }, limit: 'none' }

interface VersionFacts {
  readonly agent: JsonObject
  /** By wire name. */
  readonly tools: ReadonlyMap<string, JsonObject>
}

const versionFacts = new WeakMap<AgentSnapshot, VersionFacts>()

/** Facts of a version and its tools; cached, because a hundred thousand decisions may share them. */
function versionFactsOf(snapshot: AgentSnapshot): VersionFacts {
  const known = versionFacts.get(snapshot)
  if (known) return known
  const { id, version, riskTier, classifications, labels } = snapshot
  const made: VersionFacts = {
    agent: {
      id,
      version,
      ...(riskTier !== undefined && { risk_tier: riskTier }),
      classifications: [...classifications],
      labels: { ...labels },
    },
    tools: new Map(
      snapshot.tools.map((tool) => [
        tool.wire,
        {
          id: tool.id,
          version: tool.version,
          wire_name: tool.wire,
          kind: tool.mcp ? 'mcp' : 'tool',
          ...(tool.mcp && { mcp_server: tool.mcp.server }),
          ...(tool.sideEffectClass && { side_effect_class: tool.sideEffectClass }),
          labels: { ...tool.labels },
        },
      ]),
    ),
  }
  versionFacts.set(snapshot, made)
  return made
}

const PRINCIPALS = { api: 'api_key', operator: 'operator', scheduled: 'schedule' } as const
