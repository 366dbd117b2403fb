import { fail } from '../../base/failure.ts'
import { isUuid, type TaskId } from '../../base/ids.ts'
import type { TaskItem, TaskList } from '../../spec/api.ts'
import { toTaskContent } from '../../view/task/task-content.ts'
import type { TaskInSession } from '../../store/queries.ts'
import { seesTimeline, withCaller, type ApiPrincipal, type IdentifyCaller } from '../auth/auth.ts'
import { runInScope } from '../auth/scope.ts'
import { contentFor } from '../view/answerable-by.ts'
import { rootAbove } from '../view/root-run.ts'
import { toListCursor } from '../http/list-cursor.ts'
import { okReply } from '../http/reply.ts'
import { type RouteHandler, readPathParam } from '../http/route.ts'
import { parseTasksQuery } from '../http/validate.ts'
import type { ServerServices } from '../runtime/services.ts'

/** Maximum stored bytes per page; the answer is a little larger. */
const MAX_PAGE_BYTES = 6 * 1024 * 1024

/** GET /v1/tasks (extension): user tasks of the runs in the caller's scope, newest first; none while the timeline is hidden. */
export const listTasks = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async ({ url }, { principal }) => {
    const list = `tasks ${scopeName(principal)}`
    const page = parseTasksQuery(url.searchParams, list)
    if (!seesTimeline(principal)) return okReply({ items: [], nextCursor: null } satisfies TaskList)
    const { workspaceId } = principal
    const scope =
      principal.type === 'operator'
        ? { workspaceId }
        : { workspaceId, own: { agentId: principal.agentId, triggerId: principal.triggerId } }
    const { items, next } = await services.store.tasksInScope(scope, page, MAX_PAGE_BYTES)
    const nextCursor = next === null ? null : toListCursor(list, [next])
    return okReply({ items: items.map((item) => toTaskItem(item, principal)), nextCursor } satisfies TaskList)
  })

const scopeName = (principal: ApiPrincipal): string =>
  principal.type === 'operator' ? principal.workspaceId : principal.triggerId

/** GET /v1/tasks/{taskId} (extension): 404 while the timeline is hidden. */
export const getTask = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async ({ params }, { principal }) => {
    const { store } = services
    const id = readPathParam({ params }, 'taskId').toLowerCase()
    const task = isUuid(id) && seesTimeline(principal) ? await store.task(id as TaskId) : undefined
    const session = task && (await store.session(task.sessionId))
    if (!task || session?.workspaceId !== principal.workspaceId) throw fail('not_found', { what: 'user task' })
    const run = await runInScope(services, principal, task.runId)
    return okReply(toTaskItem({ task, rootRunId: await rootAbove(store, run) }, principal))
  })

const toTaskItem = ({ task, rootRunId }: TaskInSession, principal: ApiPrincipal): TaskItem => {
  const { policies, edits, options, ...content } = contentFor(principal, toTaskContent(task))
  return {
    ...content,
    ...(policies && { policies: [...policies] }),
    ...(edits && { edits: edits.map((each) => ({ ...each })) }),
    ...(options && { options: options.map((each) => ({ ...each })) }),
    run_id: task.runId,
    root_run_id: rootRunId,
  }
}
