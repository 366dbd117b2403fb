/** Checkpoints that reached their copies, for servers that ask for them. Source: docs/design/audit.md#checkpoints-that-are-required */
import { toIsoText } from '../../base/clock.ts'
import { approverOf } from '../../spec/people/key.ts'
import type { OperatorAction } from './people/act.ts'

export const reportCheckpoint: OperatorAction<'POST /audit/checkpoints'> = async ({ services, operator, body }) => {
  const { engine, workspace, clock } = services
  const at = clock.now()
  await engine.reportCheckpoint({ workspaceId: workspace.id, at, by: approverOf(operator), size: body.size })
  return { at: toIsoText(at) }
}
