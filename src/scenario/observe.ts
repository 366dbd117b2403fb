/** What a played run did, as scenarios and evaluations check it. */
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '../base/json/json.ts'
import type { TimelineItem } from '../spec/api.ts'
import type { AgentSnapshot } from '../spec/snapshot.ts'
import type { PlayedScenario } from './play.ts'

/** The parts of a run that a scenario can check, each in order of occurrence. */
export interface ObservedRun {
  readonly calls: readonly { readonly tool: string; readonly arguments: JsonValue }[]
  readonly decisions: readonly { readonly tool: string; readonly decision: string; readonly by: readonly string[] }[]
  readonly limits: readonly string[]
  /** Reasons for which the run was held. */
  readonly holds: readonly string[]
  readonly subjects: readonly string[]
}

/** A call that was carried out, of a tool or of a sub-agent. */
export interface ObservedCall {
  readonly runId: string
  readonly callId: string
  /** Logical id. */
  readonly tool: string
  readonly arguments: JsonValue
}

/** Calls in order, each once, however many attempts it had. @param agents published agents, to map wire names to tool ids */
export function observeCalls(
  { conversation }: PlayedScenario,
  agents: readonly AgentSnapshot[],
): readonly ObservedCall[] {
  const { items = [], runs = [] } = conversation ?? {}
  return callsOf(items).map(toCall(createNames(agents, runs)))
}

export function observeRun({ conversation, events }: PlayedScenario, agents: readonly AgentSnapshot[]): ObservedRun {
  const { items = [], runs = [] } = conversation ?? {}
  const nameOf = createNames(agents, runs)
  return {
    calls: callsOf(items)
      .map(toCall(nameOf))
      .map(({ tool, arguments: args }) => ({ tool, arguments: args })),
    decisions: items.filter(({ type }) => type === 'PolicyDecision').map(toDecision(nameOf)),
    limits: items.filter(({ type }) => type === 'LimitReached').map((item) => textOf(contentOf(item)['limit'])),
    holds: events.flatMap(({ data }) =>
      isJsonObject(data['hold'] ?? null) ? [textOf((data['hold'] as JsonObject)['reason'])] : [],
    ),
    subjects: events.map(({ subject }) => subject),
  }
}

type NameOf = (runId: string, wire: string) => string

/** Maps wire names of the agent of a run to `namespace.name`. */
function createNames(
  agents: readonly AgentSnapshot[],
  runs: readonly { readonly id: string; readonly agentName: string | null }[],
): NameOf {
  const agentOf = new Map(runs.map(({ id, agentName }) => [id, agents.find((each) => each.id === agentName)]))
  return (runId, wire) => {
    const agent = agentOf.get(runId)
    return [...(agent?.tools ?? []), ...(agent?.agents ?? [])].find((each) => each.wire === wire)?.id ?? wire
  }
}

/** One item per call, however many attempts it had. */
const callsOf = (items: readonly TimelineItem[]): readonly TimelineItem[] => [
  ...new Map(
    items
      .filter(({ type }) => type === 'ToolCall' || type === 'SubAgentCall')
      .map((item) => [`${item.runId} ${textOf(contentOf(item)['tool_call_id'])}`, item]),
  ).values(),
]

const toCall =
  (nameOf: NameOf) =>
  (item: TimelineItem): ObservedCall => {
    const content = contentOf(item)
    return {
      runId: item.runId,
      callId: textOf(content['tool_call_id']),
      tool: nameOf(item.runId, textOf(content['name'])),
      arguments: content['arguments'] ?? content['input'] ?? null,
    }
  }

const toDecision = (nameOf: NameOf) => (item: TimelineItem) => {
  const content = contentOf(item)
  const decision = textOf(content['decision'])
  const policies = Array.isArray(content['policies']) ? content['policies'].filter(isJsonObject) : []
  return {
    tool: nameOf(item.runId, textOf(content['name'])),
    decision,
    by: policies
      .filter((each) => each['matched'] !== false && each['decision'] === decision)
      .map((each) => textOf(each['id'])),
  }
}

const contentOf = ({ content }: TimelineItem): JsonObject => (isJsonObject(content) ? content : {})
