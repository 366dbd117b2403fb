/** Explains recorded decisions, and lists the policies that apply to a tool. Source: docs/design/policies.md#replay */
import { digestOfJson } from '../../../base/digest.ts'
import { fail } from '../../../base/failure.ts'
import { isUuid } from '../../../base/ids.ts'
import { isJsonObject, type JsonValue } from '../../../base/json/json.ts'
import { toJson } from '../../../base/json/typed-json.ts'
import { explainDecision, type DecisionExplanation } from '../../../policy/explain/explain.ts'
import { indexRecordedCalls } from '../../../policy/replay/recorded-calls.ts'
import {
  assumedLine,
  recordedFacts,
  recordedPolicySets,
  rememberSnapshots,
} from '../../../policy/replay/recorded-facts.ts'
import type { RecordedDecision } from '../../../operations/decisions.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { createTheme } from '../../../terminal/theme.ts'
import { shortId } from '../../../base/text/short-text.ts'
import { timeOfDay } from '../../../terminal/time.ts'
import type { CommandContext } from '../../shell/command.ts'
import { answerScreen } from '../../shell/screen/list.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperatorOf } from '../../project/server/operator.ts'
import { explainConcerns } from '../../policy/list-applicable.ts'
import { placesOf, type LeafPlaces } from '../../policy/places.ts'
import { explanationLines, decisionJson } from '../../policy/print-decision.ts'
import { readJsonOption } from '../../runs/json-option.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { openProject } from '../../project/project.ts'
import { runIdOf, taskOf } from '../../project/reference.ts'
import { RemoteError } from '../../../client/remote-error.ts'
import { explainPolicies } from '../../runs/why.ts'
import type { explainedTask, explainRun, explainReference } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { textBefore } from '../../../base/text/text-parts.ts'

/** `namespace.name` of a tool or a policy; ids and their endings have no dot. */
const LOGICAL = /^[^@\s]+\.[^@\s]+$/

export async function policyExplain(
  call: CommandContext<ValueOf<typeof explainedTask> | ValueOf<typeof explainRun> | ValueOf<typeof explainReference>>,
): Promise<void> {
  const { given, mode, out } = call
  const reference = given.required(0)
  const project = await openProject(call)
  if (LOGICAL.test(textBefore(reference, '@'))) return await explainConcerns(call, project, reference)
  await withOperatorOf(project, call, async (operator) => {
    const { runId, taskId, only } = await find(reference, operator)
    const { items: all } = await operator.call('GET /decisions', { query: { run: runId } })
    const wanted = only ? only(all) : all
    const args = given.text('args')
    if (args !== undefined && !only) throw usageFailure('--args is for one call: name its task.')
    const edited = args === undefined ? undefined : await readJsonOption(call, args, '--args')
    if (wanted.length === 0) throw fail('not_found', { what: `recorded decision of ${reference}` })
    const snapshots = rememberSnapshots((agent, version) =>
      operator.call('GET /snapshot', { query: { agent, version } }),
    )
    const calls = indexRecordedCalls(all)
    const explained: ExplainedDecision[] = []
    for (const decision of wanted) {
      const { facts, assumed } = recordedFacts(decision, calls, edited)
      const explanation = explainDecision(await recordedPolicySets(decision, snapshots), decision.tool, facts)
      const shown = edited === undefined ? decision : withArguments(decision, edited, explanation)
      explained.push({ decision: shown, explanation, assumed: [...assumed].sort() })
    }
    // The documents may have changed: use the places that the deciding versions recorded.
    const places = placesOf([])
    if (mode.json) {
      const [one] = explained
      return await out.json(
        only && one ? jsonOf(one, places) : { runId, items: explained.map((each) => jsonOf(each, places)) },
      )
    }
    const head = taskId === undefined ? undefined : `task ${shortId(taskId)}`
    explained.forEach((each) => printDecision(call, each, places, head ?? `run ${shortId(each.decision.runId)}`))
  })
}

interface ExplainedDecision {
  readonly decision: RecordedDecision
  /** The decision repeated from the recorded facts. */
  readonly explanation: DecisionExplanation
  /** Measures of history that were not recorded. */
  readonly assumed: readonly string[]
}

/** The recorded call as it would be decided with other arguments. */
const withArguments = (
  recorded: RecordedDecision,
  args: JsonValue,
  { decision: { decision, explanation, policies } }: DecisionExplanation,
): RecordedDecision => ({
  ...recorded,
  arguments: args,
  argsDigest: digestOfJson(args),
  decision,
  explanation,
  policies: toJson(policies),
})

/** The recorded decision has precedence: the engine may require an approval for a reason outside of policies. */
const jsonOf = (
  { decision, explanation, assumed }: ExplainedDecision,
  places: LeafPlaces,
): ValueOf<typeof explainedTask> => ({
  ...decisionJson(explanation, places),
  decision: decision.decision,
  explanation: decision.explanation,
  tool: decision.tool,
  policies: decision.policies,
  runId: decision.runId,
  toolCallId: decision.toolCallId,
  argsDigest: decision.argsDigest,
  recordedAt: decision.recordedAt,
  ...(assumed.length > 0 && { assumed }),
})

function printDecision(
  call: CommandContext,
  { decision, explanation, assumed }: ExplainedDecision,
  places: LeafPlaces,
  head: string,
): void {
  const { out, mode } = call
  out.prose(`${head} · ${safeText(decision.ref)} · recorded ${timeOfDay(Date.parse(decision.recordedAt))}`)
  const isSame = explanation.decision.decision === decision.decision
  const lines = isSame
    ? explanationLines(explanation, places, createTheme(mode.color.stdout))
    : explainPolicies(answerScreen(call), decision.policies)
  lines.forEach((line) => out.prose(line))
  const assumption = isSame ? assumedLine(assumed) : undefined
  if (assumption !== undefined) out.prose(`  ${assumption}`)
  if (isSame && explanation.policies.length === 0)
    out.prose('  no policy concerns this call; the side-effect class decides')
  const { obligations } = explanation.decision
  const obligationsText =
    isSame && obligations
      ? `, approvals ${obligations.approvals_required}${obligations.timeout ? `, ${obligations.timeout.default} after ${obligations.timeout.after_minutes} min` : ''}`
      : ''
  out.prose(`  result: ${safeText(decision.decision)}${obligationsText}   ${safeText(decision.explanation)}`)
}

type DecisionChoice = (all: readonly RecordedDecision[]) => readonly RecordedDecision[]

/** Tries a task first, since the ending of an id does not tell its kind. */
async function find(
  reference: string,
  operator: OperatorClient,
): Promise<{ readonly runId: string; readonly taskId?: string; readonly only?: DecisionChoice }> {
  if (reference.startsWith('@')) return { runId: await runIdOf(reference, operator) }
  try {
    const task = await taskOf(reference, operator)
    const { items } = await operator.call('GET /v1/runs/:id/conversation', { id: task.runId })
    const requestIndex = items.findIndex(
      ({ type, content }) => type === 'UserTaskReq' && fieldOf(content, 'user_task_id') === task.id,
    )
    const decided = items
      .slice(0, Math.max(requestIndex, 0))
      .findLast(
        ({ type, runId, content }) =>
          type === 'PolicyDecision' &&
          runId === task.runId &&
          fieldOf(content, 'name') === nameOf(items[requestIndex]?.content),
      )
    return {
      runId: task.runId,
      taskId: task.id,
      only: (all) => all.filter(({ decisionId }) => decisionId === decided?.id),
    }
  } catch (error) {
    const absent = error instanceof RemoteError ? error.status === 404 : !isUuid(reference)
    if (!absent) throw error
    return { runId: await runIdOf(reference, operator) }
  }
}

const fieldOf = (content: unknown, name: string): JsonValue | undefined =>
  isJsonObject(content) ? content[name] : undefined

/** Wire name of the call that a task holds. */
const nameOf = (content: unknown): JsonValue | undefined => fieldOf(fieldOf(content, 'tool'), 'name')
