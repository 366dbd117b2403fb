/** A run as a case of a dataset: its input, what its tools and people answered, and what was true of it. Source: docs/design/evals.md#from-runs */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { shortId } from '../../base/text/short-text.ts'
import type { Conversation } from '../../spec/api.ts'
import { answeredCallsIn, answersOfPeople, toRecordedSteps, type RecordedStep } from '../../view/run-scenario.ts'
import type { RecordedAnswer } from '../../scenario/scenario.ts'

/** The run that a case is made of. */
export interface EvaluableRun {
  readonly runId: string
  readonly agent: string
  readonly versionLabel: string
  readonly startedAt: string
  readonly status: string
  /** Set where it undoes a call, or took over the first steps of another run. */
  readonly undoOf?: string | undefined
  readonly forkOf?: string | undefined
}

/** The case as JSON, or why the run cannot be one. @param whole with the items of all its pages */
export function caseOfRun(run: EvaluableRun, { session, runs, items, nextCursor }: Conversation): JsonObject | string {
  if (run.undoOf !== undefined || run.forkOf !== undefined) return 'it goes on from another run'
  if (typeof nextCursor === 'string') return 'its conversation is too long'
  if (runs.filter(({ depth }) => depth === 0).length !== 1) return 'its session has other runs, on which it depends'
  if (items.some(({ content }) => content === null)) return 'its content was erased'
  if ([session, items].some(hasReference)) return 'a value of it is too large to be in the conversation'
  const { input, output } = session
  if (!isJsonObject(input)) return 'it has no input'
  const steps = toRecordedSteps(items)
  const tools = answersByTool(steps)
  const decide = withoutNames(answersOfPeople(steps))
  return {
    name: `run ${shortId(run.runId)}`,
    agent: run.agent,
    input,
    // Words of a model are never the same twice: they need a check of their own.
    ...(run.status === 'Completed' && isJsonObject(output) && { expected: output }),
    checks: [{ status: run.status }, ...approvedTools(steps).map((tool) => ({ never_calls_without_approval: tool }))],
    ...(Object.keys(tools).length > 0 && { tools }),
    ...(decide.length > 0 && { decide: [...decide] }),
    from: { run: run.runId, version: run.versionLabel, startedAt: run.startedAt },
  }
}

function answersByTool(steps: readonly RecordedStep[]): JsonObject {
  const answers = new Map<string, RecordedAnswer[]>()
  for (const { tool, arguments: args, answer } of answeredCallsIn(steps)) {
    const own = answers.get(tool) ?? []
    own.push({ arguments: args, ...answer })
    answers.set(tool, own)
  }
  return Object.fromEntries(
    [...answers].map(([tool, own]) => [tool, { answers: own.map((each) => ({ ...each }) as JsonObject) }]),
  )
}

/** Names of people become numbers, which keep different people apart. */
function withoutNames(rules: readonly JsonObject[]): readonly JsonObject[] {
  const numbers = new Map<JsonValue, number>()
  return rules.map((rule) => {
    const { as: name } = rule
    if (name === undefined) return rule
    const number = numbers.get(name) ?? numbers.size + 1
    numbers.set(name, number)
    return { ...rule, as: `person-${number}` }
  })
}

/** Tools of which a person approved a call. */
function approvedTools(steps: readonly RecordedStep[]): readonly string[] {
  const approved = new Set(
    steps.flatMap(({ type, content }) =>
      type === 'UserTaskRes' && content['approved'] === true && typeof content['completed_by'] === 'string'
        ? [content['user_task_id']]
        : [],
    ),
  )
  return [
    ...new Set(
      steps.flatMap(({ type, content: { user_task_id: id, tool } }) =>
        type === 'UserTaskReq' && approved.has(id) && isJsonObject(tool) && typeof tool['ref'] === 'string'
          ? [tool['ref']]
          : [],
      ),
    ),
  ]
}

/** True where a value of the conversation stands in it as a reference. */
const hasReference = (part: unknown): boolean => JSON.stringify(part).includes('"svcValue":"sha256:')
