/**
 * The screens that are loaded when the first of them is opened. They are one file, which a browser loads sooner than many: what
 * they share is compressed once. Only the graph and the editor, which most people never open, are files of their own.
 */
import './first.ts'
import { html, type View } from './parts/html.ts'
import { WhatIf } from './views/what-if.ts'

export { BulkScreen } from './bulk/bulk-screen.ts'
export { AdminScreen } from './views/admin/admin.ts'
export { AgentScreen } from './views/agents/agent.ts'
export { AgentsScreen } from './views/agents/agents.ts'
export { CostsScreen } from './views/costs.ts'
export { FilesScreen } from './views/files.ts'
export { RunScreen } from './views/runs/run.ts'
export { RunsScreen } from './views/runs/runs.ts'
export { TryScreen } from './views/agents/try.ts'

export const WhatIfScreen = (): View => html`<${WhatIf} loadEditor=${() => import('./code-editor.ts')} />`
