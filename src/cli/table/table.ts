/** Every command, one entry each, in the order of `svc help`. Source: command line, 2. */
import type { CommandSpec, CommandGroup } from '../shell/command.ts'
import { approveCommands } from './approve.ts'
import { authorCommands } from './author.ts'
import { driveCommands } from './drive.ts'
import { operateCommands } from './operate.ts'
import { serveCommands } from './serve.ts'
import { shipCommands } from './ship.ts'

export const commandGroups: readonly CommandGroup[] = [
  'Author',
  'Ship',
  'Serve',
  'Drive',
  'Approve',
  'Steer',
  'Operate',
]

export const commandTable: readonly CommandSpec[] = [
  ...authorCommands,
  ...shipCommands,
  ...serveCommands,
  ...driveCommands,
  ...approveCommands,
  ...operateCommands,
]
