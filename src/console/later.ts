/**
 * The screens that are loaded when the first of them is opened. They are one file, which a browser loads sooner than many: what
 * they share is compressed once. What most people never open is a file of its own: graph, what-if, passkeys, administration.
 */
import './first.ts'
// Of what-if, too.
import './policy/change-list.tsx'

export { BulkScreen } from './bulk/bulk-screen.tsx'
export { AgentScreen } from './views/agents/agent.tsx'
export { AgentsScreen } from './views/agents/agents.tsx'
export { CostsScreen } from './views/costs.tsx'
export { FilesScreen } from './views/files.tsx'
export { OverviewScreen } from './views/overview.tsx'
export { RunScreen } from './views/runs/run.tsx'
export { RunsScreen } from './views/runs/runs.tsx'
export { TryScreen } from './views/agents/try.tsx'
