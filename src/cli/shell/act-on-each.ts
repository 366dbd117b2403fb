/** Acts on several things, one after the other: each has its own result, and the refusal of one stops none of the others. */
import { shortId } from '../../base/text/short-text.ts'
import type { CommandContext } from './command.ts'
import { describeCommandError, formatCommandError, type CommandError } from './exit.ts'
import { Interrupted } from './io.ts'

/** Why one of several things was refused. */
export type ItemError = Omit<CommandError, 'exit'>

export interface EachResult<Item> {
  readonly items: readonly Item[]
  /** Exit code of the refusals; 6 where they have several, 0 for none. */
  readonly exit: number
}

/**
 * With `--json` prints one document with a result for each thing, in their order. The refusal of the only one is that of the
 * command.
 * @param act prints its result itself where people read it
 * @param toRefused the result of one that was refused
 * @returns exit code
 */
export async function actOnEach<Item>(
  call: CommandContext<{ readonly items: readonly Item[]; readonly total: number }>,
  ids: readonly string[],
  act: (id: string, at: number) => Promise<Item>,
  toRefused: (id: string, error: ItemError) => Item,
): Promise<number> {
  const print = async (items: readonly Item[]): Promise<void> => {
    if (call.mode.json) await call.out.json({ items, total: items.length })
  }
  const { items, exit } = await collectEach(call, ids, act, toRefused, print)
  await print(items)
  return exit
}

/** @param onBroken prints the results until then, where an unexpected error ends the command */
export async function collectEach<Item>(
  { mode, io }: Pick<CommandContext, 'mode' | 'io'>,
  ids: readonly string[],
  act: (id: string, at: number) => Promise<Item>,
  toRefused: (id: string, error: ItemError) => Item,
  onBroken: (items: readonly Item[]) => Promise<void>,
): Promise<EachResult<Item>> {
  const items: Item[] = []
  const exits = new Set<number>()
  for (const [at, id] of ids.entries()) {
    try {
      items.push(await act(id, at))
    } catch (error) {
      if (ids.length === 1) throw error
      const words = error instanceof Interrupted ? undefined : describeCommandError(error)
      if (!words) {
        if (items.length > 0) await onBroken(items)
        throw error
      }
      const { exit, ...refusal } = words
      exits.add(exit)
      items.push(toRefused(id, refusal))
      io.stderr.write(`${formatCommandError({ ...words, message: `${shortId(id)}: ${words.message}` }, mode.json)}\n`)
    }
  }
  const [first = 0, ...others] = exits
  return { items, exit: others.length > 0 ? 6 : first }
}
