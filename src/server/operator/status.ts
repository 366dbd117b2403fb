import { toIsoText } from '../../base/clock.ts'
import type { OperatorAction } from './people/act.ts'

/** Describes the answering process: a server with its addresses, or a command that opened the directory for itself. */
export const getStatus: OperatorAction<'GET /status'> = async ({
  services: { serverState: about, workspace },
  operator,
}) => ({
  version: about.version,
  pid: process.pid,
  url: about.url,
  uploadUrl: about.uploadUrl,
  consoleUrl: about.consoleUrl,
  workspace: workspace.name,
  operator: operator.id,
  roles: operator.roles,
  startedAt: toIsoText(about.startedAt),
})
