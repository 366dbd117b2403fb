import { fail } from '../../../base/failure.ts'
import type { CommandContext } from '../command.ts'

/**
 * Asks for confirmation before data is lost; `--yes` confirms without asking.
 * @param what a question that names the data to be lost
 * @throws Failure `needs_terminal`
 */
export async function confirmLoss({ mode, io, signal }: CommandContext, what: string): Promise<boolean> {
  if (mode.yes) return true
  if (!mode.interactive)
    throw fail('needs_terminal', { what: `${what} There is no terminal to ask on.` }, { fix: 'Add --yes.' })
  return await io.prompts.confirm(what, signal)
}
