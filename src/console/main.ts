/** The console: lists its screens, one line each, and starts the page. */
import { InboxScreen, provideCeremonies, startPage, type ScreenComponent, type ScreenTable } from './first.ts'

/** A screen that the first file of the page does not have. */
const later = (name: keyof typeof import('./later.ts')) => async (): Promise<ScreenComponent> =>
  (await import('./later.ts'))[name]

/** Path, and the screen behind it. Those of other files are loaded when they are opened. */
const SCREENS: ScreenTable = [
  [/^\/(?:inbox)?$/, () => InboxScreen],
  [/^\/inbox\/(?<id>[^/]+)$/, () => InboxScreen],
  [/^\/inbox\/(?<id>[^/]+)\/similar$/, later('BulkScreen')],
  [/^\/overview$/, later('OverviewScreen')],
  [/^\/runs$/, later('RunsScreen')],
  [/^\/runs\/(?<id>[^/]+)$/, later('RunScreen')],
  [/^\/agents$/, later('AgentsScreen')],
  [/^\/agents\/(?<id>[^/]+)$/, later('AgentScreen')],
  [/^\/agents\/(?<id>[^/]+)\/graph$/, async () => (await import('./graph-screen.ts')).GraphScreen],
  [/^\/policies$/, async () => (await import('./what-if-screen.ts')).WhatIfScreen],
  [/^\/policies\/evals$/, async () => (await import('./eval-screen.ts')).EvalsScreen],
  [/^\/try\/(?<id>[^/]+)$/, later('TryScreen')],
  [/^\/files$/, later('FilesScreen')],
  [/^\/costs$/, later('CostsScreen')],
  [/^\/admin$/, async () => (await import('./admin-screen.ts')).AdminScreen],
  [/^\/passkeys$/, async () => (await import('./passkey-screen.ts')).PasskeysScreen],
]

provideCeremonies(async () => import('./passkey-screen.ts'))
void startPage(SCREENS)
