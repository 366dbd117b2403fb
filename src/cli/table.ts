/** Every command, one entry each, in the order of `svc help`. Source: command line, 2. */
import type { CommandSpec, Group } from './command.ts'
import { approve } from './table/approve.ts'
import { author } from './table/author.ts'
import { drive } from './table/drive.ts'
import { operate } from './table/operate.ts'
import { serve } from './table/serve.ts'
import { ship } from './table/ship.ts'

export const groups: readonly Group[] = ['Author', 'Ship', 'Serve', 'Drive', 'Approve', 'Operate']

export const commands: readonly CommandSpec[] = [...author, ...ship, ...serve, ...drive, ...approve, ...operate]
