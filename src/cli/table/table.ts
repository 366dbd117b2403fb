/** Every command, one entry each, in the order of `svc help`. */
import type { CommandEntry, CommandGroup, CommandSpec } from '../shell/command.ts'
import { approveCommands } from './approve.ts'
import { authorCommands } from './author.ts'
import { continueCommands } from './continue.ts'
import { driveCommands } from './drive.ts'
import { operateCommands } from './operate.ts'
import { serveCommands } from './serve.ts'
import { shipCommands } from './ship.ts'
import { steerCommands } from './steer.ts'
import { viewCommands } from './view.ts'

const commandsByGroup: readonly (readonly [CommandGroup, readonly CommandEntry[]])[] = [
  ['Author', authorCommands],
  ['Ship', shipCommands],
  ['Serve', serveCommands],
  ['Drive', driveCommands],
  ['View', viewCommands],
  ['Approve', approveCommands],
  ['Continue', continueCommands],
  ['Steer', steerCommands],
  ['Operate', operateCommands],
]

export const commandGroups = commandsByGroup.map(([group]) => group)

export const commandTable: readonly CommandSpec[] = commandsByGroup.flatMap(([group, commands]) =>
  commands.map((command) => ({ ...command, group })),
)
