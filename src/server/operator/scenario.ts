/** GET /runs/:id/scenario: a run as a test, for `svc runs scenario` and the console. */
import { shortId } from '../../base/text/short-text.ts'
import type { TimelineItem } from '../../spec/api.ts'
import { writeScenario } from '../../view/run-scenario.ts'
import { findRun } from './find/find.ts'
import type { OperatorAction } from './people/act.ts'

export const getScenario: OperatorAction<'GET /runs/:id/scenario'> = async ({ services, id, query }) => {
  const run = await findRun(services, id)
  const {
    more,
    sizes: _sizes,
    isRootRun: _isRootRun,
    ...conversation
  } = await services.engine.conversation(run.sessionId)
  const items: TimelineItem[] = [...conversation.items]
  for await (const page of more ?? []) items.push(...page)
  return { text: writeScenario({ ...conversation, items }, query.name ?? `run ${shortId(run.id)}`) }
}
