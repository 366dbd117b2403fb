import { toIsoText } from '../../base/clock.ts'
import type { OperatorAction } from './people/act.ts'

/** Who answers here: a server with its addresses, or a command that opened the directory for itself. */
export const getStatus: OperatorAction<'GET /status'> = async ({
  services: { serverState: about, workspace, development = false },
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
  isDevelopment: development,
  startedAt: toIsoText(about.startedAt),
})
