/**
 * The screens that are loaded when the first of them is opened. They are one file, which a browser loads sooner than many: what
 * they share is compressed once. Only the graph and what-if, whose libraries most people never need, are files of their own.
 */
import './first.ts'
// Of what-if, too.
import './policy/change-list.ts'

export { BulkScreen } from './bulk/bulk-screen.ts'
export { AdminScreen } from './views/admin/admin.ts'
export { AgentScreen } from './views/agents/agent.ts'
export { AgentsScreen } from './views/agents/agents.ts'
export { CostsScreen } from './views/costs.ts'
export { FilesScreen } from './views/files.ts'
export { OverviewScreen } from './views/overview.ts'
export { RunScreen } from './views/runs/run.ts'
export { RunsScreen } from './views/runs/runs.ts'
export { TryScreen } from './views/agents/try.ts'
