/** Why recorded calls were decided as they were, and which policies concern a tool. Source: command line, 2.1. */
import { fail } from '../../../base/failure.ts'
import { isUuid } from '../../../base/ids.ts'
import { isJsonObject, type JsonValue } from '../../../base/json.ts'
import { explainDecision, type DecisionExplanation } from '../../../policy/explain/explain.ts'
import type { RecordedDecision } from '../../../spec/operator.ts'
import { safeText } from '../../../terminal/text.ts'
import { createTheme } from '../../../terminal/theme.ts'
import { shortId, timeOfDay } from '../../../terminal/time.ts'
import type { CommandContext } from '../../shell/command.ts'
import { answerScreen } from '../../shell/list.ts'
import { withOperator, type OperatorClient } from '../../project/operator.ts'
import { explainConcerns } from '../../policy/concerns.ts'
import { placesOf, type LeafPlaces } from '../../policy/places.ts'
import { assumedLine, createSnapshots, factsOf, setsOf } from '../../policy/recorded.ts'
import { explanationLines, toJson } from '../../policy/told.ts'
import { openProject } from '../../project/project.ts'
import { runIdOf, taskOf } from '../../project/reference.ts'
import { RemoteError } from '../../shell/remote.ts'
import { explainPolicies } from '../../runs/why.ts'

/** `namespace.name` of a tool or a policy; no id and no ending of one has a dot. */
const LOGICAL = /^[^@\s]+\.[^@\s]+$/

export async function policyExplain(call: CommandContext): Promise<void> {
  const { given, mode, out } = call
  const reference = given.argument(0)!
  const project = await openProject(call)
  if (LOGICAL.test(reference.split('@')[0]!)) return await explainConcerns(call, project, reference)
  await withOperator(project, call, async (operator) => {
    const { runId, taskId, only } = await find(reference, operator)
    const { items: all } = await operator.call('GET /decisions', { query: { run: runId } })
    const wanted = only ? only(all) : all
    if (wanted.length === 0) throw fail('not_found', { what: `recorded decision of ${reference}` })
    const snapshots = createSnapshots(operator)
    const told: ExplainedDecision[] = []
    for (const decision of wanted) {
      const { facts, assumed } = factsOf(decision, all)
      const explanation = explainDecision(await setsOf(decision, snapshots), decision.tool, facts)
      told.push({ decision, explanation, assumed: [...assumed].sort() })
    }
    // The documents may be others by now: places are those of the versions that decided.
    const places = placesOf([])
    if (mode.json) {
      const [one] = told
      return await out.json(
        only && one ? jsonOf(one, places) : { runId, items: told.map((each) => jsonOf(each, places)) },
      )
    }
    const head = taskId === undefined ? undefined : `task ${shortId(taskId)}`
    told.forEach((each) => tell(call, each, places, head ?? `run ${shortId(each.decision.runId)}`))
  })
}

interface ExplainedDecision {
  readonly decision: RecordedDecision
  /** Made again from what was recorded. */
  readonly explanation: DecisionExplanation
  /** Measures of history that were not recorded. */
  readonly assumed: readonly string[]
}

/** What was recorded wins over what is made again: a person may have been asked for a reason that no policy knows. */
const jsonOf = ({ decision, explanation, assumed }: ExplainedDecision, places: LeafPlaces): object => ({
  ...toJson(explanation, places),
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

function tell(
  call: CommandContext,
  { decision, explanation, assumed }: ExplainedDecision,
  places: LeafPlaces,
  head: string,
): void {
  const { out, mode } = call
  out.line(`${head} · ${safeText(decision.ref)} · recorded ${timeOfDay(Date.parse(decision.recordedAt))}`)
  const isSame = explanation.decision.decision === decision.decision
  const lines = isSame
    ? explanationLines(explanation, places, createTheme(mode.color.stdout))
    : explainPolicies(answerScreen(call), decision.policies)
  lines.forEach((line) => out.line(line))
  const told = isSame ? assumedLine(assumed) : undefined
  if (told !== undefined) out.line(`  ${told}`)
  if (isSame && explanation.policies.length === 0)
    out.line('  no policy concerns this call; the side-effect class decides')
  const { obligations } = explanation.decision
  const owed =
    isSame && obligations
      ? `, approvals ${obligations.approvals_required}${obligations.timeout ? `, ${obligations.timeout.default} after ${obligations.timeout.after_minutes} min` : ''}`
      : ''
  out.line(`  result: ${safeText(decision.decision)}${owed}   ${safeText(decision.explanation)}`)
}

type DecisionChoice = (all: readonly RecordedDecision[]) => readonly RecordedDecision[]

/** A task is looked for first, since an ending says nothing of what it ends. */
async function find(
  reference: string,
  operator: OperatorClient,
): Promise<{ readonly runId: string; readonly taskId?: string; readonly only?: DecisionChoice }> {
  if (reference.startsWith('@')) return { runId: await runIdOf(reference, operator) }
  try {
    const task = await taskOf(reference, operator)
    const { items } = await operator.call('GET /v1/runs/:id/conversation', { id: task.runId })
    const asked = items.findIndex(
      ({ type, content }) => type === 'UserTaskReq' && fieldOf(content, 'user_task_id') === task.userTaskId,
    )
    const decided = items
      .slice(0, Math.max(asked, 0))
      .findLast(
        ({ type, runId, content }) =>
          type === 'PolicyDecision' &&
          runId === task.runId &&
          fieldOf(content, 'name') === nameOf(items[asked]?.content),
      )
    return {
      runId: task.runId,
      taskId: task.userTaskId,
      only: (all) => all.filter(({ decisionId }) => decisionId === decided?.id),
    }
  } catch (error) {
    const absent = error instanceof RemoteError ? error.status === 404 : !isUuid(reference)
    if (!absent) throw error
    return { runId: await runIdOf(reference, operator) }
  }
}

const fieldOf = (content: JsonValue | undefined, name: string): JsonValue | undefined =>
  isJsonObject(content) ? content[name] : undefined

/** Wire name of the call that a task holds. */
const nameOf = (content: JsonValue | undefined): JsonValue | undefined => fieldOf(fieldOf(content, 'tool'), 'name')
