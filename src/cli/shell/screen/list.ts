/** Prints lists and single objects for a terminal, a pipe or `--json`. Source: docs/design/command-line.md#streams */
import type { OperatorList } from '../../../operations/schema.ts'
import { drawCard, type CardField } from '../../../terminal/card.ts'
import { createScreen, type Screen } from '../../../terminal/screen.ts'
import { drawTable, type TableColumn } from '../../../terminal/table.ts'
import type { CommandContext } from '../command.ts'
import { liveScreens } from './live-screens.ts'

/** @param nothing sentence on a terminal where the list is empty */
export async function printList<T>(
  call: CommandContext<OperatorList<T>>,
  list: OperatorList<T>,
  columns: readonly TableColumn<T>[],
  nothing: string,
): Promise<void> {
  if (call.mode.json) return await call.out.json(list)
  printTable(call, list.items, columns, nothing)
}

/** A list for people. */
export function printTable<T>(
  call: CommandContext,
  items: readonly T[],
  columns: readonly TableColumn<T>[],
  nothing: string,
): void {
  if (items.length > 0) return drawTable(answerScreen(call), columns, items).forEach(call.out.line)
  if (call.io.stdout.isTTY) call.out.message(nothing)
}

/** One object: a card on a terminal, `key<TAB>value` lines in a pipe. */
export async function printOne<T>(call: CommandContext<T>, value: T, fields: readonly CardField[]): Promise<void> {
  if (call.mode.json) return await call.out.json(value)
  drawCard(answerScreen(call), fields).forEach(call.out.line)
}

/** Prints lines, through the pager where it is enabled. */
export async function printLong({ io, mode, out }: CommandContext, lines: readonly string[]): Promise<void> {
  if (io.page && mode.pager) await io.page(lines.map((line) => `${line}\n`).join(''))
  else lines.forEach(out.line)
}

/** A screen on stdout. */
export const answerScreen = ({ io, mode }: Pick<CommandContext, 'io' | 'mode'>): Screen =>
  createScreen(io.stdout, mode.color.stdout, { isAccessible: mode.accessible })

/** The screen on stderr, one for the whole command: messages are printed above its status block. */
export function messageScreen({ io, mode }: Pick<CommandContext, 'io' | 'mode'>): Screen {
  const open = liveScreens.get(io.stderr)
  if (open) return open
  const screen = createScreen(io.stderr, mode.color.stderr, { isAccessible: mode.accessible })
  liveScreens.set(io.stderr, screen)
  return screen
}
