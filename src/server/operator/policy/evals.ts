/** Evaluations that are kept for people to compare. Source: docs/design/evals.md#kept-evaluations */
import { toIsoText } from '../../../base/clock.ts'
import type { KeptEvaluationView } from '../../../operations/evals.ts'
import type { KeptEvaluation } from '../../../spec/evaluation.ts'
import { approverOf } from '../../../spec/people/key.ts'
import type { OperatorAction } from '../people/act.ts'

const DEFAULT_TAKE = 20

/** Of a workspace: older ones are deleted. */
const MOST_KEPT = 200

export const listEvaluations: OperatorAction<'GET /evals'> = async ({ services, query }) => {
  const { skip = 0, take = DEFAULT_TAKE, agent } = query
  const page = { skip, take, ...(agent !== undefined && { agent }) }
  const { items, total } = await services.store.evaluations(services.workspace.id, page)
  return { items: items.map(toView), total }
}

export const keepEvaluation: OperatorAction<'POST /evals'> = async ({ services, operator, body }) => {
  const { store, workspace, ids, clock, redactor } = services
  const kept: KeptEvaluation = {
    id: ids.next(),
    workspaceId: workspace.id,
    at: clock.now(),
    by: approverOf(operator),
    agent: body.agent,
    report: redactor.json(body.report),
  }
  await store.keepEvaluation(kept, MOST_KEPT)
  return toView(kept)
}

const toView = ({ id, at, by, agent, report }: KeptEvaluation): KeptEvaluationView => ({
  evaluationId: id,
  at: toIsoText(at),
  by,
  agent,
  report,
})
